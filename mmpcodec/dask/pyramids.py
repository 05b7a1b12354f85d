"""OME-Zarr images with several levels, whose chunks are coded as mmp files."""

import contextlib
import errno
import math
import os
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any, Unpack

import numpy as np

from mmpcodec import pictures
from mmpcodec.checks import check_int
from mmpcodec.codec.tiles.reduction import reduced_depth, reduced_side
from mmpcodec.dask.in_flight import load
from mmpcodec.dask.writing import checked_array, name_of
from mmpcodec.errors import FileError, ParameterError, PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.options import CodecOptions, written_out
from mmpcodec.params import check_tile_size
from mmpcodec.pictures.limits import damage_reported
from mmpcodec.pictures.mmp import MmpReader
from mmpcodec.pictures.ome_zarr import (
    OWN,
    axes_of,
    check_store,
    checked_axes,
    image_metadata,
    level_of,
)
from mmpcodec.runtime import stores
from mmpcodec.runtime.arrays import as_array
from mmpcodec.runtime.files import is_zarr, placed_whole
from mmpcodec.samples import MOST_BITS

CODEC = "mmp"
"""Name of the codec, by which zarr finds ``plugins.zarr.MmpCodec``."""
MOST_LEVELS = 24
_PART_LIMITS = DecodeLimits(max_samples=1 << 40)
BLOCK_SIDE = 2048
"""Height and width of the blocks of a task, in pixels, if tiles are not larger."""


@written_out
def to_ome_zarr(
    source: Any,
    path: str | os.PathLike[str],
    *,
    lam: float | None = None,
    levels: int | None = None,
    tile_size: int = 512,
    metadata: Metadata | None = None,
    depth: int | None = None,
    **options: Unpack[CodecOptions],
) -> None:
    """Write an OME-Zarr image (version 0.5, zarr 3) with levels of halving size.

    The other options are those of ``plugins.zarr.MmpCodec``.

    Each chunk is an mmp file, so a reader needs mmpcodec, whose codec zarr finds by its entry
    point. Level 0 has the samples. A sample of another level is the mean of 2x2 samples of the
    level before, rounded to the nearest integer, halves up; at the right and at the bottom it may
    be the mean of two samples, or one. With loss, means are of the samples before their coding.
    Levels that an mmp file holds already (``mmp encode --levels``) are taken as they are, also
    those with loss of a picture without; means are made for further ones only.

    Between two levels, the means lie in a temporary array in the store.

    Parameters
    ----------
    source : dask.array.Array, or path
        An array as for ``to_mmp``, or a picture that ``pictures.opened`` reads.
    path : path or URL
        The store. A path appears when it is complete and replaces a store of the same name. A URL
        is written in place.
    lam : float or None
        As in ``mmpcodec.encode``; None, without another option of the rate, is lossless.
    levels : int or None
        Number of levels, 1 to 24. None adds levels until one fits into a chunk.
    tile_size : int
        Height and width of chunks in pixels, 64 to 2**24. All planes are in a chunk.
    metadata : Metadata or None
        Its resolution becomes the scale, in micrometres; nothing else is kept. None takes that of a
        picture.
    depth : int or None
        Bits per sample; None takes those of the picture or the type.

    Raises
    ------
    ParameterError
        If the array or an option is not supported.
    PictureError
        If the picture cannot be read.
    FileError
        If the store cannot be written, or the path is that of a file or of another folder.
    MissingExtra
        If Dask or zarr is not installed.

    Examples
    --------
    >>> import dask.array, mmpcodec.dask
    >>> slide = dask.array.zeros((4000, 3000), dtype="uint8", chunks=1000)
    >>> mmpcodec.dask.to_ome_zarr(slide, "slide.zarr")                  # doctest: +SKIP
    >>> mmpcodec.dask.from_ome_zarr("slide.zarr", level=2).shape        # doctest: +SKIP
    (1000, 750)
    """
    zarr, name = load("zarr", "to_ome_zarr"), name_of(path)
    if check_tile_size(tile_size) == 0:
        raise ParameterError("tile_size = 0: must be from 64 to 16777216")
    array, resolution, own = _opened(source, metadata)
    if depth is None and own not in (8, 16) and array.dtype != bool:
        depth = own
    codec = load("zarr.registry", "to_ome_zarr").get_codec_class(CODEC)(lam, depth=depth, **options)
    count = _levels(array.shape, tile_size) if levels is None else levels
    count = check_int("levels", count, 1, MOST_LEVELS)
    of_file = _levels_of_file(source)
    with _placed(name) as place:
        group = zarr.open_group(place, mode="w", zarr_format=3)
        for level in range(count):
            array = array.rechunk(_block_sides(array.shape, tile_size))
            stored = _level(zarr, group, str(level), array, tile_size, codec, own)
            sources, targets = [_planes_first(array)], [stored]
            following = of_file.get(level + 1)
            if level + 1 < count and following is None:
                smaller = halved(array)
                exact = _exact(group, level + 1, smaller, tile_size)
                sources.append(smaller)
                targets.append(exact)
                following = _dask_array(exact, exact.chunks)
            load("dask.array", "to_ome_zarr").store(sources, targets, lock=False)
            if _exact_name(level) in group:
                del group[_exact_name(level)]
            array = following
        paths = [str(level) for level in range(count)]
        first = group["0"]
        shape = first.shape if first.ndim == 2 else (*first.shape[1:], first.shape[0])
        group.attrs["ome"] = image_metadata(shape, own, resolution, paths)


