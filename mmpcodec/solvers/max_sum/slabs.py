"""Maximum-sum box by rectangles: each range along the shortest side is summed to a matrix."""

from collections.abc import Callable, Sequence

import numpy as np

from mmpcodec.solvers.max_sum.arguments import Limits

BestRectangle = Callable[[np.ndarray, Limits, Limits], tuple[int, int, int, int, int]]
"""Function from a matrix and limits to sum, top, left, bottom and right of its best rectangle."""


def max_box(
    values: np.ndarray, sides: Sequence[Limits], best_rectangle: BestRectangle
) -> tuple[int, ...]:
    """Return sum, front, top, left, back, bottom and right of the first best box.

    ``sides`` are the smallest and the largest number of planes, rows and columns.
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
