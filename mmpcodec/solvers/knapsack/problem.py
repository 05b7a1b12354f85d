"""A knapsack of either kind as stages, each with options of which one is chosen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, on_device

MAX_PROFITS = (1 << 61) - 1
MAX_CAPACITY = (1 << 62) - 1
MAX_OPTIONS = 1 << 16


@dataclass(frozen=True, eq=False)
class Problem:
    """Stages of options: an item of a 0-1 knapsack is a stage of two, leave it and take it.

    Parameters
    ----------
    profits : (T,) int64 array
    weights : (T, M) int64 array
        From 0 up. What is heavier than a capacity has the capacity plus one.
    starts : (G + 1,) int64 array
        Stage g has the options starts[g] to starts[g + 1] - 1, at least one.
    capacities : tuple of M int
    exact_fill : bool
    items : (G,) int64 array or None
        Which item each stage is, None where stages stand as given.
    """

    profits: np.ndarray
    weights: np.ndarray
    starts: np.ndarray
    capacities: tuple[int, ...]
    exact_fill: bool
    items: np.ndarray | None = None

    @property
    def stages(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def options(self) -> np.ndarray:
        """Number of options of each stage, (G,)."""
        return self.starts[1:] - self.starts[:-1]

    @cached_property
    def stage_of(self) -> np.ndarray:
        """Stage of each option, (T,)."""
        return np.repeat(np.arange(self.stages), self.options)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Of the table of states; the last capacity runs fastest."""
        return tuple(capacity + 1 for capacity in self.capacities)

    @cached_property
    def states(self) -> int:
        return math.prod(self.shape)

    @property
    def cells(self) -> int:
        """States times options, the work that a table takes."""
        return self.states * len(self.profits)

    @cached_property
    def bits(self) -> np.ndarray:
        """Bits of a decision of each stage, (G,)."""
        return decision_bits(self.options)

    @cached_property
    def magnitude(self) -> int:
        """No choice has more profit, or less than its negative."""
        if not self.stages:
            return 0
        # A sum that has not been checked may be beyond 64 bits.
        return sum(np.maximum.reduceat(abs(self.profits), self.starts[:-1]).tolist())

    def state(self, point: Sequence[int]) -> int:
        """Place of some capacities in the table."""
        flat = 0
        for coordinate, size in zip(point, self.shape, strict=True):
            flat = flat * size + coordinate
        return flat

    def value(self, choices: np.ndarray) -> int:
        """Sum of the profits of one option of each stage."""
        return int(self.profits[self.starts[:-1] + choices].sum())


def decision_bits(options: np.ndarray) -> np.ndarray:
    """Bits of a decision between a number of options."""
    return np.frexp(options - 1.0)[1].astype(np.int64)


def of_items(
    profits: Any, weights: Any, capacities: Any, exact_fill: bool, around_break: bool = True
) -> Problem:
    """The stages of a 0-1 knapsack, checked.

    Parameters
    ----------
    profits : (N,) array of integers
    weights : (N,) or (N, M) array of integers from 0 up
        One column a capacity.
    capacities : int or sequence of M int
    exact_fill : bool
    around_break : bool
        Bring the items of one budget, without exact fill, into the order that the package defines.

    Raises
    ------
    ParameterError
        For other shapes and types, numbers out of range and profits whose sums may overflow.
    """
    limits = _capacities(capacities)
    profits = _integers("profits", profits, 1)
    columns = _weights("weights", weights, limits, len(profits))
    count = len(profits)
    items = None
    if around_break and len(limits) == 1 and not exact_fill:
        items = _around_break(profits, columns[:, 0], limits[0])
        profits, columns = profits[items], columns[items]
    both = np.zeros(2 * count, np.int64)
    both[1::2] = profits
    pairs = np.zeros((2 * count, len(limits)), np.int64)
    pairs[1::2] = columns
    return _checked(Problem(both, pairs, np.arange(0, 2 * count + 1, 2), limits, exact_fill, items))


