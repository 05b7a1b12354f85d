"""Files as a header, tiles and a trailer; ``layers`` reads and writes the content of a tile.

Source: section "Container" of ``docs/format/format.md``.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from mmpcodec.depth import BYTE, MAX_DEPTH
from mmpcodec.errors import (
    BadMagic,
    CorruptStream,
    FormatError,
    TruncatedStream,
    UnsupportedVersion,
)
from mmpcodec.format import chunks
from mmpcodec.format.numbers import CRC_BYTES, Fields, number, remainders
from mmpcodec.format.tiles import Area, Tile, tile_count, tiles_of
from mmpcodec.format.tool_fields import read_tools, write_tools
from mmpcodec.metadata import Metadata
from mmpcodec.params import MAX_TILE_SIZE, MIN_TILE_SIZE
from mmpcodec.samples import MAX_DIMENSION, Form, shape_of
from mmpcodec.tools import BLOCK_TOOLS, BlockTools

MAGIC = b"\x89MMP\r\n\x1a\n"
VERSION = 3
"""The byte after the magic; 0 to 2 were drafts of the format, which no release wrote."""
MMP_SUFFIX = ".mmp"
"""Suffix of the names of mmp files."""
SECTION = "Container"
TOOL_SETS_SECTION = "Tool sets"
CRC_BYTES_BELOW = ((128, (1, 1)), (257, (2, 1)))
"""Tile sizes, and the bytes that tiles below such a size have of both CRCs.

