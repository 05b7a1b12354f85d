"""The round before maximum sums: sizes of chunks, and the grid of ``mmpcodec.solvers.grid``."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from mmpcodec.checks import dimensions
from mmpcodec.dask import rounds
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of
from mmpcodec.solvers import grid


@dataclass(frozen=True)
class Surveyed:
    """What is known of an array before its values are added.

    Parameters
    ----------
    sizes : tuple of tuple of int
        Sizes of the chunks along each dimension.
    exponent : int or None
        Exponent of the grid; None for integers.
    """

    sizes: tuple[tuple[int, ...], ...]
    exponent: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return tuple(map(sum, self.sizes))

    def number(self, value: int) -> int | float:
        """Return the number that a sum of values on the grid stands for."""
        return grid.Grid(np.empty(0), self.exponent).number(value)


def surveyed(array: Any, rank: int) -> Surveyed:
    """Check an array and find its grid; takes one round.

    No round is needed if the sizes of the chunks are known and no sum of the integers of this
    type can be too large.

    Raises
    ------
    ParameterError
        See ``mmpcodec.solvers.grid.on_grid``.
    """
    if array.ndim != rank:
        raise ParameterError(f"array of shape {array.shape}: must have {dimensions(rank)}")
    whole = grid.is_integer(array.dtype, "array")
    if 0 in array.shape:
        raise ParameterError(f"array of shape {array.shape}: must not be empty")
    is_known = not any(math.isnan(side) for side in array.shape)
    if is_known and whole and grid.bound(array.dtype) * array.size <= grid.MAX_SUM:
        return Surveyed(array.chunks, None)
    answers = rounds.ask(array, _measure, _listed)
    found = np.empty(len(answers), object)
    found[:] = answers
    found = found.reshape(array.numblocks)
    sizes = tuple(
        tuple(
            one.shape[axis] for one in found.swapaxes(0, axis).reshape(found.shape[axis], -1)[:, 0]
        )
        for axis in range(rank)
    )
    return _judged(found, sizes, whole)


def on_grid(chunk: Any, exponent: int | None) -> Any:
    """Return the values of a chunk as int64 array in C order, in units of the grid."""
    if exponent is None:
        return chunk.astype(np.int64, order="C", copy=False)
    return grid.rounded(chunk, exponent)


class _Magnitudes(NamedTuple):
    """Shape, magnitudes and first number that is not finite of one chunk."""

    shape: tuple[int, ...]
    largest: float = 0.0
    total: int = 0
    place: tuple[int, ...] | None = None
    value: float = 0.0


def _measure(chunk: Any) -> list[_Magnitudes]:
    if chunk.size == 0:
        return [_Magnitudes(chunk.shape)]
    if chunk.dtype.kind != "f":
        return [_Magnitudes(chunk.shape, total=_total(chunk))]
    place = grid.first_not_finite(chunk)
    if place is not None:
        return [_Magnitudes(chunk.shape, place=place, value=float(chunk[place]))]
    return [_Magnitudes(chunk.shape, largest=float(abs(chunk).max()))]


def _total(chunk: Any) -> int:
    """Return the exact sum of the magnitudes of integers."""
    largest = max(int(chunk.max()), -int(chunk.min()))
    if largest * chunk.size > grid.MAX_SUM:
        return sum(map(abs, chunk.ravel().tolist()))
    return int(module_of(chunk).abs(chunk.astype(np.int64)).sum())


def _listed(found: Iterable[list[_Magnitudes]]) -> list[_Magnitudes]:
    return list(chain.from_iterable(found))


def _judged(found: Any, sizes: tuple[tuple[int, ...], ...], whole: bool) -> Surveyed:
    """Return the grid of an array from the magnitudes of its chunks, in their grid."""
    size = math.prod(map(sum, sizes))
    if size == 0:
        raise ParameterError(f"array of shape {tuple(map(sum, sizes))}: must not be empty")
    if whole:
        grid.check_total(sum(one.total for one in found.ravel()))
        return Surveyed(sizes, None)
    starts = [np.cumsum([0, *along]).tolist() for along in sizes]
    bad = [
        (tuple(starts[axis][index[axis]] + i for axis, i in enumerate(one.place)), one.value)
        for index, one in np.ndenumerate(found)
        if one.place is not None
    ]
    if bad:
        place, value = min(bad, key=lambda each: each[0])
        raise grid.not_finite(value, place)
    return Surveyed(sizes, grid.exponent_of(max(one.largest for one in found.ravel()), size))
