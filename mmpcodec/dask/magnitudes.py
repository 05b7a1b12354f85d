"""The round before maximum sums: sizes of chunks, and the grid of ``mmpcodec.solvers.grid``."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from mmpcodec.checks import dimensions
from mmpcodec.dask import rounds
from mmpcodec.errors import ParameterError
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
    return _judged(found, sizes, array.dtype)


class _Measured(NamedTuple):
    """Shape, magnitudes and first number that is not finite of one chunk."""

    shape: tuple[int, ...]
    magnitudes: grid.Magnitudes
    place: tuple[int, ...] | None = None
    value: float = 0.0


def _measure(chunk: Any) -> list[_Measured]:
    place = grid.first_not_finite(chunk) if chunk.dtype.kind == "f" else None
    if place is not None:
        nothing = grid.Magnitudes(chunk.size)
        return [_Measured(chunk.shape, nothing, place, float(chunk[place]))]
    return [_Measured(chunk.shape, grid.magnitudes(chunk))]


def _listed(found: Iterable[list[_Measured]]) -> list[_Measured]:
    return list(chain.from_iterable(found))


def _judged(found: Any, sizes: tuple[tuple[int, ...], ...], dtype: Any) -> Surveyed:
    """Return the grid of an array from the magnitudes of its chunks, in their grid."""
    if math.prod(map(sum, sizes)) == 0:
        raise ParameterError(f"array of shape {tuple(map(sum, sizes))}: must not be empty")
    starts = [np.cumsum([0, *along]).tolist() for along in sizes]
    bad = [
        (tuple(starts[axis][index[axis]] + i for axis, i in enumerate(one.place)), one.value)
        for index, one in np.ndenumerate(found)
        if one.place is not None
    ]
    if bad:
        place, value = min(bad, key=lambda each: each[0])
        raise grid.not_finite(value, place)
    whole = reduce(grid.Magnitudes.joined, (one.magnitudes for one in found.ravel()))
    return Surveyed(sizes, whole.exponent(dtype))
