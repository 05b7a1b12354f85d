"""Reference of each operation in NumPy; the other backends must return the same answers.

Functions take int64 arrays; ``max_interval`` and ``maximal_intervals`` take other integers too.
Intervals and rectangles are tuples of Python integers, sum first. ``deadline`` is a value of
``time.monotonic`` after which an operation raises ``OutOfTime``.
"""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from mmpcodec.solvers.grid import on_known_grid
from mmpcodec.solvers.limits import look
from mmpcodec.solvers.max_sum.arguments import Limits


def max_interval(values: np.ndarray, lengths: Limits) -> tuple[int, int, int]:
    """Return sum, start and stop of the first best interval."""
    sums = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    best = None
    for length in range(lengths[0], lengths[1] + 1):
        of_length = sums[length:] - sums[:-length]
        start = int(of_length.argmax())
        found = int(of_length[start]), start, start + length
        if best is None or _comes_first(found, best):
            best = found
    assert best is not None
    return best


def interval_summary(values: np.ndarray, exponent: int | None) -> tuple:
    """Return the total, and sum, start and stop of the best prefix, suffix and interval.

    Values are integers, or numbers that are rounded to units of 2**exponent. Each of the three has
    at least one value. Of equal sums, the prefix is the shortest, the suffix the longest, and the
    interval the first.
    """
    values = on_known_grid(values, exponent)
    sums = np.cumsum(values)
    after = np.cumsum(values[::-1])[::-1]
    stop, start = int(sums.argmax()) + 1, int(after.argmax())
    return (
        int(sums[-1]),
        (int(sums[stop - 1]), 0, stop),
        (int(after[start]), start, len(values)),
        max_interval(values, (1, len(values))),
    )


def interval_census(values: np.ndarray) -> tuple:
    """Return largest sum, number of its intervals, number of disjoint ones, longest and shortest.

    The longest and the shortest interval are tuples (sum, start, stop).
    """
    count = len(values)
    sums = np.concatenate([[0], np.cumsum(values)])
    pairs = [
        (start, stop, int(sums[stop] - sums[start]))
        for start in range(count)
        for stop in range(start + 1, count + 1)
    ]
    most = max(total for _, _, total in pairs)
    best = [(start, stop) for start, stop, total in pairs if total == most]
    disjoint, end = 0, 0
    for start, stop in sorted(best, key=lambda interval: interval[1]):
        if start >= end:
            disjoint, end = disjoint + 1, stop
    longest = max(best, key=lambda i: (i[1] - i[0], -i[0]))
    shortest = min(best, key=lambda i: (i[1] - i[0], i[0]))
    return most, len(best), disjoint, (most, *longest), (most, *shortest)


def sums_through(values: np.ndarray) -> np.ndarray:
    """Return the largest sum of an interval that contains each value, as (N,) int64 array."""
    prefix, suffix = np.cumsum(values), np.cumsum(values[::-1])[::-1]
    after = np.maximum.accumulate(prefix[::-1])[::-1] - prefix + values
    before = np.maximum.accumulate(suffix) - suffix + values
    return before + after - values


def maximal_intervals(values: np.ndarray) -> np.ndarray:
    """Return starts, stops and sums of all maximal intervals, from left to right, by recursion.

    The answer is a (3, N) int64 array.

    The interval of the largest sum is maximal if the sum is positive: of equal sums the one that
    stops first, then the shortest. The values left and right of it are searched in the same way.
    """
    found: list[tuple[int, int, int]] = []
    waiting = [(0, len(values))]
    while waiting:
        start, stop = waiting.pop()
        if start == stop:
            continue
        sums = np.concatenate([[0], np.cumsum(values[start:stop], dtype=np.int64)])
        lowest = np.minimum.accumulate(sums[:-1])
        gains = sums[1:] - lowest
        most = int(gains.max())
        if most <= 0:
            continue
        end = int(gains.argmax()) + 1
        # A maximal interval neither begins nor ends with values of sum 0, hence the last start.
        begin = int(np.flatnonzero(sums[:end] == sums[:end].min())[-1])
        found.append((start + begin, start + end, most))
        waiting += [(start, start + begin), (start + end, stop)]
    return np.array(sorted(found), np.int64).reshape(-1, 3).T


