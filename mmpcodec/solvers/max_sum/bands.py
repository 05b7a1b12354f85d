"""Best rectangle of a matrix that no task holds whole: each task searches some bands of it.

The bands are the points of an affine plane of prime order, the tasks its lines. Any two bands lie
on one line, whose task finds the rectangles that start in the one and stop in the other.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isqrt
from typing import Any

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of
from mmpcodec.solvers.max_sum.arguments import Limits
from mmpcodec.solvers.max_sum.windows import best_rectangle

FEW = 1 << 18
"""Largest number of values that one of the tasks that run side by side searches, by default."""
TASK = 1 << 25
"""Largest number of values of a task, by default, if the sides allow it."""
USUAL = 5
"""Number of bands of a task that run side by side, if memory asks for no other: 30 tasks."""

Found = tuple[int, int, int, int, int]
"""Negated sum, top, left, bottom and right: the minimum of several is the best rectangle."""


def shorter_side(shape: Sequence[int]) -> int:
    """Return the axis of the shorter side of a matrix, which is cut into bands."""
    return 0 if shape[0] <= shape[1] else 1


def check_parts(
    parts: int | None, shape: Sequence[int], axis: int | None = None, *, in_turn: bool = False
) -> int:
    """Return the number of bands of a task: 1 for one task, or a prime p for p (p + 1) tasks.

    Parameters
    ----------
    parts : int or None
    shape : tuple of int
        Numbers of rows and columns.
    axis : int or None
        Axis that is cut into bands; None is the shorter side.
    in_turn : bool
        Whether the tasks run one after the other, so that more tasks only save memory.

    Raises
    ------
    ParameterError
        When the number is neither 1 nor a prime whose square is at most the side that is cut.
    """
    axis = shorter_side(shape) if axis is None else axis
    side, other = shape[axis], shape[1 - axis]
    allowed = [1, *(p for p in range(2, isqrt(side) + 1) if _is_prime(p))]
    if parts is not None:
        if check_int("parts", parts) not in allowed:
            raise ParameterError(
                f"parts = {parts}: must be 1, or a prime whose square is at most {side}, the "
                f"{('height', 'width')[axis]}, which is cut"
            )
        return int(parts)
    if side * other <= (TASK if in_turn else FEW):
        return 1
    least = 2 if in_turn else USUAL
    enough = [p for p in allowed if p >= least and (side / p + p - 1) * other <= TASK]
    return enough[0] if enough else allowed[-1]


def _is_prime(number: int) -> bool:
    return all(number % divisor for divisor in range(2, isqrt(number) + 1))


def lines(order: int) -> Iterator[list[int]]:
    """Yield the lines of the affine plane of a prime order as ascending lists of its points.

    Each of the order**2 points, numbered from 0, is one band. Any two of them lie on exactly one
    line.
    """
    if order == 1:
        yield [0]
        return
    for slope in range(order):
        for shift in range(order):
            yield [x * order + (slope * x + shift) % order for x in range(order)]
    for x in range(order):
        yield list(range(x * order, (x + 1) * order))


def edges(parts: int, side: int) -> list[int]:
    """Return the first rows, or columns, of all bands, and the end of the last."""
    return [number * side // parts**2 for number in range(parts**2 + 1)]


def search(
    bands: Sequence[Any],
    gaps: Sequence[Any],
    edges: Sequence[Sequence[int]],
    axis: int,
    operations: Any,
    lengths: Limits | None = None,
) -> Found:
    """Return the best rectangle that starts and stops in one of several bands or between two.

    The rows between two bands are added up to one row, so a rectangle has all of them or none.
    The order of rows, and so the order of rectangles with equal sums, stays.

    Parameters
    ----------
    bands : sequence of int64 arrays
        Bands of a line of the plane, in order.
    gaps : sequence of pairs of arrays, or None
        The sum of the rows between two bands is the second of the pair less the first.
    edges : sequence of pairs of int
        First row of each band, and the row after its last.
    axis : int
        0 if bands are rows, 1 if they are columns.
    operations : module
        Operations of a backend.
    lengths : tuple of int or None
        Limits of the side of a rectangle that bands do not cut.
    """
    pieces = [bands[0]]
    starts, stops = _places(edges[0])
    for band, gap, (before, (start, stop)) in zip(bands[1:], gaps, pairwise(edges), strict=True):
        if gap is not None:
            pieces.append(module_of(band).expand_dims(gap[1] - gap[0], axis))
            starts.append(before[1])
            stops.append(start)
        pieces.append(band)
        more_starts, more_stops = _places((start, stop))
        starts += more_starts
        stops += more_stops
    values = module_of(bands[0]).concatenate(pieces, axis=axis)
    del pieces
    sides = [(1, side) for side in values.shape]
    sides[1 - axis] = lengths or sides[1 - axis]
    total, *places = map(int, best_rectangle(values, sides, operations))
    places[axis], places[axis + 2] = starts[places[axis]], stops[places[axis + 2] - 1]
    top, left, bottom, right = places
    return -total, top, left, bottom, right


def _places(edges: Sequence[int]) -> tuple[list[int], list[int]]:
    start, stop = edges
    return list(range(start, stop)), list(range(start + 1, stop + 1))