def from_ome_zarr(path: str | os.PathLike[str], level: int = 0) -> Any:
    """Return a level of an OME-Zarr image as a Dask array, whose chunks are those of the store.

    Parameters
    ----------
    path : path or URL
        An image of any program, with axes y and x, perhaps c, and others of length 1. A single
        array of zarr has level 0.
    level : int
        0 is the full size.

    Returns
    -------
    dask.array.Array
        (H, W), or (H, W, C) if the image has an axis c.

    Raises
    ------
    PictureError
        If the store holds no such image or level.
    ParameterError
        If the level is not an integer from 0 up.
    MissingExtra
        If Dask or zarr is not installed.
    """
    zarr, name = load("zarr", "from_ome_zarr"), name_of(path)
    level, axes = check_int("level", level, 0), None
    check_store(name)
    with damage_reported(name):
        node = zarr.open(store=name, mode="r", storage_options=stores.zarr_options(name))
        if isinstance(node, zarr.Group):
            node, axes = level_of(node, level, name)
        elif level:
            raise PictureError(f"{name}: is a single array, of level 0, not {level}")
        axes = checked_axes(node, axes, name)
    array = load("dask.array", "from_ome_zarr").from_array(node, chunks=node.chunks)
    array = array[tuple(slice(None) if axis in ("y", "x", "c") else 0 for axis in axes)]
    kept = [axis for axis in axes if axis in ("y", "x", "c")]
    return array.transpose([kept.index(axis) for axis in ("y", "x", "c") if axis in kept])


