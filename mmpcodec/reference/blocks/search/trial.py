"""Trial coding of one block: choice of its levels, and its rate-distortion cost.

*Encoder only*. The arithmetic is in integers, so that every machine writes equal bytes.
"""

from functools import cache

import numpy as np

from mmpcodec.depth import most
from mmpcodec.reference.blocks.coder import mode_family
from mmpcodec.reference.blocks.levels import AROUND, MOST_LEVEL, frequency_class, scan
from mmpcodec.reference.blocks.partition import Block, BlockPlace
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.transform import MOST_COEFFICIENT, dequantised, forward, inverse

HADAMARD = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])


def hadamard_difference(difference: np.ndarray, coarser: int = 0) -> int:
    """Sum the absolute Hadamard coefficients of all units of 4x4 samples, and halve the sum.

    Parameters
    ----------
    difference : (h, w) int array
        Difference of source and prediction.
    coarser : int
        Number of lowest bits of the samples that the result drops.
    """
    height, width = difference.shape
    pieces = difference.reshape(height // 4, 4, width // 4, 4).swapaxes(1, 2)
    return int(np.abs(HADAMARD @ pieces @ HADAMARD).sum()) >> (1 + coarser)


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
    classes : list of int
        Frequency class of each position.
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
        self.classes = [frequency_class(*place) for place in order]


scan_of = cache(Scan)


def choose_levels(
    coefficients: np.ndarray, place: BlockPlace, step: int, costs: BlockCosts
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
    by_class = costs.level[place.area_class]
    is_large = int(place.area_class >= 2)
    for k in reversed(range(count)):
        size, at = sizes[k], order.margin[k]
        around = min(sum(coded[at + offset] for offset in order.around), 5)
        of_size = by_class[order.classes[k]][around]
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
                    total += costs.of_remainder(is_large, tried - 2)
                if total < cost[k]:
                    cost[k], level[k] = total, tried
        coded[at] = min(level[k], 3)
    last = _best_last(place, costs, cost, dropped, level)
    if last is None:
        return None
    chosen = np.zeros(order.shape, np.int64)
    kept = slice(last + 1)
    rows, columns = order.places
    chosen[rows[kept], columns[kept]] = np.sign(values[kept]) * level[kept]
    return chosen


def _best_last(
    place: BlockPlace, costs: BlockCosts, cost: list[int], dropped: list[int], level: list[int]
) -> int | None:
    """Choose the last position so that the total cost is least.

    Parameters
    ----------
    place : BlockPlace
    costs : BlockCosts
    cost, dropped, level : lists of int
        For each position in scan order: the cost of its level, the cost of the level 0 without
        any bits, and the size of the level.

    Returns
    -------
    int or None
        Number of the last position in scan order; None if all levels are 0.
    """
    classes = scan_of(place.height, place.width).classes
    zero = costs.zero[place.area_class]
    after, before, best, last = sum(dropped), 0, None, None
    for k, own in enumerate(cost):
        after -= dropped[k]
        if level[k]:
            # The last level is never 0, so the bit of the model "zero" is not coded for it.
            total = before + own + after + costs.of_last(place, k) - int(zero[classes[k], 0, 1])
            if best is None or total < best:
                best, last = total, k
        before += own
    return last


def cost_of_levels(levels: np.ndarray, place: BlockPlace, costs: BlockCosts) -> int:
    """Return the cost of the bits that ``code_levels`` codes, in 1/16 squared error.

    Parameters
    ----------
    levels : (R, Q) int array
        At least one level is not 0.
    place : BlockPlace
    costs : BlockCosts
    """
    order = scan_of(place.height, place.width)
    sizes = np.abs(levels[order.places]).tolist()
    last = max(k for k, size in enumerate(sizes) if size)
    coded = [0] * order.margin_size
    by_class = costs.level[place.area_class]
    is_large = int(place.area_class >= 2)
    total = costs.of_last(place, last)
    total -= int(costs.zero[place.area_class, order.classes[last], 0, 1])
    for k in range(last, -1, -1):
        size, at = sizes[k], order.margin[k]
        around = min(sum(coded[at + offset] for offset in order.around), 5)
        total += by_class[order.classes[k]][around][min(size, 3)]
        if size > 2:
            total += costs.of_remainder(is_large, size - 2)
        coded[at] = min(size, 3)
    return total


class Trial:
    """Keeps the cheapest of the ways to code one block that are tried one after the other.

    Parameters
    ----------
    place : BlockPlace
    source : (h, w) int array
        Source samples of the block.
    bound : int
        Only ways that cost less than this are kept, in 1/16 squared error.
    costs : BlockCosts

    Attributes
    ----------
    cost : int
        Cost of the cheapest way so far; initially the bound.
    block : Block or None
        Its content; None if no way costs less than the bound.
    samples : (h, w) int array or None
        Its decoded samples.
    """

    def __init__(self, place: BlockPlace, source: np.ndarray, bound: int, costs: BlockCosts):
        self.place = place
        self.source = source
        self.cost = bound
        self.costs = costs
        self.block: Block | None = None
        self.samples: np.ndarray | None = None

    def attempt(self, cost: int, block: Block, samples: np.ndarray) -> None:
        """Keep a block if it is the cheapest so far; ``cost`` is lambda * R of its bits."""
        if cost >= self.cost:
            return
        self.take(cost + self.costs.of_error(self.source - samples), block, samples)

    def take(self, cost: int, block: Block, samples: np.ndarray) -> None:
        """Keep a block if it is the cheapest so far; ``cost`` is its D + lambda * R."""
        if cost < self.cost:
            self.cost, self.block, self.samples = cost, block, samples

    def attempt_residual(self, cost: int, mode: int, prediction: np.ndarray, step: int) -> None:
        """Try a prediction with a residual, by both types of transform.

        Parameters
        ----------
        cost : int
            lambda * R of the bits before the type of the transform.
        mode : int
        prediction : (h, w) int array
        step : int
            Quantisation step in 1/16 of a unit of 8-bit samples.
        """
        place, costs, depth = self.place, self.costs, self.costs.depth
        if cost >= self.cost:
            return
        for sine in (False, True) if place.may_be_sine else (False,):
            coefficients = forward(self.source - prediction, sine, depth)
            levels = choose_levels(coefficients, place, step, costs)
            if levels is None:
                continue
            total = cost + cost_of_levels(levels, place, costs)
            if place.may_be_sine:
                total += int(costs.transform[place.area_class, mode_family(mode), int(sine)])
            residual = inverse(dequantised(levels, step), place.height, place.width, sine, depth)
            samples = np.clip(prediction + residual, 0, most(depth))
            self.attempt(total, Block(mode, levels, sine), samples)


def rough_cost(difference: np.ndarray, place: BlockPlace, step: int, costs: BlockCosts) -> int:
    """Estimate the cost of a prediction, with or without a residual, whichever is cheaper.

    The residual is transformed by cosines. Its error is measured on coefficients, not on samples.

    Parameters
    ----------
    difference : (h, w) int array
        Source minus prediction.
    place : BlockPlace
    step : int
        Quantisation step in 1/16 of a unit of 8-bit samples.
    costs : BlockCosts

    Returns
    -------
    int
        Cost in 1/16 squared error, without the bits of the mode.
    """
    bare, transformed = costs.kind[place.size, 1].tolist()
    energy = costs.of_error(difference)
    coefficients = forward(difference, False, costs.depth)
    levels = choose_levels(coefficients, place, step, costs)
    if levels is None:
        return bare + energy
    rest = coefficients - dequantised(levels, step)
    kept = costs.of_coefficients(int((coefficients * coefficients - rest * rest).sum()))
    left = max(energy - kept, 0)  # kept can exceed energy: the integer basis is not orthonormal
    return min(bare + energy, transformed + cost_of_levels(levels, place, costs) + left)