def max_rectangle(
    values: np.ndarray,
    heights: Limits,
    widths: Limits,
    transposed: bool,
    deadline: float | None = None,
) -> tuple[int, int, int, int, int]:
    """Return sum, top, bottom, left and right of the first best rectangle, half open.

    ``transposed`` means that the rows are the columns of the caller's matrix. It changes which of
    several rectangles with the largest sum is the first.
    """
    rows = len(values)
    sums = np.concatenate([np.zeros((1, values.shape[1]), np.int64), np.cumsum(values, axis=0)])
    best = None
    for first in range(rows):
        look(deadline)
        for last in range(first + heights[0], min(rows, first + heights[1]) + 1):
            total, start, stop = max_interval(sums[last] - sums[first], widths)
            places = (start, first, stop, last) if transposed else (first, start, last, stop)
            if best is None or _comes_first((total, *places), best):
                best = (total, *places)
    assert best is not None
    total, top, left, bottom, right = best
    if transposed:
        return total, left, right, top, bottom
    return total, top, bottom, left, right


def max_box(
    values: np.ndarray, sides: Sequence[Limits], deadline: float | None = None
) -> tuple[int, ...]:
    """Return sum, front, top, left, back, bottom and right of the first best box.

    ``sides`` are the smallest and the largest number of planes, rows and columns.
    """

    def best_rectangle(slab: np.ndarray, heights: Limits, widths: Limits) -> tuple[int, ...]:
        total, top, bottom, left, right = max_rectangle(slab, heights, widths, False, deadline)
        return total, top, left, bottom, right

    return box_by_slabs(values, sides, best_rectangle)


def box_by_slabs(
    values: np.ndarray, sides: Sequence[Limits], best_rectangle: Callable[..., tuple]
) -> tuple[int, ...]:
    """Return the answer of ``max_box``: each range along the shortest side is summed to a matrix.

    ``best_rectangle`` returns sum, top, left, bottom and right for a matrix and its limits.
    """
    axis = int(np.argmin(values.shape))
    volume = np.ascontiguousarray(np.moveaxis(values, axis, 0))
    (least, most), heights, widths = sides[axis], *sides[:axis], *sides[axis + 1 :]
    best: tuple[int, ...] | None = None
    for first in range(len(volume)):
        slab = np.zeros(volume.shape[1:], np.int64)
        for last in range(first + 1, min(len(volume), first + most) + 1):
            slab += volume[last - 1]
            if last - first < least:
                continue
            total, *found = best_rectangle(slab, heights, widths)
            starts, stops = found[:2], found[2:]
            starts.insert(axis, first)
            stops.insert(axis, last)
            key = (-total, *starts, *stops)
            if best is None or key < best:
                best = key
    assert best is not None
    return (-best[0], *best[1:])


def box_census(values: np.ndarray, deadline: float | None = None) -> tuple:
    """Return the largest sum, the number of its boxes, the largest box and the smallest.

    Boxes are tuples of front, top, left, back, bottom and right. Of equal volumes, the first is
    taken.
    """
    look(deadline)
    ranges = [itertools.combinations(range(side + 1), 2) for side in values.shape]
    boxes = [tuple(zip(*sides, strict=True)) for sides in itertools.product(*ranges)]
    sums = [
        int(values[tuple(slice(*ends) for ends in zip(*box, strict=True))].sum()) for box in boxes
    ]
    most = max(sums)
    best = [
        (int(np.prod(np.subtract(stops, starts))), *starts, *stops)
        for (starts, stops), total in zip(boxes, sums, strict=True)
        if total == most
    ]
    largest = min(best, key=lambda box: (-box[0], *box[1:]))
    return most, len(best), largest[1:], min(best)[1:]


def strip_maxima(values: np.ndarray, deadline: float | None = None) -> np.ndarray:
    """Return the largest sum of each range of rows, first to last: (0, 0), (0, 1), ..., (1, 1), ...

    The answer is an (H (H + 1) / 2,) int64 array.
    """
    rows = len(values)
    sums = np.concatenate([np.zeros((1, values.shape[1]), np.int64), np.cumsum(values, axis=0)])
    widths = 1, values.shape[1]
    maxima = []
    for first in range(rows):
        look(deadline)
        strips = sums[first + 1 :] - sums[first]
        maxima += [max_interval(strip, widths)[0] for strip in strips]
    return np.array(maxima)


def _comes_first(found: tuple, best: tuple) -> bool:
    return (-found[0], *found[1:]) < (-best[0], *best[1:])
