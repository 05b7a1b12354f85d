"""A knapsack of either kind as stages of options; a choice takes one option of each stage."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from mmpcodec import _cpu
from mmpcodec.checks import check_int, dimensions
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, on_device
from mmpcodec.solvers.whole import whole, whole_numbers

MAX_PROFITS = (1 << 61) - 1
MAX_CAPACITY = (1 << 62) - 1
MAX_OPTIONS = 1 << 16


@dataclass(frozen=True, eq=False)
class Problem:
    """Stages of options. An item of a 0-1 knapsack is a stage of two options: leave and take.

    Parameters
    ----------
    profits : (T,) int64 array
    weights : (T, M) int64 array
        From 0 up. A weight above the capacity is stored as the capacity plus one.
    starts : (G + 1,) int64 array
        Stage g has the options starts[g] to starts[g + 1] - 1, at least one.
    capacities : tuple of M int
    exact_fill : bool
    items : (G,) int64 array or None
        Index of the item of each stage; None if the stages have the order of the caller.
    limits_units : bool
        Whether a budget limits the number of units taken.
    """

    profits: np.ndarray
    weights: np.ndarray
    starts: np.ndarray
    capacities: tuple[int, ...]
    exact_fill: bool
    items: np.ndarray | None = None
    limits_units: bool = False

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
        """Shape of the table of states; the last capacity varies fastest."""
        return tuple(capacity + 1 for capacity in self.capacities)

    @cached_property
    def states(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def cells(self) -> int:
        """States times options, the number of steps to fill a table."""
        return self.states * len(self.profits)

    @cached_property
    def bits(self) -> np.ndarray:
        """Bits of a decision in each stage, (G,)."""
        return decision_bits(self.options)

    @cached_property
    def magnitude(self) -> int:
        """Upper bound of the magnitude of the profit of any choice."""
        if not self.stages:
            return 0
        # Python integers, because a sum that is not yet checked may exceed 64 bits.
        return sum(np.maximum.reduceat(abs(self.profits), self.starts[:-1]).tolist())

    def state(self, point: Sequence[int]) -> int:
        """Return the index of some capacities in the flat table of states."""
        flat = 0
        for coordinate, size in zip(point, self.shape, strict=True):
            flat = flat * size + coordinate
        return flat

    def value(self, choices: np.ndarray) -> int:
        """Return the profit of a choice, (G,) indices of options in their stages."""
        return int(self.profits[self.starts[:-1] + choices].sum())


@dataclass(frozen=True, eq=False)
class ItemList:
    """The items of a 0-1 knapsack in the order of the caller.

    Parameters
    ----------
    profits : (N,) int64 array
    weights : (N, M) int64 array
        From 0 up. A weight above the capacity is stored as the capacity plus one.
    capacities : tuple of M int
    left : (N, M) int64 array or None
        Weights of the items that are left, of several budgets; None if they have none.
    limits_units : bool
        Whether the last budget limits the number of units taken.
    """

    profits: np.ndarray
    weights: np.ndarray
    capacities: tuple[int, ...]
    left: np.ndarray | None = None
    limits_units: bool = False

    def stages(self, exact_fill: bool, around_break: bool = True) -> Problem:
        """Return the items as stages; see ``of_items``."""
        count, profits, columns = len(self.profits), self.profits, self.weights
        items = None
        if around_break and len(self.capacities) == 1 and not exact_fill:
            items = np.empty(count, np.int64)
            column = np.ascontiguousarray(columns[:, 0])
            _cpu.knapsack_order(profits, column, self.capacities[0], items)
            profits, columns = profits[items], columns[items]
        both = np.zeros(2 * count, np.int64)
        both[1::2] = profits
        pairs = np.zeros((2 * count, len(self.capacities)), np.int64)
        pairs[1::2] = columns
        if self.left is not None:
            pairs[::2] = self.left
        starts = _starts_of_items(count)
        limits = self.limits_units
        return Problem(both, pairs, starts, self.capacities, exact_fill, items, limits)


@lru_cache(maxsize=16)
def _starts_of_items(count: int) -> np.ndarray:
    starts = np.arange(0, 2 * count + 1, 2)
    starts.flags.writeable = False
    return starts


def decision_bits(options: np.ndarray) -> np.ndarray:
    """Return the bits that store a decision between each number of options."""
    return np.frexp(options - 1.0)[1].astype(np.int64)


def of_items(
    profits: Any, weights: Any, capacities: Any, exact_fill: bool, around_break: bool = True
) -> Problem:
    """Check a 0-1 knapsack and return its stages.

    Parameters
    ----------
    profits : (N,) array of integers
        Floats are taken if they are integers below 2**53 in magnitude; so are those of weights and
        capacities.
    weights : (N,) or (N, M) array of integers from 0 up
        One row for each item, one column for each capacity.
    capacities : int or sequence of M int
    exact_fill : bool
    around_break : bool
        Whether to order the items of one budget, without exact fill, as the package defines.

    Raises
    ------
    ParameterError
        When a shape, a type or a number is invalid, or when the magnitudes of the profits add up
        to 2**61 or more.
    """
    items = checked(profits, weights, capacities)
    return items.stages(exact_fill, around_break)


def checked(profits: Any, weights: Any, capacities: Any) -> "ItemList":
    """Return the items of a 0-1 knapsack after the checks of ``of_items``."""
    limits = _capacities(capacities)
    profits = _integers("profits", profits, 1)
    columns = _weights("weights", weights, limits, len(profits))
    # The sum of the magnitudes is at most the number of items times the largest one.
    most = max(int(profits.max(initial=0)), -int(profits.min(initial=0)))
    if most * len(profits) > MAX_PROFITS:
        _check_profits(sum(map(abs, profits.tolist())))
    return ItemList(profits, columns, limits)


def checked_each(instances: Sequence[Sequence]) -> list["ItemList"]:
    """Return the items of several 0-1 knapsacks after the checks of ``of_items``.

    Parameters
    ----------
    instances : sequence of (profits, weights, capacities)
        Arrays of equal shapes are checked together.
    """
    stacked = _stacked(instances) if len(instances) > 1 else None
    return stacked or [checked(*instance) for instance in instances]


def _stacked(instances: Sequence[Sequence]) -> list["ItemList"] | None:
    """Check instances of equal shapes together; None if one may be invalid or must be converted."""
    profits, weights, capacities = zip(*instances, strict=True)
    for arrays in (profits, weights):
        if not all(isinstance(a, np.ndarray) and a.dtype.kind in "iu" for a in arrays):
            return None
        if len({a.shape for a in arrays}) > 1:
            return None
    if not all(isinstance(some, list | tuple) for some in capacities):
        return None
    budgets = len(capacities[0])
    if not budgets or any(len(some) != budgets for some in capacities):
        return None
    if not all(type(capacity) is int for some in capacities for capacity in some):
        return None
    if not all(0 <= capacity < MAX_CAPACITY for some in capacities for capacity in some):
        return None
    count = len(profits[0]) if profits[0].ndim else 0
    if not count or profits[0].shape != (count,) or weights[0].shape != (count, budgets):
        return None
    rows, columns = np.stack(profits), np.stack(weights)
    most = max(int(rows.max()), -int(rows.min()))
    if most * count > MAX_PROFITS or int(columns.max()) > MAX_CAPACITY or int(columns.min()) < 0:
        return None
    limits = np.array(capacities, np.int64)
    columns = np.minimum(columns.astype(np.int64, copy=False), limits[:, None] + 1)
    rows = rows.astype(np.int64, copy=False)
    return [ItemList(*parts) for parts in zip(rows, columns, map(tuple, capacities), strict=True)]


def of_groups(groups: Any, capacities: Any, exact_fill: bool) -> Problem:
    """Check a multiple-choice knapsack and return its stages.

    Parameters
    ----------
    groups : sequence of (profits, weights)
        (K,) and (K,) or (K, M) arrays; K is from 1 to 65536 and may differ between groups.
    capacities : int or sequence of M int
    exact_fill : bool

    Raises
    ------
    ParameterError
        As for ``of_items``, and when a group has no options or more than 65536.
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
    problem = Problem(np.concatenate(profits), np.concatenate(columns), starts, limits, exact_fill)
    _check_profits(problem.magnitude)
    return problem


