"""The choice of the levels of a block by rate and distortion, and their cost.

*Encoder only*. The arithmetic is in integers, so that every machine writes equal bytes.
"""

from functools import cache

import numpy as np

from mmpcodec.reference.blocks.levels import (
    AROUND,
    MOST_LEVEL,
    direction_of,
    fine_frequency,
    frequency_class,
    next_state,
    quantiser_of,
    scan,
    sum_class,
)
from mmpcodec.reference.blocks.models import FREQUENCIES
from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.transform import MOST_COEFFICIENT


class Scan:
    """Scan order of a block's levels, as lists for fast loops.

    The loops keep the sizes of levels in a flat list, which has a margin of two rows and two
    columns of zeros.

    Parameters
    ----------
    height, width : int
        Size of the block in samples.

    Attributes
    ----------
    places : (rows, columns), two int arrays
        Positions of the levels in scan order.
    shape : (int, int)
        Number of rows and of columns of levels.
    margin : list of int
        Index of each position in the flat list.
    margin_size : int
        Length of the flat list.
    around : list of int
        Offsets, in the flat list, of the sizes that decide the context of a level.
    """

    def __init__(self, height: int, width: int):
        order = scan(height, width)
        rows, columns = np.array(order).T
        stride = int(columns.max()) + 3
        self.places = rows, columns
        self.shape = int(rows.max()) + 1, int(columns.max()) + 1
        self.margin = (rows * stride + columns).tolist()
        self.around = [down * stride + right for down, right in AROUND]
        self.margin_size = (self.shape[0] + 2) * stride
        self._classes = [frequency_class(*place) for place in order]
        self._fine_classes = [
            [direction_of(family, *place) * FREQUENCIES + fine_frequency(*place) for place in order]
            for family in range(4)
        ]

    def places_of(self, family: int, costs: BlockCosts) -> list[int]:
        """Return the class of each position that is an index of ``BlockCosts.level``.

        Without fine contexts it is the class of the frequency, with them that of the direction too.

        Parameters
        ----------
        family : int
            ``mode_family`` of the block's mode.
        costs : BlockCosts
        """
        return self._fine_classes[family] if costs.fine else self._classes


scan_of = cache(Scan)


def choose_levels(
    coefficients: np.ndarray, place: BlockPlace, step: int, costs: BlockCosts, family: int = 0
) -> np.ndarray | None:
    """Quantise coefficients with a low rate-distortion cost.

    The size of each level is chosen greedily, from high to low frequencies; then the cheapest last
    position is chosen.

    Parameters
    ----------
    coefficients : (R, Q) int array
        In 1/8 of a unit of 8-bit samples.
    place : BlockPlace
    step : int
        Quantisation step in 1/16 of a unit of 8-bit samples.
    costs : BlockCosts
    family : int
        ``mode_family`` of the block's mode.

    Returns
    -------
    (R, Q) int array or None
        The levels; None if all levels are 0.
    """
    order = scan_of(place.height, place.width)
    values = coefficients[order.places]
    # A coefficient up to 5/8 of a step becomes 0 if it is after the last larger one.
    large = np.flatnonzero(np.abs(values) > step * 5 // 16)
    if len(large) == 0:
        return None
    count = int(large[-1]) + 1
    sizes = np.abs(values[:count]).tolist()
    dropped = [costs.of_coefficients(size * size) for size in sizes]
    cost, level = dropped.copy(), [0] * count
    coded = [0] * order.margin_size
    places = order.places_of(family, costs)
    by_class = costs.level[0][place.area_class]
    for k in reversed(range(count)):
        size, at = sizes[k], order.margin[k]
        around = sum_class(sum(coded[at + offset] for offset in order.around))
        of_size = by_class[places[k]][around]
        cost[k] += of_size[0]
        if 4 * size > step:
            below = min(2 * size // step, MOST_LEVEL)
            first = below if below > 2 else max(below - 1, 1)
            for tried in range(first, min(below + 1, MOST_LEVEL) + 1):
                beyond = min((tried * step + 1) >> 1, MOST_COEFFICIENT) - size
                if 10 * beyond > 3 * step:
                    break
                total = costs.of_coefficients(beyond * beyond) + of_size[min(tried, 3)]
                if tried > 2:
                    context = costs.remainder_context(place.area_class, places[k], around)
                    total += costs.of_remainder(context, tried - 2)
                if total < cost[k]:
                    cost[k], level[k] = total, tried
        coded[at] = min(level[k], 3)
    nonzero = [costs.nonzero[place.area_class][own] for own in places]
    last = _best_last(place, costs, nonzero, cost, dropped, level)
    if last is None:
        return None
    chosen = np.zeros(order.shape, np.int64)
    kept = slice(last + 1)
    rows, columns = order.places
    chosen[rows[kept], columns[kept]] = np.sign(values[kept]) * level[kept]
    return chosen


def _best_last(
    place: BlockPlace,
    costs: BlockCosts,
    nonzero: list[int],
    cost: list[int],
    dropped: list[int],
    level: list[int],
) -> int | None:
    """Choose the last position so that the total cost is least.

    Parameters
    ----------
    place : BlockPlace
    costs : BlockCosts
    nonzero, cost, dropped, level : lists of int
        For each position in scan order: the cost of the bit that a last level lacks, the cost of
        its level, the cost of the level 0 without any bits, and the size of the level.

    Returns
    -------
    int or None
        Number of the last position in scan order; None if all levels are 0.
    """
    after, before, best, last = sum(dropped), 0, None, None
    for k, own in enumerate(cost):
        after -= dropped[k]
        if level[k]:
            # The last level is never 0, so the bit of the model "zero" is not coded for it.
            total = before + own + after + costs.of_last(place, k) - nonzero[k]
            if best is None or total < best:
                best, last = total, k
        before += own
    return last


def cost_of_levels(
    levels: np.ndarray,
    place: BlockPlace,
    costs: BlockCosts,
    dependent: bool = False,
    family: int = 0,
) -> int:
    """Return the cost of the bits that ``code_levels`` codes, in 1/16 squared error.

    Parameters
    ----------
    levels : (R, Q) int array
        At least one level is not 0.
    place : BlockPlace
    costs : BlockCosts
    dependent : bool
        Whether the levels before a level choose its quantiser.
    family : int
        ``mode_family`` of the block's mode.
    """
    order = scan_of(place.height, place.width)
    sizes = np.abs(levels[order.places]).tolist()
    last = max(k for k, size in enumerate(sizes) if size)
    coded = [0] * order.margin_size
    area, places = place.area_class, order.places_of(family, costs)
    total = costs.of_last(place, last) - costs.nonzero[area][places[last]]
    state = 0
    for k in range(last, -1, -1):
        size, at = sizes[k], order.margin[k]
        around = sum_class(sum(coded[at + offset] for offset in order.around))
        total += costs.level[quantiser_of(state)][area][places[k]][around][min(size, 3)]
        if size > 2:
            total += costs.of_remainder(costs.remainder_context(area, places[k], around), size - 2)
        coded[at] = min(size, 3)
        if dependent:
            state = next_state(state, size)
    return total