def of_groups(groups: Any, capacities: Any, exact_fill: bool) -> Problem:
    """The stages of a multiple-choice knapsack, checked.

    Parameters
    ----------
    groups : sequence of (profits, weights)
        (K,) and (K,) or (K, M) arrays; K from 1 to 65536 may differ.
    capacities : int or sequence of M int

    Raises
    ------
    ParameterError
        As for items, and for a group without options.
    """
    limits = _capacities(capacities)
    profits, columns = [np.zeros(0, np.int64)], [np.zeros((0, len(limits)), np.int64)]
    if not isinstance(groups, Sequence | np.ndarray):
        raise ParameterError(f"groups = {groups!r}: must be a sequence")
    for index, group in enumerate(groups):
        if not isinstance(group, Sequence | np.ndarray) or len(group) != 2:
            raise ParameterError(f"group {index}: must be a pair of profits and weights")
        profits.append(_integers(f"profits of group {index}", group[0], 1))
        count = len(profits[-1])
        if not 1 <= count <= MAX_OPTIONS:
            raise ParameterError(
                f"group {index} with {count} options: must have 1 to {MAX_OPTIONS}"
            )
        columns.append(_weights(f"weights of group {index}", group[1], limits, count))
    starts = np.cumsum([len(part) for part in profits], dtype=np.int64)
    return _checked(
        Problem(np.concatenate(profits), np.concatenate(columns), starts, limits, exact_fill)
    )


def _around_break(profits: np.ndarray, weights: np.ndarray, capacity: int) -> np.ndarray:
    """Those items that are decided by themselves, then the others from the break item outwards."""
    plain = (profits > 0) & (weights > 0) & (weights <= capacity)
    # Different quotients differ by at least one unit of 2**-shift.
    shift = 2 * int(weights.max(initial=0)).bit_length()
    pairs = list(zip(profits.tolist(), weights.tolist(), strict=True))
    order = sorted(
        np.flatnonzero(plain).tolist(),
        key=lambda i: (-((pairs[i][0] << shift) // pairs[i][1]), pairs[i][1], i),
    )
    room, middle = capacity, 0
    while middle < len(order) and pairs[order[middle]][1] <= room:
        room -= pairs[order[middle]][1]
        middle += 1
    before, behind = order[:middle][::-1], order[middle:]
    outwards = behind[:1]
    for left, right in zip_longest(before, behind[1:]):
        outwards += [item for item in (left, right) if item is not None]
    return np.array(np.flatnonzero(~plain).tolist() + outwards, np.int64)


def _capacities(capacities: Any) -> tuple[int, ...]:
    given = capacities if np.ndim(capacities) else [capacities]
    if not len(given):
        raise ParameterError("capacities = (): must be one or more")
    return tuple(check_int("capacity", capacity, 0, MAX_CAPACITY) for capacity in given)


def _integers(name: str, values: Any, rank: int) -> np.ndarray:
    array = as_array(name, values)
    if on_device(array):
        array = array.get()
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise ParameterError(f"{name} of type {array.dtype}: must be integers of at most 64 bits")
    if array.ndim != rank:
        raise ParameterError(f"{name} of shape {array.shape}: must have {rank} dimension(s)")
    if array.size and (int(array.max()) > MAX_CAPACITY or int(array.min()) < -MAX_CAPACITY):
        raise ParameterError(f"{name}: must be from {-MAX_CAPACITY} to {MAX_CAPACITY}")
    return np.ascontiguousarray(array, np.int64)


def _weights(name: str, values: Any, limits: tuple[int, ...], count: int) -> np.ndarray:
    rank = np.ndim(values) if len(limits) == 1 and np.ndim(values) == 1 else 2
    if not count and np.size(values) == 0:
        return np.zeros((0, len(limits)), np.int64)
    columns = _integers(name, values, rank)
    columns = columns[:, None] if rank == 1 else columns
    if columns.shape != (count, len(limits)):
        raise ParameterError(
            f"{name} of shape {np.shape(values)}: must be {count} for each of the "
            f"{len(limits)} capacities"
        )
    if columns.size and columns.min() < 0:
        raise ParameterError(f"{name}: weight {columns.min()}: must be from 0 up")
    return np.minimum(columns, np.array(limits) + 1)


def _checked(problem: Problem) -> Problem:
    """The problem, whose sums of profits fit."""
    if problem.magnitude > MAX_PROFITS:
        raise ParameterError(
            f"profits whose magnitudes add up to {problem.magnitude}: must be at most {MAX_PROFITS}"
        )
    return problem
