"""What coding a block in one way would come to: error and cost of its levels.

The encoder's, not the format's; all in integers, so that every machine writes the same bytes.
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
    """Half the sum of the absolute Hadamard coefficients of all 4x4 pieces.

    Parameters
    ----------
    difference : (h, w) int array
        Of samples.
    coarser : int
        Bits of samples that do not count.
    """
    height, width = difference.shape
    pieces = difference.reshape(height // 4, 4, width // 4, 4).swapaxes(1, 2)
    return int(np.abs(HADAMARD @ pieces @ HADAMARD).sum()) >> (1 + coarser)


class Scan:
    """The scan of a block as lists that a loop can use.

    Parameters
    ----------
    height, width : int

    Attributes
    ----------
    places : tuple of two int arrays
        Rows and columns in scan order.
    margin : list of int
        Where the places lie in a list of the sizes with two more columns and rows.
    around : list of int
        Steps in that list to the sizes that choose a level's models.
    classes : list of int
        Frequency classes.
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
    """Levels of small cost: one by one from high to low frequencies, then the last place.

    Parameters
    ----------
    coefficients : (R, Q) int array
    place : BlockPlace
    step : int
    costs : BlockCosts

    Returns
    -------
    (R, Q) int array or None
        None where all would be 0.
    """
    order = scan_of(place.height, place.width)
    values = coefficients[order.places]
    # Less than 5/8 of a step is never worth its bits.
    large = np.flatnonzero(np.abs(values) > step * 5 // 16)
    if len(large) == 0:
        return None
    count = int(large[-1]) + 1
    sizes = np.abs(values[:count]).tolist()
    dropped = [costs.of_coefficients(size * size) for size in sizes]
    cost, level = dropped.copy(), [0] * count
    near = [0] * order.margin_size
    by_class = costs.level[place.area_class]
    is_large = int(place.area_class >= 2)
    for k in reversed(range(count)):
        size, at = sizes[k], order.margin[k]
        around = min(sum(near[at + step_to] for step_to in order.around), 5)
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
        near[at] = min(level[k], 3)
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
    """Number of the level after which dropping all costs least; None if all are 0."""
    classes = scan_of(place.height, place.width).classes
    zero = costs.zero[place.area_class]
    after, before, best, last = sum(dropped), 0, None, None
    for k, own in enumerate(cost):
        after -= dropped[k]
        if level[k]:
            # That the last one is not zero takes no bit.
            total = before + own + after + costs.of_last(place, k) - int(zero[classes[k], 0, 1])
            if best is None or total < best:
                best, last = total, k
        before += own
    return last


def cost_of_levels(levels: np.ndarray, place: BlockPlace, costs: BlockCosts) -> int:
    """Cost of all that ``code_levels`` sends.

    Parameters
    ----------
    levels : (R, Q) int array
        Not all 0.
    """
    order = scan_of(place.height, place.width)
    sizes = np.abs(levels[order.places]).tolist()
    last = max(k for k, size in enumerate(sizes) if size)
    near = [0] * order.margin_size
    by_class = costs.level[place.area_class]
    is_large = int(place.area_class >= 2)
    total = costs.of_last(place, last)
    total -= int(costs.zero[place.area_class, order.classes[last], 0, 1])
    for k in range(last, -1, -1):
        size, at = sizes[k], order.margin[k]
        around = min(sum(near[at + step_to] for step_to in order.around), 5)
        total += by_class[order.classes[k]][around][min(size, 3)]
        if size > 2:
            total += costs.of_remainder(is_large, size - 2)
        near[at] = min(size, 3)
    return total


class Trial:
    """The cheapest block so far of those that were tried at a place.

    Parameters
    ----------
    place : BlockPlace
    source : (h, w) int array
    bound : int
        Blocks of this cost and above are not wanted.
    costs : BlockCosts

    Attributes
    ----------
    cost : int
    block : Block or None
    samples : (h, w) int array or None
        What the block decodes to.
    """

    def __init__(self, place: BlockPlace, source: np.ndarray, bound: int, costs: BlockCosts):
        self.place = place
        self.source = source
        self.cost = bound
        self.costs = costs
        self.block: Block | None = None
        self.samples: np.ndarray | None = None

    def attempt(self, cost: int, block: Block, samples: np.ndarray) -> None:
        """Take a block if it costs less; ``cost`` is that of its bits."""
        if cost >= self.cost:
            return
        self.take(cost + self.costs.of_error(self.source - samples), block, samples)

    def take(self, cost: int, block: Block, samples: np.ndarray) -> None:
        """Take a block if it costs less; ``cost`` is that of its bits and its error."""
        if cost < self.cost:
            self.cost, self.block, self.samples = cost, block, samples

    def attempt_residual(self, cost: int, mode: int, prediction: np.ndarray, step: int) -> None:
        """Take a prediction with a residual if that costs less, by either transform.

        Parameters
        ----------
        cost : int
            Of all that is sent before the transform.
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
    """Least cost of a prediction with or without residual, by cosines and without rounding.

    Parameters
    ----------
    difference : (h, w) int array
        Of source and prediction.
    """
    bare, transformed = costs.kind[place.size, 1].tolist()
    energy = costs.of_error(difference)
    coefficients = forward(difference, False, costs.depth)
    levels = choose_levels(coefficients, place, step, costs)
    if levels is None:
        return bare + energy
    rest = coefficients - dequantised(levels, step)
    kept = costs.of_coefficients(int((coefficients * coefficients - rest * rest).sum()))
    left = max(energy - kept, 0)  # the basis is not quite orthonormal
    return min(bare + energy, transformed + cost_of_levels(levels, place, costs) + left)
