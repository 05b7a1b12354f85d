"""Write a Dask array as one mmp file; the chunks are coded where they lie."""

import math
import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from mmpcodec.codec.encoding import Encoding
from mmpcodec.codec.rate_control.targets import request_of
from mmpcodec.codec.sources import Kind
from mmpcodec.codec.tiles.tile_file import write_tiles
from mmpcodec.codec.tiles.tile_groups import CodedTiles, TileCoder
from mmpcodec.dask.in_flight import load, with_callers_dask
from mmpcodec.dask.tile_tasks import BLOCK_PIXELS, TileBlock
from mmpcodec.errors import FileError, ParameterError
from mmpcodec.format.container import Header
from mmpcodec.format.tiles import Area, tiles_touching
from mmpcodec.metadata import Metadata
from mmpcodec.options import TileOptions, written_out
from mmpcodec.params import check_progress
from mmpcodec.runtime import stores
from mmpcodec.runtime.arrays import is_masked
from mmpcodec.runtime.files import written_whole
from mmpcodec.runtime.progress import Progress
from mmpcodec.samples import MOST_BITS, Form

MOST_PIXELS = 1 << 24
"""Chunks with more pixels are cut."""


class Chunk(NamedTuple):
    """A chunk of the array, which is still to be computed, and its tiles."""

    block: TileBlock
    samples: Any


@written_out
def to_mmp(
    array: Any,
    path: str | os.PathLike[str],
    *,
    lam: float | None = None,
    depth: int | None = None,
    metadata: Metadata | None = None,
    tile_size: int = 512,
    backend: str = "auto",
    threads: int | None = 1,
    progress: Progress | None = None,
    **options: Unpack[TileOptions],
) -> Encoding:
    """Encode a Dask array as one mmp file, equal to that of ``mmpcodec.encode`` for the samples.

    Chunks are coded by the scheduler that the caller's Dask is set up with: threads, processes or
    a cluster. Only coded tiles come to this process, and few of them are in flight, so the array
    may be larger than memory. Chunks of whole tiles with at most 2**24 pixels are coded as they
    are; others are cut and joined into chunks of about 2**22 pixels first.

    The other options are those of ``EncodeOptions``. Targets need the whole picture and are not
    offered. A quality computes the chunks with up to 256 areas of 32x32 pixels once more; a loss in
    samples of more than 8 bits computes all chunks once more, for the levels that they use.

    Parameters
    ----------
    array : dask.array.Array of bool, uint8 or uint16
        (H, W) or (H, W, C), C from 1 to 4, with chunks of known sizes.
    path : path or URL
        The file appears when it is complete; one of the same name is replaced.
    lam, depth, metadata
        As in ``mmpcodec.encode``.
    tile_size : int
        Height and width of tiles in pixels, 64 to 2**24; 0 codes the array as one tile, in the
        memory of one worker.
    backend, threads, progress
        As in ``EncodeOptions``, for each chunk.

    Returns
    -------
    Encoding
        Header, size, distortion and statistics of the file.

    Raises
    ------
    ParameterError
        If the array or an option is not supported.
    FileError
        If the file cannot be written.
    MissingExtra
        If Dask is not installed.
    MmpError
        The errors of ``mmpcodec.encode``. An error of a graph of the caller is raised as it is.

    Examples
    --------
    >>> import dask.array, mmpcodec, mmpcodec.dask
    >>> slide = dask.array.zeros((4000, 3000), dtype="uint8", chunks=1000)
    >>> found = mmpcodec.dask.to_mmp(slide, "slide.mmp", lam=30)       # doctest: +SKIP
    >>> mmpcodec.inspect(open("slide.mmp", "rb").read()).header.width   # doctest: +SKIP
    3000
    """
    check_progress(progress)
    name = name_of(path)
    params, target = request_of(lam, **options)
    if target is not None:
        raise ParameterError(
            f"option 'target_{target.name}': a target needs the whole picture, which no process "
            "holds; give lam or quality"
        )
    array = checked_array(array)
    depth = MOST_BITS[array.dtype] if depth is None else depth

    def parts_of(parts: Sequence[tuple[slice, slice]]) -> Sequence[np.ndarray]:
        return load("dask", "to_mmp").compute(*(array[part] for part in parts))

    kind = Kind(array.shape, depth, metadata or Metadata())
    header, coder = TileCoder.of(
        kind, params, parts_of, tile_size=tile_size, backend=backend, threads=threads
    )
    array = array.rechunk(chunks_of(array.chunks, header))
    delayed = load("dask", "to_mmp").delayed

    def task_of(chunk: Chunk) -> Any:
        # Arguments of a delayed call would be searched for collections.
        return delayed(partial(code_chunk, coder, chunk.block), pure=False)(chunk.samples)

    found = with_callers_dask(_chunks(array, header), task_of)
    written = stores.written_whole if stores.is_url(name) else written_whole
    try:
        with written(name) as file:
            return write_tiles(file, header, coder, found, progress)
    except FileError:
        raise
    except OSError as error:
        raise FileError.from_os(name, error) from error