def _capacities(capacities: Any) -> tuple[int, ...]:
    given = capacities if np.ndim(capacities) else [capacities]
    if not len(given):
        raise ParameterError("capacities = (): must be one or more")
    return tuple(
        check_int("capacity", whole("capacity", capacity), 0, MAX_CAPACITY) for capacity in given
    )


def _integers(name: str, values: Any, rank: int) -> np.ndarray:
    array = as_array(name, values)
    if on_device(array):
        array = array.get()
    if array.dtype.kind == "f":
        array = whole_numbers(name, array)
    if array.dtype.kind not in "iu":
        raise ParameterError(f"{name} of type {array.dtype}: must be integers of at most 64 bits")
    if array.ndim != rank:
        raise ParameterError(f"{name} of shape {array.shape}: must have {dimensions(rank)}")
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
        advice = ""
        if columns.shape == (len(limits), count):
            advice = "; it looks transposed, pass weights.T"
        raise ParameterError(
            f"{name} of shape {np.shape(values)}: must be ({count}, {len(limits)}), one row for "
            f"each item and one column for each capacity{advice}"
        )
    if columns.size and columns.min() < 0:
        raise ParameterError(f"{name}: weight {columns.min()}: must be from 0 up")
    return np.minimum(columns, np.array(limits) + 1)


def _check_profits(magnitude: int) -> None:
    """Check that the magnitudes of profits add up to less than 2**61."""
    if magnitude > MAX_PROFITS:
        raise ParameterError(
            f"profits whose magnitudes add up to {magnitude}: must be at most {MAX_PROFITS}"
        )
