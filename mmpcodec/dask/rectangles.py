"""Best rectangle of a 2-D Dask array: tasks that each search some bands; see ``max_sum``."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from math import isqrt
from typing import Any

from mmpcodec.checks import check_int
from mmpcodec.dask.magnitudes import Surveyed, on_grid
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, module_of
from mmpcodec.runtime.machine import limited_processors
from mmpcodec.solvers import dispatch, max_sum
from mmpcodec.solvers.max_sum.rectangles import best_rectangle

FEW = 1 << 18
"""Largest number of values that one task searches, by default."""
TASK = 1 << 25
"""Largest number of values of one of several tasks, by default, if the sides allow it."""
USUAL = 5
"""Number of bands of a task if memory asks for no other number: 30 tasks."""

Found = tuple[int, int, int, int, int]
"""Negated sum, top, left, bottom and right: the minimum of several is the best rectangle."""


def check_parts(parts: int | None, shape: tuple[int, ...]) -> int:
    """Return the number of bands of a task: 1 for one task, or a prime p for p (p + 1) tasks.

    Raises
    ------
    ParameterError
        When the number is neither 1 nor a prime whose square is at most the shorter side.
    """
    side, longer = sorted(shape)
    allowed = [1, *(p for p in range(2, isqrt(side) + 1) if _is_prime(p))]
    if parts is not None:
        if check_int("parts", parts) not in allowed:
            raise ParameterError(
                f"parts = {parts}: must be 1, or a prime whose square is at most {side}, the "
                "shorter side"
            )
        return int(parts)
    if side * longer <= FEW:
        return 1
    enough = [p for p in allowed if p >= USUAL and (side / p + p - 1) * longer <= TASK]
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


def find(array: Any, known: Surveyed, parts: int, backend: str) -> tuple[int, ...]:
    """Return sum on the grid, top, left, bottom and right of the first best rectangle."""
    import dask
    from dask.array import Array

    shape = known.shape
    axis = 0 if shape[0] <= shape[1] else 1
    edges = [number * shape[axis] // parts**2 for number in range(parts**2 + 1)]
    # Chunks of unknown sizes cannot be cut anew.
    array = Array(array.dask, array.name, known.sizes, array.dtype, array._meta)
    sizes = tuple(stop - start for start, stop in pairwise(edges))
    bands = array.rechunk({axis: sizes, 1 - axis: shape[1 - axis]}).to_delayed().ravel()
    sum_of = dask.delayed(partial(_sum, axis=axis, exponent=known.exponent))
    # Number b is the sum of bands 1 to b - 1, a line of numbers. Sums are exact, in any order.
    sums: list[Any] = [None, 0, *accumulate(map(sum_of, bands[1:-1]), dask.delayed(_add))]
    search = dask.delayed(partial(_search, axis=axis, exponent=known.exponent, backend=backend))
    tasks = []
    for line in lines(parts):
        gaps = [
            [sums[low + 1], sums[high]] if high > low + 1 else None for low, high in pairwise(line)
        ]
        tasks.append(search([bands[b] for b in line], gaps, [edges[b : b + 2] for b in line]))
    total, *places = dask.compute(dask.delayed(min)(tasks))[0]
    return (-total, *places)


def _sum(band: Any, *, axis: int, exponent: int | None) -> Any:
    return on_grid(as_array("array", band), exponent).sum(axis=axis)


def _add(sums: Any, more: Any) -> Any:
    return sums + more


def _search(
    bands: Sequence[Any],
    gaps: Sequence[Any],
    edges: Sequence[Sequence[int]],
    *,
    axis: int,
    exponent: int | None,
    backend: str,
) -> Found:
    """Return the best rectangle that starts and stops in one of several bands or between two.

    The rows between two bands are added up to one row, so a rectangle has all of them or none.
    The order of rows, and so the order of rectangles with equal sums, stays.
    """
    pieces = [on_grid(as_array("array", bands[0]), exponent)]
    starts, stops = _places(edges[0])
    for band, gap, (before, (start, stop)) in zip(bands[1:], gaps, pairwise(edges), strict=True):
        if gap is not None:
            pieces.append(module_of(pieces[0]).expand_dims(gap[1] - gap[0], axis))
            starts.append(before[1])
            stops.append(start)
        pieces.append(on_grid(as_array("array", band), exponent))
        more_starts, more_stops = _places((start, stop))
        starts += more_starts
        stops += more_stops
    values = module_of(pieces[0]).concatenate(pieces, axis=axis)
    del pieces
    operations = dispatch.operations(max_sum.__name__, backend, values)
    height, width = values.shape
    with limited_processors(1):
        found = best_rectangle(values, (1, height), (1, width), operations)
    total, *places = map(int, found)
    places[axis], places[axis + 2] = starts[places[axis]], stops[places[axis + 2] - 1]
    top, left, bottom, right = places
    return -total, top, left, bottom, right


def _places(edges: Sequence[int]) -> tuple[list[int], list[int]]:
    start, stop = edges
    return list(range(start, stop)), list(range(start + 1, stop + 1))
