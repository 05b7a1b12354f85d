"""Dask arrays whose chunks are read from mmp files."""

import itertools
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mmpcodec.errors import MissingExtra, ParameterError, install
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures.mmp import MmpReader
from mmpcodec.pictures.mmp.stack import MmpStack

if TYPE_CHECKING:
    from dask.array import Array

LEAST_SIDE = 256
"""Least height and width, in pixels, of the chunks that are made by default. Smaller chunks cost
more tasks, and more openings of the file."""


def from_mmp(
    source: str | os.PathLike[str],
    *,
    page: int | Literal["all"] | None = None,
    chunks: Any = None,
    limits: DecodeLimits | None = None,
    backend: str = "auto",
) -> "Array":
    """Return a Dask array whose chunks are decoded from an mmp file when they are needed.

    Only the header is read now. A chunk decodes its own tiles, and of lossy files those beside it
    that are not kept any more, in one thread; it opens the file by
    its absolute path or URL, which all workers must reach.

    Parameters
    ----------
    source : path or str
        Path, or URL such as ``s3://bucket/name``, which fsspec opens.
    page : int, "all" or None
        Number of the picture of a file of several, from 1; None takes the only one. "all" takes all
        of them, which must have one size, form and depth.
    chunks : object or None
        Chunks as Dask takes them: a size, sizes of the axes, "auto", "64 MiB". Each is enlarged to
        whole tiles with all planes. None makes a chunk of each tile, or of several tiles if they
        are smaller than 256x256. Of all pictures, each chunk has one by default, and the tiles are
        those of the first.
    limits : DecodeLimits or None
        Limits of each chunk; None for the default limits. The picture may be larger.
    backend : {"auto", "cpu", "reference"}

    Returns
    -------
    (H, W) or (H, W, C) dask.array.Array; (N, H, W) or (N, H, W, C) of all pictures
        uint8 up to 8 bits per sample, else uint16. C is 2 for gray with alpha, 3 for RGB, 4 for RGB
        with alpha. Its name depends on path or URL, contents, chunks, limits and backend.
        ``pictures.opened(source)`` gives depth, level of white and other metadata.

    Raises
    ------
    PictureError
        If the file cannot be opened or its header is damaged, or for the first picture that
        differs. Computing a chunk raises it if a tile
        of the chunk is damaged, or if the file has changed meanwhile.
    ParameterError
        If chunks, limits or backend are not supported.
    MissingExtra
        If Dask, or a package that the URL needs, is not installed.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> from mmpcodec.dask import from_mmp
    >>> picture = np.arange(600 * 900).reshape(600, 900).astype(np.uint16)
    >>> mmpcodec.imwrite("tiled.mmp", picture, lam=0, tile_size=300)  # doctest: +SKIP
    >>> array = from_mmp("tiled.mmp")                                 # doctest: +SKIP
    >>> array.chunks, int(array[100:200, 250:350].max().compute())    # doctest: +SKIP
    (((300, 300), (300, 300, 300)), 65535)
    """
    try:
        import dask.array
        from dask.base import tokenize
    except ImportError as error:
        raise MissingExtra(f"from_mmp needs Dask; {install('cluster')}") from error
    options: Any = {"limits": limits, "backend": backend, "threads": 1}
    reader: MmpReader | MmpStack
    if page == "all":
        reader = MmpStack(source, **options)
    else:
        options |= {"page": page, "keep_open": False}
        reader = MmpReader(source, cache_bytes=0, **options)
        if reader.header.border_step:
            reader = MmpReader(source, **options)  # chunks side by side need each other's tiles
    cut = usual_chunks(reader) if chunks is None else _asked_chunks(chunks, reader)
    meta = np.empty((0,) * reader.ndim, reader.dtype)
    name = f"mmp-{tokenize(reader, cut)}"
    return dask.array.from_array(
        reader, chunks=cut, name=name, asarray=True, fancy=False, meta=meta
    )


Chunks = tuple[tuple[int, ...], ...]
"""Lengths of the chunks along each axis."""


def usual_chunks(reader: MmpReader | MmpStack) -> Chunks:
    """Return the chunks of a file that ``from_mmp`` makes by default."""
    least = (*((1,) if isinstance(reader, MmpStack) else ()), LEAST_SIDE, LEAST_SIDE, 1)
    return tuple(map(_whole_tiles, map(itertools.repeat, least), _tile_shape(reader), reader.shape))


def _asked_chunks(chunks: Any, reader: MmpReader | MmpStack) -> Chunks:
    """Return the chunks that are asked for, each enlarged to whole tiles."""
    from dask.array.core import normalize_chunks

    tiles = _tile_shape(reader)
    sides = 3 if isinstance(reader, MmpStack) else 2
    if isinstance(chunks, tuple | list) and len(chunks) == sides < reader.ndim:
        chunks = (*chunks, reader.shape[-1])
    try:
        asked = normalize_chunks(
            chunks, shape=reader.shape, dtype=reader.dtype, previous_chunks=tiles
        )
    except ZeroDivisionError as error:
        raise ParameterError(f"chunks = {chunks!r}: must be above 0") from error
    except (TypeError, ValueError, NotImplementedError) as error:
        raise ParameterError(f"chunks = {chunks!r}: {error}") from error
    return tuple(map(_whole_tiles, asked, tiles, reader.shape))


def _tile_shape(reader: MmpReader | MmpStack) -> tuple[int, ...]:
    """Return the shape of a tile; it is that of the picture if there is one tile."""
    if isinstance(reader, MmpStack):
        return (1, *_tile_shape(reader.pictures[0]))
    size = reader.header.tile_size
    return (size or reader.shape[0], size or reader.shape[1], *reader.shape[2:])


def _whole_tiles(lengths: Iterable[int], side: int, total: int) -> tuple[int, ...]:
    """Enlarge lengths along an axis to whole tiles, until they have the total of the axis."""
    found, place = [], 0
    for length in lengths:
        if place == total:
            break
        if length:
            stop = min(-(-(place + length) // side) * side, total)
            found.append(stop - place)
            place = stop
    return tuple(found)
