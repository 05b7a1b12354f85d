"""Encoding of pictures larger than memory, tile by tile."""

from operator import attrgetter
from typing import Any, BinaryIO

from mmpcodec.backends import DeviceLike
from mmpcodec.codec.devices import devices_for
from mmpcodec.codec.encoding import Encoding
from mmpcodec.codec.tiles.tile_file import write_tiles
from mmpcodec.codec.tiles.tile_groups import TileCoder, samples_in
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
    depth: int | None = None,
    metadata: Metadata | None = None,
    device: DeviceLike | None = None,
    backend: str = "auto",
    progress: Progress | None = None,
    **options: Any,
) -> Encoding:
    """Encode a picture tile by tile; the file equals the one that ``encode`` returns.

    A few tiles are in memory at once.

    Parameters
    ----------
    reader : Reader
    file : binary stream
        Receives the file; need not be seekable.
    params : EncodeParams
    depth : int or None
        Bits per sample; None takes the reader's.
    metadata : Metadata or None
        None takes the reader's.
    device, backend, progress
        See ``EncodeOptions``.
    **options
        ``tile_size``, 64 to 2**24, ``threads`` and ``roi``; see ``EncodeOptions``.

    Raises
    ------
    MmpError
        The errors of ``encode`` and of the reader.
    """
    check_progress(progress)
    backend, devices = devices_for(backend, device, ())
    header, coder = TileCoder.of_reader(
        reader, params, depth, metadata, backend=backend, devices=devices, **options
    )
    pixels = GROUP_PIXELS * max(len(devices.numbers), 1)
    groups = list(grouped(header.tiles, attrgetter("pixels"), pixels))
    parts = in_turn(progress, [coder.fragments(group) for group in groups])
    found = (
        coder(samples_in(reader, group), part) for group, part in zip(groups, parts, strict=True)
    )
    return write_tiles(file, header, coder, found)
