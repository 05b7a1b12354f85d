"""The choice of dependent levels by rate and distortion: a Viterbi search over the states.

*Encoder only*. The arithmetic is in integers, so that every machine writes equal bytes.
"""

from dataclasses import dataclass

import numpy as np

from mmpcodec.reference.blocks.dependent import value_of
from mmpcodec.reference.blocks.levels import (
    AFTER_EVEN,
    MOST_LEVEL,
    next_state,
    quantiser_of,
    sum_class,
)
from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.search.cell_weights import ONE, weighed
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.search.levels import Scan, scan_of

STATES = len(AFTER_EVEN)
BEFORE_EVEN = tuple(AFTER_EVEN.index(state) for state in range(STATES))
"""The state before an even level, by the state after it."""


@dataclass
class Path:
    """The path of least cost to a state.

    Parameters
    ----------
    cost : int
        Cost of its levels, less the cost of dropping their coefficients, in 1/16 squared error.
    levels : list of int
        Sizes of its levels, from the last one down.
    coded : list of int
        The same sizes, at most 3, in the flat list of ``Scan``.
    """

    cost: int
    levels: list[int]
    coded: list[int]


Candidates = dict[tuple[int, int], tuple[int, int]]
"""A size and its cost beyond that of level 0, but for the rate, by parity and quantiser."""


def candidates_of(size: int, step: int, costs: BlockCosts, weight: int = ONE) -> Candidates:
    """Return the even and the odd size of each quantiser that are nearest to a coefficient's."""
    floor = min(2 * size // step, MOST_LEVEL - 2)
    upper = int(2 * (2 * size - floor * step) >= step)
    dropped = costs.of_coefficients(size * size)
    found = {}
    for quantiser, lower in enumerate((floor, floor + upper)):
        for level in (lower, lower + 1):
            if level:
                beyond = value_of(level, quantiser, step) - size
                gain = costs.of_coefficients(beyond * beyond) - dropped
                found[level & 1, quantiser] = level, weighed(gain, weight)
    return found


class Rates:
    """Costs of the levels of a block, with their remainders.

    Parameters
    ----------
    order : Scan
    place : BlockPlace
    costs : BlockCosts
    family : int
        ``mode_family`` of the block's mode.
    """

    def __init__(self, order: Scan, place: BlockPlace, costs: BlockCosts, family: int):
        self.area, self.costs = place.area_class, costs
        self.places = order.places_of(family, costs)

    def of(self, quantiser: int, k: int, around: int, level: int) -> int:
        """Return the cost of the level of number k; ``around`` is a class of sums."""
        place = self.places[k]
        cost = self.costs.level[quantiser][self.area][place][around][min(level, 3)]
        if level > 2:
            context = self.costs.remainder_context(self.area, place, around)
            cost += self.costs.of_remainder(context, level - 2)
        return cost


def choose_dependent_levels(
    coefficients: np.ndarray,
    place: BlockPlace,
    step: int,
    costs: BlockCosts,
    family: int = 0,
    weight: int = ONE,
) -> np.ndarray | None:
    """Quantise coefficients dependently with a low rate-distortion cost.

    From high to low frequencies, each state keeps the path of least cost that leads to it. Only the
    two nearest levels of a quantiser, and 0, are tried.

    Parameters
    ----------
    coefficients, place, step, costs, family
        As in ``choose_levels``.
    weight : int
        How much errors count, in 1/16.

    Returns
    -------
    (R, Q) int array or None
        The levels; None if all levels are 0.
    """
    order = scan_of(place.height, place.width)
    values = coefficients[order.places]
    first = step // 4
    large = np.flatnonzero(np.abs(values) > first)
    if len(large) == 0:
        return None
    sizes = np.abs(values[: int(large[-1]) + 1]).tolist()
    rates = Rates(order, place, costs, family)
    paths: list[Path | None] = [None] * STATES
    for k in reversed(range(len(sizes))):
        candidates = candidates_of(sizes[k], step, costs, weight)
        paths = _extended(paths, order, k, rates, candidates)
        if sizes[k] > first:
            # The last level is never 0, so the bit of the model "zero" is not coded for it.
            nonzero = costs.nonzero[rates.area][rates.places[k]]
            _begin(paths, order, k, rates, costs.of_last(place, k) - nonzero, candidates)
    found = [path for path in paths if path]
    if not found:
        return None
    best = min(found, key=lambda path: path.cost)
    chosen = np.zeros(order.shape, np.int64)
    kept = slice(len(best.levels))
    rows, columns = order.places
    # The level of a coefficient of 0 may be 1: its parity leads to another state.
    signs = np.where(values[kept] < 0, -1, 1)
    chosen[rows[kept], columns[kept]] = signs * best.levels[::-1]
    return chosen


def _extended(
    paths: list[Path | None],
    order: Scan,
    k: int,
    rates: Rates,
    candidates: Candidates,
) -> list[Path | None]:
    """Return the paths with the level of number k; an even level wins if costs are equal."""
    at = order.margin[k]
    reached: dict[tuple[int, int], tuple[int, int]] = {}
    for state, path in enumerate(paths):
        if path is None:
            continue
        quantiser = quantiser_of(state)
        around = sum_class(sum(path.coded[at + offset] for offset in order.around))
        reached[state, 0] = path.cost + rates.of(quantiser, k, around, 0), 0
        for parity in (0, 1):
            if (parity, quantiser) in candidates:
                level, gain = candidates[parity, quantiser]
                cost = path.cost + gain + rates.of(quantiser, k, around, level)
                if parity or cost < reached[state, 0][0]:
                    reached[state, parity] = cost, level
    extended: list[Path | None] = []
    for state in range(STATES):
        ways = ((BEFORE_EVEN[state], 0), (BEFORE_EVEN[state ^ 2], 1))
        known = [(*reached[way], way[0]) for way in ways if way in reached]
        if not known:
            extended.append(None)
            continue
        cost, level, before = min(known, key=lambda way: way[0])
        path = paths[before]
        assert path is not None
        coded = path.coded.copy()
        coded[at] = min(level, 3)
        extended.append(Path(cost, [*path.levels, level], coded))
    return extended


def _begin(
    paths: list[Path | None],
    order: Scan,
    k: int,
    rates: Rates,
    given: int,
    candidates: Candidates,
) -> None:
    """Let paths begin with the level of number k, in state 0, where they cost less.

    ``given`` is what they cost besides the level.
    """
    for parity in (0, 1):
        if (parity, 0) in candidates:
            level, gain = candidates[parity, 0]
            cost = given + gain + rates.of(0, k, 0, level)
            state = next_state(0, level)
            path = paths[state]
            if path is None or cost < path.cost:
                coded = [0] * order.margin_size
                coded[order.margin[k]] = min(level, 3)
                paths[state] = Path(cost, [level], coded)
