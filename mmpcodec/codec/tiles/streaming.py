"""Encoding of pictures larger than memory, tile by tile."""

from operator import attrgetter
from typing import Any, BinaryIO

from mmpcodec.backends import DeviceLike
from mmpcodec.codec.devices import devices_for
from mmpcodec.codec.tiles.tile_file import LargeEncoding, TileFile
from mmpcodec.codec.tiles.tile_groups import TileCoder, prepared, samples_in
from mmpcodec.format.tiles import grouped
from mmpcodec.metadata import Metadata
from mmpcodec.params import EncodeParams, check_progress
from mmpcodec.picture import Reader
from mmpcodec.runtime.progress import Progress, in_turn

GROUP_PIXELS = 1 << 24
"""Most pixels of the tiles that are in memory at once for each device; a larger tile is alone."""


def encode_large(
    reader: Reader,
    file: BinaryIO,
    params: EncodeParams,
    *,
    tile_size: int,
    depth: int | None = None,
    metadata: Metadata | None = None,
    backend: str = "auto",
    device: DeviceLike | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    roi: Any = None,
) -> LargeEncoding:
    """Encode a picture tile by tile; the file equals the one that ``encode`` returns.

    A few tiles are in memory at once. Coded tiles go to a temporary file first, because the file
    begins with their sizes.

    Parameters
    ----------
    reader : Reader
    file : binary stream
        Receives the file; need not be seekable.
    params : EncodeParams
    tile_size : int
        Height and width of tiles, 64 to 2**24.
    depth : int or None
        Bits per sample; None takes the reader's.
    metadata : Metadata or None
        None takes the reader's.
    backend, device, threads, progress, roi
        See ``encode``.

    Returns
    -------
    LargeEncoding

    Raises
    ------
    MmpError
        The errors of ``encode`` and of the reader.
    """
    check_progress(progress)
    backend, devices = devices_for(backend, device, ())
    header, params = prepared(
        reader.shape,
        reader.depth if depth is None else depth,
        reader.metadata if metadata is None else metadata,
        tile_size,
        params,
        lambda parts: [reader.read(*part) for part in parts],
        roi,
        backend,
    )
    coder = TileCoder.of(header, params, backend, threads, devices, roi)
    pixels = GROUP_PIXELS * max(len(devices.numbers), 1)
    groups = list(grouped(header.tiles, attrgetter("pixels"), pixels))
    shares = [coder.fragments(group) for group in groups]
    with TileFile(header, params.lam) as coded:
        for group, part in zip(groups, in_turn(progress, shares), strict=True):
            coded.add(coder(samples_in(reader, group), part))
        return coded.write(file)
