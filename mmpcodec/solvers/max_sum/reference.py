"""The readable definition of each operation, in NumPy; the judge of the other backends.

All take int64 arrays. Answers are tuples of Python integers, the sum first.
"""

import numpy as np

Limits = tuple[int, int]
"""Least and most."""


def max_interval(values: np.ndarray, lengths: Limits) -> tuple[int, int, int]:
    """Sum, start and stop."""
    sums = np.concatenate([[0], np.cumsum(values)])
    best = None
    for length in range(lengths[0], lengths[1] + 1):
        of_length = sums[length:] - sums[:-length]
        start = int(of_length.argmax())
        found = int(of_length[start]), start, start + length
        if best is None or _comes_first(found, best):
            best = found
    assert best is not None
    return best


def interval_census(values: np.ndarray) -> tuple:
    """Largest sum, intervals that have it, most of them disjoint, longest and shortest."""
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
    """Largest sum of an interval through each value: the vector M of the thesis."""
    prefix, suffix = np.cumsum(values), np.cumsum(values[::-1])[::-1]
    after = np.maximum.accumulate(prefix[::-1])[::-1] - prefix + values
    before = np.maximum.accumulate(suffix) - suffix + values
    return before + after - values


def maximal_intervals(values: np.ndarray) -> list[tuple[int, int, int]]:
    """All maximal intervals from the left, by their recursive definition.

    The maximum-sum interval is one, the first and then the shortest of equal ones, and so are those
    of what lies left and right of it; intervals without a positive sum are none.
    """
    found: list[tuple[int, int, int]] = []
    waiting = [(0, len(values))]
    while waiting:
        start, stop = waiting.pop()
        if start == stop:
            continue
        sums = np.concatenate([[0], np.cumsum(values[start:stop])])
        lowest = np.minimum.accumulate(sums[:-1])
        gains = sums[1:] - lowest
        most = int(gains.max())
        if most <= 0:
            continue
        end = int(gains.argmax()) + 1
        # Sums that begin or end with nothing are not maximal: the last start and the first end.
        begin = int(np.flatnonzero(sums[:end] == sums[:end].min())[-1])
        found.append((most, start + begin, start + end))
        waiting += [(start, start + begin), (start + end, stop)]
    return sorted(found, key=lambda interval: interval[1])


def max_rectangle(
    values: np.ndarray, heights: Limits, widths: Limits, transposed: bool
) -> tuple[int, int, int, int, int]:
    """Sum, first and last row, first and last column, all half open.

    ``transposed`` says that the caller's matrix has rows and columns exchanged.
    """
    rows = len(values)
    sums = np.concatenate([np.zeros((1, values.shape[1]), np.int64), np.cumsum(values, axis=0)])
    best = None
    for first in range(rows):
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


def strip_maxima(values: np.ndarray) -> np.ndarray:
    """Largest sum in each range of rows: (0, 0), (0, 1), ..., (1, 1), ..."""
    rows = len(values)
    sums = np.concatenate([np.zeros((1, values.shape[1]), np.int64), np.cumsum(values, axis=0)])
    return np.array(
        [
            max_interval(sums[last] - sums[first], (1, values.shape[1]))[0]
            for first in range(rows)
            for last in range(first + 1, rows + 1)
        ]
    )


def _comes_first(found: tuple, best: tuple) -> bool:
    return (-found[0], *found[1:]) < (-best[0], *best[1:])
