"""Kept JPEG files: the file of a tile, what it says of its picture, and its samples.

Source: section "Kept JPEG files" of ``docs/format/format.md``.
"""

import zlib
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from mmpcodec.backends import jpeg as jpegs
from mmpcodec.codec.limits.memory import memory_to_decode
from mmpcodec.codec.limits.work import check_memory, check_seconds
from mmpcodec.codec.tile_coding import LayerCoding
from mmpcodec.errors import (
    CorruptStream,
    FormatError,
    PictureError,
    UnreadableJpeg,
)
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.jpeg import CODING, SECTION, KeptJpeg, most_level_bytes
from mmpcodec.format.layers import TileStream
from mmpcodec.limits import DEFAULT_LIMITS, DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import picture_of
from mmpcodec.opening.header import read_header
from mmpcodec.runtime.files import Source
from mmpcodec.runtime.machine import processors
from mmpcodec.samples import Form, Samples

READER = "mmpcodec.pictures.compressed.jpeg"
"""The module that reads JPEG files. It stands above the codec, beside the readers of all other
formats, and is found by its name as these are: see ``pictures.registry``."""
CODING_BYTE = bytes([CODING])
NAME = "JPEG file"
"""Name of a kept JPEG file among the layers of a file, and in messages."""


def coding_of(kept: KeptJpeg, backend: str = "", tile: int = 0) -> LayerCoding:
    """Describe a kept JPEG file as a layer; see ``LayerCoding``."""
    return LayerCoding(
        NAME,
        kept.tools,
        len(kept.payload),
        tile=tile,
        backend=backend,
        jpeg_bytes=kept.file_bytes,
    )


def is_kept(source: Source, header: Header) -> bool:
    """Return whether the file of a picture is a kept JPEG file; its tile may be damaged."""
    place = place_of_coding(header)
    return not header.tile_size and bytes(source[place : place + 1]) == CODING_BYTE


def keeps_jpeg(source: Source, page: int | None, limits: DecodeLimits) -> bool:
    """Return whether a picture of an mmp file is a kept JPEG file; its tile may be damaged.

    Raises
    ------
    FormatError, NoSuchPage
        If its header cannot be read, or there is no such picture.
    """
    picture = picture_of(source, page, limits)
    return is_kept(picture, read_header(picture))


def place_of_coding(header: Header) -> int:
    """Return the place of the first coding, or palette, in the file of a picture."""
    place = header.tile_offsets[0] + sum(header.crc_bytes) + (header.form is not Form.GRAY)
    return max(0, place)


def stream_of(source: Source, header: Header) -> TileStream:
    """Read the only tile of a picture.

    Raises
    ------
    FormatError
        If it is damaged.
    """
    start, end = header.tile_offsets[:2]
    if end > len(source):
        raise container.cut_at(len(source), end)
    return layers.read(source[start:end], start, header)


def file_of(
    stream: TileStream, header: Header, *, backend: str = "cpu", threads: int | None = None
) -> bytes:
    """Return the JPEG file of a tile.

    Raises
    ------
    TruncatedStream, CorruptStream
        If the payload does not decode to the file that its CRC is of.
    """
    assert stream.jpeg is not None
    most = most_level_bytes(header.width, header.height)
    found = jpegs.decode(stream.jpeg, most, backend=backend, threads=threads)
    computed = zlib.crc32(found)
    if computed != stream.samples_crc:
        text = f"samples CRC is {stream.samples_crc:08x}, the JPEG file has {computed:08x}"
        raise CorruptStream(layers.SECTION, text, header.tile_offsets[0] + header.crc_bytes[0])
    return found


def check_work(
    stream: TileStream,
    header: Header,
    size: int,
    limits: DecodeLimits,
    threads: int | None = None,
) -> None:
    """Compare what rebuilding a JPEG file from ``size`` bytes can take with the limits.

    Raises
    ------
    LimitExceeded
        If time or memory are above.
    """
    streams = [(header.tiles[0], stream)]
    check_seconds(streams, header, size, limits.seconds_for(size))
    at_once = threads or processors()
    check_memory(memory_to_decode(streams, header.depth, header.planes, 0, at_once), limits)


def samples_of(data: bytes, header: Header) -> Samples:
    """Return the samples of a JPEG file as Pillow decodes them.

    Raises
    ------
    UnreadableJpeg
        If Pillow cannot, or the picture is not that of the header.
    """
    most = DecodeLimits(4 * header.width * header.height, max(header.width, header.height))
    said = import_module(READER).size_of(data)
    if (header.width, header.height) == (1, 1) != said:
        raise _unreadable("the file does not hold the picture of {}x{} of its frame".format(*said))
    picture = _read(data, most)
    shape = header.shape_of(header.tiles[0])
    if picture.samples.shape != shape:
        fault = f"its picture is {_size(picture.samples)}, the header says {header.form.title} of "
        raise _unreadable(f"{fault}{header.width}x{header.height}")
    samples: Samples = picture.samples
    return samples


def _size(samples: np.ndarray) -> str:
    height, width, *planes = samples.shape
    return f"{'RGB' if planes else 'gray'} of {width}x{height}"


def _read(data: bytes, limits: DecodeLimits) -> Any:
    reader: Any = import_module(READER)
    try:
        return reader.read_kept(data, NAME, limits)
    except PictureError as error:
        raise _unreadable(str(error).removeprefix(f"{NAME}: ")) from None


def _unreadable(reason: str) -> UnreadableJpeg:
    text = f"the samples of this kept JPEG file cannot be read: {reason}; decoded to a name with "
    return UnreadableJpeg(SECTION, f"{text}the suffix .jpg, it is whole")


def with_metadata(header: Header, source: Source, limits: DecodeLimits = DEFAULT_LIMITS) -> Header:
    """Return a header with the metadata of the JPEG file that its picture keeps, if it does.

    Metadata of the header itself counts instead. Of a file that is damaged or beyond the limits
    there are none: decoding it raises the error.
    """
    if header.metadata != Metadata() or not is_kept(source, header):
        return header
    try:
        stream = stream_of(source, header)
        if stream.jpeg is None:
            return header
        check_work(stream, header, len(source), limits)
        most = most_level_bytes(header.width, header.height)
        front = jpegs.decode_front(stream.jpeg, most, backend="cpu")
    except FormatError:
        return header
    return replace(header, metadata=import_module(READER).metadata_of(front, NAME))