The first number is of the stream CRC, the second of the samples CRC. Larger tiles have whole CRCs.
"""
TRAILER_SECTION = "Trailer"
TRAILER_MAGIC = b"MMP\x1a"
TRAILER_SIZE_BYTES = 5
TRAILER_END_BYTES = TRAILER_SIZE_BYTES + CRC_BYTES + len(TRAILER_MAGIC)
"""Bytes at the end of a file by which a decoder finds the trailer: its size, CRC and magic."""
MOST_TOOL_SETS = 16
MOST_BORDER_STEP = BLOCK_TOOLS["step"].high
LEVELS = 16
"""Is added to the depth of a picture whose coded levels are not its samples."""


@dataclass(frozen=True)
class Header:
    """Header of a file.

    Parameters
    ----------
    width, height : int
        Size of the picture in pixels.
    form : Form
    depth : int
        Bits of a sample.
    tile_size : int
        Height and width of a tile in pixels; 0 if the whole picture is one tile.
    metadata : Metadata
    tile_bytes : tuple of int
        Size of each tile in bytes.
    size : int
        Size of the header in bytes.
    tool_sets : tuple of BlockTools
        Tools that layers name by their number, without post filter.
    level_bits : int
        Bits of a coded level, fewer than ``depth``; 0 if levels are the samples themselves.
    first : int
        Sample that the coded level 0 stands for; 0 if levels are the samples themselves.
    border_step : int
        Quantisation step by which the border filter smooths between tiles, in 1/16 of a gray level
        of 8 bits; 0 if it is off, as in files of one tile.
    trailer : bytes
        What the file has after its last tile: the header again, without metadata. Empty in files of
        one tile, and in headers that were not read from a file.
    """

    width: int
    height: int
    form: Form = Form.GRAY
    depth: int = 8
    tile_size: int = 0
    metadata: Metadata = field(default_factory=Metadata)
    tile_bytes: tuple[int, ...] = ()
    size: int = 0
    tool_sets: tuple[BlockTools, ...] = ()
    level_bits: int = 0
    first: int = 0
    border_step: int = 0
    trailer: bytes = field(default=b"", repr=False, compare=False)

    @property
    def level_depth(self) -> int:
        """Bits of a coded level: those of a sample, where no other number is given."""
        return self.level_bits or self.depth

    @cached_property
    def of_levels(self) -> "Header":
        """Header of the picture whose samples are the coded levels."""
        if not self.level_bits:
            return self
        return replace(self, depth=self.level_bits, level_bits=0, first=0)

    @property
    def crc_bytes(self) -> tuple[int, int]:
        """Number of bytes that a tile has of its stream CRC and of its samples CRC."""
        for size, count in CRC_BYTES_BELOW:
            if 0 < self.tile_size < size:
                return count
        return CRC_BYTES, CRC_BYTES

    def stream_crc(self, crc: int) -> bytes:
        """Return the bytes that a tile has of its stream CRC: the lowest ones."""
        return crc.to_bytes(CRC_BYTES, "big")[-self.crc_bytes[0] :]

    def samples_crc(self, crc: int) -> bytes:
        """Return the bytes that a tile has of its samples CRC: the lowest ones."""
        return crc.to_bytes(CRC_BYTES, "big")[-self.crc_bytes[1] :]

    @property
    def least_tile_bytes(self) -> int:
        """Bytes of the smallest tile: two CRCs and a coding."""
        return sum(self.crc_bytes) + 1

    @property
    def planes(self) -> int:
        """Number of samples of a pixel."""
        return self.form.planes

    def shape_of(self, area: Area) -> tuple[int, ...]:
        """Return the shape of the array of samples of an area."""
        return shape_of(area.height, area.width, self.planes)

    @property
    def white(self) -> int:
        """Sample that is shown as white."""
        return (1 << self.depth) - 1 if self.metadata.white is None else self.metadata.white

    @cached_property
    def tiles(self) -> tuple[Tile, ...]:
        """Position and size of the tiles in the picture, in the order of the file."""
        return tuple(tiles_of(self.height, self.width, self.tile_size))

    @cached_property
    def tile_offsets(self) -> tuple[int, ...]:
        """Byte offset of each tile in the file, then the end of the last tile.

        Offsets are below 0 if the header is the trailer's, and the front of the file is missing.
        """
        return tuple(accumulate(self.tile_bytes, initial=self.size))

    @property
    def file_bytes(self) -> int:
        """Bytes of the whole file."""
        return self.tile_offsets[-1] + len(self.trailer)


def write_header(header: Header) -> bytes:
    """Serialise a header; its ``size`` is ignored."""
    checked = b"".join(
        [MAGIC, _first_fields(header), chunks.write(header.metadata), _tile_bytes(header)]
    )
    return checked + zlib.crc32(checked).to_bytes(CRC_BYTES, "big")


def with_sizes(header: Header, tile_bytes: tuple[int, ...]) -> Header:
    """Return a header with the sizes of its tiles, its own size and its trailer."""
    header = replace(header, tile_bytes=tile_bytes)
    return replace(header, size=len(write_header(header)), trailer=write_trailer(header))


def write_trailer(header: Header) -> bytes:
    """Serialise what follows the last tile: the header again, in files of several tiles."""
    if len(header.tile_bytes) < 2:
        return b""
    return _trailer_of(_first_fields(header), _tile_bytes(header))


def _trailer_of(first_fields: bytes, tile_bytes: bytes) -> bytes:
    size = len(first_fields) + len(tile_bytes) + TRAILER_END_BYTES
    checked = b"".join([first_fields, tile_bytes, size.to_bytes(TRAILER_SIZE_BYTES, "big")])
    return checked + zlib.crc32(checked).to_bytes(CRC_BYTES, "big") + TRAILER_MAGIC


def _first_fields(header: Header) -> bytes:
    """Return the fields from the version up to the metadata."""
    levels = LEVELS + header.depth, header.level_bits, header.first
    depth = levels if header.level_bits else (header.depth,)
    tiles = (header.tile_size, header.border_step) if header.tile_size else (0,)
    fields = header.form, *depth, header.width, header.height, *tiles
    sets = number(len(header.tool_sets)), *map(write_tools, header.tool_sets)
    return b"".join([bytes([VERSION]), *map(number, fields), *sets])


def _tile_bytes(header: Header) -> bytes:
    """Return the field tile bytes: several sizes have fewer bits than a number."""
    sizes = header.tile_bytes
    if len(sizes) == 1:
        return b"".join(map(number, sizes))
    return remainders([size - header.least_tile_bytes for size in sizes])


def _read_tile_bytes(fields: Fields, header: Header, total: int) -> tuple[int, ...]:
    """Read the sizes of the tiles of a file of ``total`` bytes, after a look at their number."""
    count = tile_count(header.height, header.width, header.tile_size)
    left = len(fields.data) - fields.place
    if count > 8 * left:
        raise TruncatedStream(
            fields.section,
            f"only {left} bytes for the sizes of {count} tiles",
            fields.start + len(fields.data),
        )
    least = header.least_tile_bytes
    # The sizes can have one bit each, but take some 60 bytes of memory.
    if count * least > total:
        raise TruncatedStream(
            fields.section,
            f"file has {total} bytes, its {count} tiles have at least {count * least}",
            total,
        )
    if count == 1:
        return (fields.number("tile bytes", least),)
    return tuple(least + more for more in fields.remainders("tile bytes", count))


def write(header: Header, tiles: Sequence[bytes]) -> bytes:
    """Join a header and its tiles to a file; ``header.tile_bytes`` has the sizes of the tiles."""
    return b"".join([write_header(header), *tiles, write_trailer(header)])


def read_header(
    data: memoryview, total: int | None = None, faults: list[FormatError] | None = None
) -> Header:
    """Read and check the header of a file.

    Parameters
    ----------
    data : memoryview
        The file, or a beginning of it that contains the header.
    total : int or None
        Number of bytes of the file; None if ``data`` is the file.
    faults : list of FormatError or None
        Gets the errors that cost metadata only, and that of the header's CRC, instead of raising
        them. The CRCs of the tiles then say whether the header is right.

    Raises
    ------
    BadMagic, UnsupportedVersion, TruncatedStream, CorruptStream
        The message names the field, its value, the allowed range and the byte offset.
    """
    fields = Fields(data, SECTION)
    if not data:
        raise TruncatedStream(SECTION, "file is empty", 0)
    magic = bytes(data[: len(MAGIC)])
    if magic != MAGIC[: len(magic)]:
        raise BadMagic(SECTION, f"magic is {magic.hex(' ')}, not {MAGIC.hex(' ')}", 0)
    fields.bytes("magic", len(MAGIC))
    header = _read_first_fields(fields)
    first = bytes(data[len(MAGIC) : fields.place])
    if faults is None:
        metadata = chunks.read(fields, header.depth)
    else:
        metadata = chunks.read_good(fields, header.depth, faults)
    at = fields.place
    total = len(data) if total is None else total
    tile_bytes = _read_tile_bytes(fields, header, total)
    checked = data[: fields.place]
    trailer = b""
    if len(tile_bytes) > 1:
        trailer = _trailer_of(first, bytes(checked[at:]))
    at = fields.offset
    stored, computed = fields.fixed("header CRC", CRC_BYTES), zlib.crc32(checked)
    if stored != computed:
        text = f"header CRC is {stored:08x}, header has {computed:08x}"
        error = CorruptStream(SECTION, text, at)
        if faults is None:
            raise error
        faults.append(error)
    return replace(
        header, metadata=metadata, tile_bytes=tile_bytes, size=fields.place, trailer=trailer
    )


def trailer_bytes(end: memoryview, total: int) -> int:
    """Return the size of the trailer of a file of ``total`` bytes, from the file's last bytes.

    Raises
    ------
    CorruptStream, TruncatedStream
        If no trailer ends there.
    """
    magic = bytes(end[-len(TRAILER_MAGIC) :])
    if magic != TRAILER_MAGIC or len(end) < TRAILER_END_BYTES:
        text = f"the file ends with {magic.hex(' ')}, a trailer with {TRAILER_MAGIC.hex(' ')}"
        raise CorruptStream(TRAILER_SECTION, text, total - len(magic))
    size = int.from_bytes(end[-TRAILER_END_BYTES:][:TRAILER_SIZE_BYTES], "big")
    if not TRAILER_END_BYTES < size <= total:
        text = f"trailer has {size} bytes, allowed is {TRAILER_END_BYTES + 1} to {total}"
        raise CorruptStream(TRAILER_SECTION, text, total - TRAILER_END_BYTES)
    return size


def read_trailer(data: memoryview, total: int) -> Header:
    """Read and check the trailer of a file of ``total`` bytes.

    Parameters
    ----------
    data : memoryview
        The trailer, of the size that ``trailer_bytes`` returned.
    total : int
        Number of bytes of the file.

    Returns
    -------
    Header
        Without metadata. Its tiles end where the trailer begins.

    Raises
    ------
    UnsupportedVersion, TruncatedStream, CorruptStream
    """
    start = total - len(data)
    stored = int.from_bytes(data[-len(TRAILER_MAGIC) - CRC_BYTES : -len(TRAILER_MAGIC)], "big")
    computed = zlib.crc32(data[: -len(TRAILER_MAGIC) - CRC_BYTES])
    if stored != computed:
        text = f"trailer CRC is {stored:08x}, trailer has {computed:08x}"
        raise CorruptStream(TRAILER_SECTION, text, total - len(TRAILER_MAGIC) - CRC_BYTES)
    fields = Fields(data[:-TRAILER_END_BYTES], TRAILER_SECTION, start)
    header = _read_first_fields(fields)
    tile_bytes = _read_tile_bytes(fields, header, total)
    if fields.place < len(fields.data) or len(tile_bytes) < 2:
        text = "is of several tiles, and has no bytes after tile bytes"
        raise CorruptStream(TRAILER_SECTION, f"trailer breaks the rule: it {text}", fields.offset)
    return replace(header, tile_bytes=tile_bytes, size=start - sum(tile_bytes), trailer=bytes(data))


def _read_first_fields(fields: Fields) -> Header:
    """Read the fields from the version up to the metadata."""
    at = fields.offset
    version = fields.fixed("version", 1)
    if version != VERSION:
        what = "a draft of the format, which no release wrote: encode the picture again"
        if version > VERSION:
            what = "a newer format: a newer mmpcodec decodes it"
        raise UnsupportedVersion(
            SECTION, f"version is {version}, allowed is {VERSION}; the file is of {what}", at
        )
    form = Form(fields.number("form", 0, len(Form) - 1))
    depth, level_bits, first = _read_depth(fields, form)
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
    border_step = fields.number("border step", 0, MOST_BORDER_STEP) if tile_size else 0
    tool_sets = _read_tool_sets(fields)
    return Header(
        width,
        height,
        form,
        depth,
        tile_size,
        tool_sets=tool_sets,
        level_bits=level_bits,
        first=first,
        border_step=border_step,
    )


def _read_depth(fields: Fields, form: Form) -> tuple[int, int, int]:
    """Read depth, level bits and first sample; the latter two are 0 if levels are samples."""
    at = fields.offset
    depth = fields.number("depth", 1, LEVELS + MAX_DEPTH)
    if depth <= MAX_DEPTH:
        return depth, 0, 0
    if depth <= LEVELS + BYTE or form.has_alpha:
        allowed = "16" if form.has_alpha else f"16, and {LEVELS + BYTE + 1} to {LEVELS + MAX_DEPTH}"
        raise CorruptStream(
            SECTION, f"depth is {depth}, allowed for {form.title} is 1 to {allowed}", at
        )
    depth -= LEVELS
    level_bits = fields.number("level bits", BYTE, depth - 1)
    return depth, level_bits, fields.number("first sample", 0, (1 << depth) - (1 << level_bits))


def _read_tool_sets(fields: Fields) -> tuple[BlockTools, ...]:
    fields.section = TOOL_SETS_SECTION
    count = fields.number("number of tool sets", 0, MOST_TOOL_SETS)
    sets = tuple(read_tools(fields, BlockTools) for _ in range(count))
    fields.section = SECTION
    return sets


def check_end(header: Header, end: memoryview, size: int) -> None:
    """Check that a file of ``size`` bytes ends with its last tile and its trailer.

    Parameters
    ----------
    header : Header
    end : memoryview
        Bytes of the file from ``header.tile_offsets[-1]`` on, or as many as the trailer has.
    size : int

    Raises
    ------
    TruncatedStream
        If the file is shorter.
    CorruptStream
        If the trailer differs from the header, or bytes follow.
    """
    if size < header.file_bytes:
        raise cut_at(size, header.file_bytes)
    last = header.tile_offsets[-1]
    if len(end) < len(header.trailer):  # the file shrank after its size was read
        raise cut_at(last + len(end), header.file_bytes)
    if end[: len(header.trailer)] != header.trailer:
        raise CorruptStream(TRAILER_SECTION, "trailer differs from the header", last)
    if size > header.file_bytes:
        what = "the trailer" if header.trailer else "the last tile"
        text = f"{size - header.file_bytes} bytes follow {what}"
        raise CorruptStream(SECTION, text, header.file_bytes)


def cut_at(size: int, end: int) -> TruncatedStream:
    """Make the error for a file of ``size`` bytes that needs ``end`` bytes."""
    return TruncatedStream(SECTION, f"file has {size} of {end} bytes", size)
