"""Selection along an axis of a Dask array: each chunk holds whole lines; see ``selection``."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mmpcodec.dask import rounds
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of
from mmpcodec.solvers.selection.statistics import Statistic


def along(array: Any, asked: Statistic, axis: int, nan: str, solve: Callable[..., Any]) -> Any:
    """Return the answers for each line along an axis as a Dask array.

    Parameters
    ----------
    array : dask.array.Array
    asked : Statistic
    axis : int
    nan : str
    solve : callable
        The function of ``mmpcodec.solvers.selection``, which takes a chunk, ``axis`` and ``nan``.

    Raises
    ------
    ParameterError
        When there is no such axis, a line lacks a rank, or the axis cannot be rechunked.
    """
    if not -array.ndim <= axis < array.ndim:
        raise ParameterError(f"axis = {axis}: array of shape {array.shape} has no such axis")
    axis %= array.ndim
    if array.numblocks[axis] > 1:
        if any(math.isnan(size) for size in array.shape):
            raise ParameterError(
                f"axis = {axis}: is in {array.numblocks[axis]} chunks, and sizes of chunks are "
                "unknown; call array.compute_chunk_sizes()"
            )
        sizes: dict[int, Any] = dict.fromkeys(range(array.ndim), "auto")
        array = array.rechunk({**sizes, axis: -1})
    length = array.shape[axis]
    if not math.isnan(length) and (nan != "omit" or array.dtype.kind != "f"):
        asked.ranks(np.array([length]))
    number = asked.number if asked.several else None
    dtype = asked.result(np.dtype(array.dtype))
    chunks = array.chunks[:axis] + array.chunks[axis + 1 :]
    task = partial(_lines, solve=partial(solve, axis=axis, nan=nan), number=number, dtype=dtype)
    return array.map_blocks(
        task,
        axis=axis,
        chunks=chunks if number is None else ((number,), *chunks),
        drop_axis=axis,
        new_axis=None if number is None else 0,
        dtype=dtype,
        meta=module_of(array._meta).empty((0,) * (len(chunks) + (number is not None)), dtype),
    )


def _lines(
    chunk: Any, *, axis: int, solve: Callable[..., Any], number: int | None, dtype: np.dtype
) -> Any:
    """Return the answers for the lines of one chunk."""
    shape = chunk.shape[:axis] + chunk.shape[axis + 1 :]
    if 0 in shape:
        first = () if number is None else (number,)
        return module_of(chunk).empty(first + shape, dtype)
    return module_of(chunk).asarray(rounds.answer(chunk, solve))
