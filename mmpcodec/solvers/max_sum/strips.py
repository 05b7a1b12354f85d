"""Best rectangle of a matrix that lies in several places, strips of its rows."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mmpcodec.runtime.arrays import module_of
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.grid import number, on_known_grid
from mmpcodec.solvers.max_sum import arguments, bands
from mmpcodec.solvers.max_sum.answers import Rectangle
from mmpcodec.solvers.max_sum.arguments import Limits
from mmpcodec.solvers.max_sum.shards import checked_shards
from mmpcodec.solvers.max_sum.windows import best_rectangle


def max_rectangle_of_shards(
    strips: Iterable[Any],
    *,
    min_height: int = 1,
    max_height: int | None = None,
    min_width: int = 1,
    max_width: int | None = None,
    allow_empty: bool = False,
    parts: int | None = None,
    backend: str = "auto",
) -> Rectangle:
    """Find the rectangle of the largest sum of a matrix that lies in strips of rows, in order.

    Answer and options are those of ``max_rectangle``. A search holds a part of the matrix if it has
    more than 2**25 values. The shorter side is cut into p**2 bands, and p (p + 1) searches each
    read p of them, and up to p - 1 rows of sums: about a p-th of the matrix. With limits along one
    side, the other one is cut. With limits along both, windows along a side that has a largest
    length are searched, each with that length more; without a largest length, the whole matrix is.

    Parameters
    ----------
    strips : (N, W) arrays of one type of integers or floating-point numbers
        Strips of rows from top to bottom, of equal widths, in memory or memory-mapped; each is read
        several times.
    parts : int or None
        The prime p, whose square is at most the side that is cut; 1 is one search of the whole
        matrix. None is the smallest number for which a search has at most 2**25 values, or the
        largest allowed.
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        See ``on_grid`` and ``arguments.limits``; also when types or widths differ, or ``parts`` is
        not allowed.

    Examples
    --------
    >>> from mmpcodec.solvers.max_sum import max_rectangle_of_shards
    >>> max_rectangle_of_shards([[[1, -9, 2]], [[-3, 4, 5], [1, 6, -2]]])
    Rectangle(top=1, left=1, bottom=3, right=3, sum=13)
    """
    arrays, exponent = checked_shards(strips, 2)
    matrix = _Matrix(arrays, exponent)
    height, width = matrix.shape
    heights = arguments.limits("height", min_height, max_height, height)
    widths = arguments.limits("width", min_width, max_width, width)
    operations = dispatch.operations(__package__, backend, arrays[0])
    sides = heights, widths
    limited = [axis for axis in (0, 1) if sides[axis] != (1, matrix.shape[axis])]
    if len(limited) < 2:
        axis = 1 - limited[0] if limited else bands.shorter_side(matrix.shape)
        parts = bands.check_parts(parts, matrix.shape, axis, in_turn=True)
        found = min(_of_bands(matrix, parts, axis, sides[1 - axis], operations))
    else:
        found = min(_of_windows(matrix, sides, operations))
    if allow_empty and found[0] >= 0:
        return Rectangle(0, 0, 0, 0, number(0, exponent))
    total, top, left, bottom, right = found
    return Rectangle(top, left, bottom, right, number(-total, exponent))


class _Matrix:
    """A matrix in strips of rows. Parts are gathered as int64 arrays, in units of the grid."""

    def __init__(self, strips: Sequence[Any], exponent: int | None):
        self.strips = strips
        self.exponent = exponent
        self.tops = np.cumsum([0, *(len(strip) for strip in strips)]).tolist()
        self.shape = self.tops[-1], strips[0].shape[1]

    def band(self, axis: int, start: int, stop: int) -> Any:
        """Return rows, or columns, ``start`` to ``stop`` - 1."""
        if axis == 1:
            pieces = [strip[:, start:stop] for strip in self.strips]
        else:
            pieces = [
                strip[max(start - top, 0) : stop - top]
                for strip, (top, bottom) in zip(self.strips, pairwise(self.tops), strict=True)
                if top < stop and start < bottom
            ]
        there = [on_known_grid(piece, self.exponent) for piece in pieces]
        return module_of(there[0]).concatenate(there)


def _of_bands(
    matrix: _Matrix, parts: int, axis: int, lengths: Limits, operations: Any
) -> Iterator[bands.Found]:
    edges = bands.edges(parts, matrix.shape[axis])
    # Number b is the sum of the bands before b.
    sums: list[Any] = [0]
    for start, stop in pairwise(edges[:-1]):
        sums.append(sums[-1] + matrix.band(axis, start, stop).sum(axis=axis))
    for line in bands.lines(parts):
        gaps = [(sums[a + 1], sums[b]) if b > a + 1 else None for a, b in pairwise(line)]
        ends = [edges[b : b + 2] for b in line]
        there = [matrix.band(axis, *each) for each in ends]
        yield bands.search(there, gaps, ends, axis, operations, lengths)


def _of_windows(
    matrix: _Matrix, sides: tuple[Limits, Limits], operations: Any
) -> Iterator[bands.Found]:
    # The side of the smaller part in a window.
    axis = min((0, 1), key=lambda axis: sides[axis][1] / matrix.shape[axis])
    size, other = matrix.shape[axis], matrix.shape[1 - axis]
    least, most = sides[axis]
    step = max(most, bands.TASK // other)
    for start in range(0, size - least + 1, step):
        window = matrix.band(axis, start, min(start + step + most - 1, size))
        limits = [sides[0], sides[1]]
        limits[axis] = least, min(most, window.shape[axis])
        total, *places = map(int, best_rectangle(window, limits, operations))
        places[axis] += start
        places[axis + 2] += start
        yield (-total, *places)  # type: ignore[misc]
