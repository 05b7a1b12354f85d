"""Maximum-sum box by rectangles: each range along the shortest side is summed to a matrix."""

from collections.abc import Callable

import numpy as np

BestRectangle = Callable[[np.ndarray], tuple[int, int, int, int, int]]
"""Function from a matrix to sum, top, left, bottom and right of its best rectangle."""


def max_box(values: np.ndarray, best_rectangle: BestRectangle) -> tuple[int, ...]:
    """Return sum, front, top, left, back, bottom and right of the first best box."""
    axis = int(np.argmin(values.shape))
    volume = np.ascontiguousarray(np.moveaxis(values, axis, 0))
    best: tuple[int, ...] | None = None
    for first in range(len(volume)):
        slab = np.zeros(volume.shape[1:], np.int64)
        for last in range(first + 1, len(volume) + 1):
            slab += volume[last - 1]
            total, *found = best_rectangle(slab)
            starts, stops = found[:2], found[2:]
            starts.insert(axis, first)
            stops.insert(axis, last)
            key = (-total, *starts, *stops)
            if best is None or key < best:
                best = key
    assert best is not None
    return (-best[0], *best[1:])
