"""Best rectangle of a 2-D Dask array: tasks that each search some bands; see ``max_sum``."""

from collections.abc import Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

from mmpcodec.dask.magnitudes import Surveyed
from mmpcodec.runtime.arrays import as_array
from mmpcodec.runtime.machine import limited_processors
from mmpcodec.solvers import dispatch, max_sum
from mmpcodec.solvers.grid import on_known_grid
from mmpcodec.solvers.max_sum import bands


def find(array: Any, known: Surveyed, parts: int, backend: str) -> tuple[int, ...]:
    """Return sum on the grid, top, left, bottom and right of the first best rectangle."""
    import dask
    from dask.array import Array

    shape = known.shape
    axis = bands.shorter_side(shape)
    edges = bands.edges(parts, shape[axis])
    # Chunks of unknown sizes cannot be cut anew.
    array = Array(array.dask, array.name, known.sizes, array.dtype, array._meta)
    sizes = tuple(stop - start for start, stop in pairwise(edges))
    cut = array.rechunk({axis: sizes, 1 - axis: shape[1 - axis]}).to_delayed().ravel()
    sum_of = dask.delayed(partial(_sum, axis=axis, exponent=known.exponent))
    # Number b is the sum of bands 1 to b - 1, a line of numbers. Sums are exact, in any order.
    sums: list[Any] = [None, 0, *accumulate(map(sum_of, cut[1:-1]), dask.delayed(_add))]
    search = dask.delayed(partial(_search, axis=axis, exponent=known.exponent, backend=backend))
    tasks = []
    for line in bands.lines(parts):
        gaps = [
            [sums[low + 1], sums[high]] if high > low + 1 else None for low, high in pairwise(line)
        ]
        tasks.append(search([cut[b] for b in line], gaps, [edges[b : b + 2] for b in line]))
    total, *places = dask.compute(dask.delayed(min)(tasks))[0]
    return (-total, *places)


def _sum(band: Any, *, axis: int, exponent: int | None) -> Any:
    return on_known_grid(as_array("array", band), exponent).sum(axis=axis)


def _add(sums: Any, more: Any) -> Any:
    return sums + more


def _search(
    given: Sequence[Any],
    gaps: Sequence[Any],
    edges: Sequence[Sequence[int]],
    *,
    axis: int,
    exponent: int | None,
    backend: str,
) -> bands.Found:
    there = [on_known_grid(as_array("array", band), exponent) for band in given]
    operations = dispatch.operations(max_sum.__name__, backend, there[0])
    with limited_processors(1):
        return bands.search(there, gaps, edges, axis, operations)
