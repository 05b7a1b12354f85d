"""The container: magic, header, metadata, tiles. Source: section "Container" of the format.

What a tile holds is left to ``layers``.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from mmpcodec.depth import MAX_DEPTH
from mmpcodec.errors import BadMagic, CorruptStream, TruncatedStream, UnsupportedVersion
from mmpcodec.format import chunks
from mmpcodec.format.numbers import CRC_BYTES, Fields, number
from mmpcodec.format.tiles import Tile, tile_count, tiles_of
from mmpcodec.metadata import Metadata
from mmpcodec.params import MAX_TILE_SIZE, MIN_TILE_SIZE
from mmpcodec.samples import MAX_DIMENSION, Form

MAGIC = b"\x89MMP\r\n\x1a\n"
VERSION = 1
LEAST_TILE_BYTES = 10
"""Of the shortest tile that a file can name: two checksums, a coding and a payload of no bytes."""
SECTION = "Container"


@dataclass(frozen=True)
class Header:
    """What a file says of its picture before the first tile.

    Parameters
    ----------
    width, height : int
        In pixels.
    form : Form
    depth : int
        Bits of a sample.
    tile_size : int
        Height and width of tiles; 0 where there is one.
    metadata : Metadata
    tile_bytes : tuple of int
        Bytes of each tile.
    size : int
        Bytes of the file before the first tile.
    """

    width: int
    height: int
    form: Form = Form.GRAY
    depth: int = 8
    tile_size: int = 0
    metadata: Metadata = field(default_factory=Metadata)
    tile_bytes: tuple[int, ...] = ()
    size: int = 0
    version: int = VERSION

    @property
    def planes(self) -> int:
        """Samples of a pixel."""
        return self.form.planes

    @property
    def white(self) -> int:
        """The level that is shown as white."""
        return (1 << self.depth) - 1 if self.metadata.white is None else self.metadata.white

    @cached_property
    def tiles(self) -> tuple[Tile, ...]:
        """Where the tiles lie in the picture, in the order of the file."""
        return tuple(tiles_of(self.height, self.width, self.tile_size))

    @cached_property
    def tile_offsets(self) -> tuple[int, ...]:
        """Where each tile begins in the file, and last where the file ends."""
        return tuple(accumulate(self.tile_bytes, initial=self.size))


def write_header(header: Header) -> bytes:
    """All that comes before the first tile; ``size`` of the header has no part."""
    fields = [
        header.form,
        header.depth,
        header.width,
        header.height,
        header.tile_size,
    ]
    checked = b"".join(
        [
            MAGIC,
            bytes([VERSION]),
            *map(number, fields),
            chunks.write(header.metadata),
            *map(number, header.tile_bytes),
        ]
    )
    return checked + zlib.crc32(checked).to_bytes(CRC_BYTES, "big")


def write(header: Header, tiles: Sequence[bytes]) -> bytes:
    """A whole file; the header's ``tile_bytes`` are those of the tiles."""
    return b"".join([write_header(header), *tiles])


def read_header(data: memoryview) -> Header:
    """The header of a file, after every check that needs no tile.

    Raises
    ------
    FormatError
        The subclass says what is wrong, the message which field, value and range.
    """
    fields = Fields(data, SECTION)
    if not data:
        raise TruncatedStream(SECTION, "file is empty", 0)
    magic = bytes(data[: len(MAGIC)])
    if magic != MAGIC[: len(magic)]:
        raise BadMagic(SECTION, f"magic is {magic.hex(' ')}, not {MAGIC.hex(' ')}", 0)
    fields.bytes("magic", len(MAGIC))
    version = fields.fixed("version", 1)
    if version != VERSION:
        reason = "; files of version 0 were never meant to last" if version == 0 else ""
        raise UnsupportedVersion(
            SECTION, f"version is {version}, allowed is {VERSION}{reason}", len(MAGIC)
        )
    form = Form(fields.number("form", 0, len(Form) - 1))
    depth = fields.number("depth", 1, MAX_DEPTH)
    width = fields.number("width", 1, MAX_DIMENSION)
    height = fields.number("height", 1, MAX_DIMENSION)
    at = fields.offset
    tile_size = fields.number("tile size", 0, MAX_TILE_SIZE)
    if 0 < tile_size < MIN_TILE_SIZE:
        raise CorruptStream(
            SECTION,
            f"tile size is {tile_size}, allowed is 0 or {MIN_TILE_SIZE} to {MAX_TILE_SIZE}",
            at,
        )
    metadata = chunks.read(fields, depth)
    count = tile_count(height, width, tile_size)
    left = len(data) - fields.place
    if count > left:
        raise TruncatedStream(
            SECTION, f"only {left} bytes for the sizes of {count} tiles", len(data)
        )
    tile_bytes = tuple(fields.number("tile bytes", LEAST_TILE_BYTES) for _ in range(count))
    checked = data[: fields.place]
    at = fields.offset
    stored, computed = fields.fixed("header CRC", CRC_BYTES), zlib.crc32(checked)
    if stored != computed:
        raise CorruptStream(SECTION, f"header CRC is {stored:08x}, header has {computed:08x}", at)
    return Header(
        width, height, form, depth, tile_size, metadata, tile_bytes, fields.place, version
    )


def check_size(header: Header, data: memoryview) -> None:
    """Check that a file ends where its last tile does.

    Raises
    ------
    TruncatedStream, CorruptStream
    """
    end = header.tile_offsets[-1]
    if len(data) < end:
        raise cut_at(len(data), end)
    if len(data) > end:
        raise CorruptStream(SECTION, f"{len(data) - end} bytes follow the last tile", end)


def cut_at(size: int, end: int) -> TruncatedStream:
    """The error of a file of some size that ends before what should end at a place."""
    return TruncatedStream(SECTION, f"file has {size} of {end} bytes", size)
