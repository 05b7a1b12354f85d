"""Maximum sums of a volume. See the package for sums, ties and empty answers."""

from typing import Any

import numpy as np

from mmpcodec.solvers.max_sum.answers import Box
from mmpcodec.solvers.max_sum.exact import exact
from mmpcodec.solvers.max_sum.rectangles import best_rectangle


def max_box(values: Any, *, allow_empty: bool = False, backend: str = "auto") -> Box:
    """The box of the largest sum.

    Takes time in proportion to the fifth power of the sides: the ranges of the shortest side, each
    a rectangle's work.

    Parameters
    ----------
    values : (D, H, W) array of integers or floating-point numbers
    allow_empty : bool
        Answer with an empty box where no sum is positive.
    backend : {"auto", "cpu", "reference"}

    Raises
    ------
    ParameterError
        See ``exact``.
    """
    given = exact(values, 3)
    axis = int(np.argmin(given.values.shape))
    volume = np.ascontiguousarray(np.moveaxis(given.values, axis, 0))
    depth, height, width = volume.shape
    best: tuple[int, ...] | None = None
    for first in range(depth):
        slab = np.zeros((height, width), np.int64)
        for last in range(first + 1, depth + 1):
            slab += volume[last - 1]
            total, *found = best_rectangle(slab, (1, height), (1, width), backend)
            starts = list(found[:2])
            stops = list(found[2:])
            starts.insert(axis, first)
            stops.insert(axis, last)
            key = (-total, *starts, *stops)
            if best is None or key < best:
                best = key
    assert best is not None
    if allow_empty and best[0] >= 0:
        return Box(0, 0, 0, 0, 0, 0, given.number(0))
    front, top, left, back, bottom, right = map(int, best[1:])
    return Box(front, top, left, back, bottom, right, given.number(-best[0]))