def halved(array: Any) -> Any:
    """Return the means of 2x2 samples of a Dask array; all its chunks but the last are even."""
    chunks = tuple(
        tuple(-(-side // 2) for side in axis) if number < 2 else axis
        for number, axis in enumerate(array.chunks)
    )
    return array.map_blocks(means, dtype=array.dtype, chunks=chunks)


def means(samples: np.ndarray) -> np.ndarray:
    """Return the means of 2x2 samples, of fewer at odd ends; halves are rounded up.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of bool, uint8 or uint16

    Returns
    -------
    array of ceil(H / 2) x ceil(W / 2) pixels, of the same type

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.dask.pyramids import means
    >>> means(np.array([[0, 1, 10], [0, 1, 11]], np.uint8)).tolist()
    [[1, 11]]
    """
    height, width = samples.shape[:2]
    sums = samples[::2].astype(np.uint32)
    sums[: height // 2] += samples[1::2]
    both = sums[:, ::2].copy()
    both[:, : width // 2] += sums[:, 1::2]
    rows = np.where(np.arange(both.shape[0]) < height // 2, 2, 1)
    columns = np.where(np.arange(both.shape[1]) < width // 2, 2, 1)
    counts = np.multiply.outer(rows, columns).astype(np.uint32)
    counts = counts.reshape(counts.shape + (1,) * (samples.ndim - 2))
    return ((both + counts // 2) // counts).astype(samples.dtype)


class PictureArray:
    """A picture file as an array whose parts are read when they are asked for.

    Parameters
    ----------
    name : str
        Path or URL, the same for all processes that read.
    """

    def __init__(self, name: str):
        self.name = name
        with pictures.opened(name) as reader:
            self.shape, self.depth, self.metadata = reader.shape, reader.depth, reader.metadata
        self.dtype = np.dtype(np.uint8 if self.depth <= 8 else np.uint16)
        self.ndim = len(self.shape)

    def __getitem__(self, index: tuple[slice, ...]) -> np.ndarray:
        with pictures.opened(self.name, limits=_PART_LIMITS) as reader:
            return reader.read(*index[:2])


class LevelArray:
    """A level of an mmp file as an array whose parts are read when they are asked for.

    Parameters
    ----------
    reader : MmpReader
        Of the picture; it goes to the processes that read.
    factor : int
        By which the level is smaller.
    """

    def __init__(self, reader: MmpReader, factor: int):
        self._reader, self._factor = reader, factor
        sides = (reduced_side(side, factor) for side in reader.shape[:2])
        self.shape = (*sides, *reader.shape[2:])
        self.dtype, self.ndim = reader.dtype, reader.ndim

    def __getitem__(self, index: tuple[slice, ...]) -> np.ndarray:
        sides = zip(index[:2], self.shape, self._reader.shape, strict=False)
        (y, height), (x, width) = (self._span(*each) for each in sides)
        return self._reader.scaled(Fraction(1, self._factor), (x, y, width, height)).samples

    def _span(self, part: slice, side: int, of_picture: int) -> tuple[int, int]:
        """Return the first pixel of the picture, and the number of pixels, of a part of a level."""
        start, stop, _ = part.indices(side)
        first = start * self._factor
        return first, min(stop * self._factor, of_picture) - first


def _opened(source: Any, metadata: Metadata | None) -> tuple[Any, Any, int]:
    """Return the array, resolution and depth of a source."""
    if not isinstance(source, (str, os.PathLike)):
        array = checked_array(source)
        if array.ndim == 3 and array.shape[2] == 1:
            array = array[..., 0]
        # Chunks may be masked although the array does not say so.
        array = array.map_blocks(partial(as_array, "array"), dtype=array.dtype, meta=array._meta)
        return array, metadata and metadata.resolution, MOST_BITS[array.dtype.newbyteorder("=")]
    found = PictureArray(stores.absolute(os.fspath(source)))
    array = _dask_array(found, _picture_chunks(found.shape))
    return array, (metadata or found.metadata).resolution, found.depth


def _levels_of_file(source: Any) -> dict[int, Any]:
    """Return the levels that an mmp file holds, by their numbers in the store, as Dask arrays."""
    if not isinstance(source, (str, os.PathLike)):
        return {}
    with pictures.opened(stores.absolute(os.fspath(source)), limits=_PART_LIMITS) as reader:
        if not isinstance(reader, MmpReader):
            return {}
        if reduced_depth(reader.depth, reader.metadata) != reader.depth:
            return {}
        factors = [scale.denominator for scale in reader.scales]
    own = MmpReader(reader.name, limits=_PART_LIMITS, keep_open=False)
    numbers = [level for level in range(1, MOST_LEVELS) if 1 << level in factors]
    levels = {level: LevelArray(own, 1 << level) for level in numbers}
    return {level: _dask_array(one, _picture_chunks(one.shape)) for level, one in levels.items()}


def _dask_array(found: Any, chunks: Any) -> Any:
    return load("dask.array", "to_ome_zarr").from_array(found, chunks=chunks, name=False)


def _picture_chunks(shape: tuple[int, ...]) -> tuple[int, ...]:
    return BLOCK_SIDE, BLOCK_SIDE, *shape[2:]


def _levels(shape: tuple[int, ...], tile_size: int) -> int:
    return 1 + max(0, math.ceil(math.log2(max(shape[:2]) / tile_size)))


def _block_sides(shape: tuple[int, ...], tile_size: int) -> tuple[int, ...]:
    """Return the sides of blocks of whole chunks, whose halves are whole chunks too."""
    side = max(1, BLOCK_SIDE // (2 * tile_size)) * 2 * tile_size
    return side, side, *shape[2:]


def _chunk(shape: tuple[int, ...], tile_size: int) -> tuple[int, ...]:
    return min(tile_size, shape[0]), min(tile_size, shape[1]), *shape[2:]


def _planes_first(array: Any) -> Any:
    return array.transpose(2, 0, 1) if array.ndim == 3 else array


def _level(
    zarr: Any, group: Any, name: str, array: Any, tile_size: int, codec: Any, depth: int
) -> Any:
    """Make the array of a level; the codec gets chunks with their planes last."""
    rows, columns, *planes = _chunk(array.shape, tile_size)
    filters = [zarr.codecs.TransposeCodec(order=(1, 2, 0))] if planes else None
    return group.create_array(
        name,
        shape=(*planes, *array.shape[:2]),
        chunks=(*planes, rows, columns),
        dtype=array.dtype.newbyteorder("="),
        filters=filters,
        serializer=codec,
        compressors=None,
        dimension_names=axes_of(array.shape),
        attributes={OWN: {"depth": depth}},
    )


def _exact_name(level: int) -> str:
    return f"exact-{level}"


def _exact(group: Any, level: int, array: Any, tile_size: int) -> Any:
    """Make the temporary array of the exact means of a level."""
    chunks = _chunk(array.shape, tile_size)
    dtype = array.dtype.newbyteorder("=")
    return group.create_array(_exact_name(level), shape=array.shape, chunks=chunks, dtype=dtype)


@contextlib.contextmanager
def _placed(name: str) -> Iterator[str]:
    if stores.is_url(name):
        yield name
        return
    if os.path.lexists(name) and not is_zarr(name):
        raise FileError.because(errno.EEXIST, name, "exists, and is no zarr store to replace")
    try:
        with placed_whole(name) as part:
            yield part
    except OSError as error:
        raise FileError.from_os(name, error) from error