def name_of(path: Any, argument: str = "path") -> str:
    """Return the name that a path or URL of an argument has.

    Raises
    ------
    ParameterError
        If it is neither.
    """
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"{argument} of type {type(path).__name__}: must be a path or a URL")
    return stores.without_file(os.fspath(path))


def code_chunk(coder: TileCoder, block: TileBlock, samples: Any) -> CodedTiles:
    """Code the tiles of a chunk."""
    return coder((tile, samples[tile.within(block.bounds).slices]) for tile in block.tiles)


def checked_array(array: Any) -> Any:
    """Return an array as one of Dask that can be coded.

    Raises
    ------
    ParameterError
        If its shape or type is not supported, it is masked, or the sizes of its chunks are unknown.
    MissingExtra
        If Dask is not installed.
    """
    array = load("dask.array", "mmpcodec.dask").asarray(array)
    if is_masked(array._meta):
        raise ParameterError("array: masked arrays are not supported; pass the unmasked values")
    shaped = array.ndim == 2 or (array.ndim == 3 and 1 <= array.shape[2] <= len(Form))
    if not shaped or array.dtype.newbyteorder("=") not in MOST_BITS or 0 in array.shape:
        raise ParameterError(
            f"array of shape {array.shape} and type {array.dtype}: supported are (height, width) "
            "and (height, width, 1 to 4) of bool, uint8 or uint16 with at least one pixel"
        )
    if any(math.isnan(side) for side in array.shape):
        raise ParameterError(
            f"array of shape {array.shape}: must have known sizes; compute_chunk_sizes() finds them"
        )
    return array


def chunks_of(chunks: tuple[tuple[int, ...], ...], header: Header) -> tuple[Any, ...]:
    """Return the chunks with which an array is coded: those that it has, or blocks of tiles."""
    if header.tile_size == 0:
        return tuple((sum(axis),) for axis in chunks)
    rows, columns, *planes = chunks
    whole = all(side % header.tile_size == 0 for axis in (rows, columns) for side in axis[:-1])
    if not whole or max(rows) * max(columns) > MOST_PIXELS:
        side = max(1, math.isqrt(BLOCK_PIXELS) // header.tile_size) * header.tile_size
        return side, side, *(sum(axis) for axis in planes)
    return rows, columns, *((sum(axis),) for axis in planes)


def _chunks(array: Any, header: Header) -> Iterator[Chunk]:
    """Yield the chunks of an array in raster order."""
    tasks = array.to_delayed()
    y = 0
    for row, height in enumerate(array.chunks[0]):
        x = 0
        for column, width in enumerate(array.chunks[1]):
            area = Area(x, y, width, height)
            tiles = tiles_touching(area, header.height, header.width, header.tile_size)
            yield Chunk(TileBlock(tuple(tiles)), tasks[(row, column, *(0,) * (array.ndim - 2))])
            x += width
        y += height
