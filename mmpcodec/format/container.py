"""Files as a header and tiles; ``layers`` reads and writes the content of a tile.

Source: section "Container" of ``docs/format/format.md``.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from mmpcodec.depth import BYTE, MAX_DEPTH
from mmpcodec.errors import BadMagic, CorruptStream, TruncatedStream, UnsupportedVersion
from mmpcodec.format import chunks
from mmpcodec.format.numbers import CRC_BYTES, Fields, number, remainders
from mmpcodec.format.tiles import Tile, tile_count, tiles_of
from mmpcodec.format.tool_fields import BLOCKS_2, read_tools, write_tools
from mmpcodec.metadata import Metadata
from mmpcodec.params import MAX_TILE_SIZE, MIN_TILE_SIZE
from mmpcodec.samples import MAX_DIMENSION, Form
from mmpcodec.tools import VERSIONS, Tools

MAGIC = b"\x89MMP\r\n\x1a\n"
MMP_SUFFIX = ".mmp"
"""Suffix of the names of mmp files."""
SECTION = "Container"
TOOL_SETS_SECTION = "Tool sets"
CRC_BYTES_BELOW = ((128, (1, 1)), (257, (2, 1)))
"""Tile sizes, and the bytes that tiles of version 2 below such a size have of both CRCs.

The first number is of the stream CRC, the second of the samples CRC. Larger tiles have whole CRCs.
"""
MOST_TOOL_SETS = 16
LEVELS = 16
"""Is added to the depth of a picture whose coded levels are not its samples."""
START_NAME_BYTES = 8


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
    version : int
        Version of the format.
    tool_sets : tuple of Tools
        Tools that layers of version 2 name by their number, without post filter.
    start : bytes
        Name of the start of the layers with *trained start*; empty for the built-in start.
    level_bits : int
        Bits of a coded level, fewer than ``depth``; 0 if levels are the samples themselves.
    first : int
        Sample that the coded level 0 stands for; 0 if levels are the samples themselves.
    """

    width: int
    height: int
    form: Form = Form.GRAY
    depth: int = 8
    tile_size: int = 0
    metadata: Metadata = field(default_factory=Metadata)
    tile_bytes: tuple[int, ...] = ()
    size: int = 0
    version: int = VERSIONS[0]
    tool_sets: tuple[Tools, ...] = ()
    start: bytes = b""
    level_bits: int = 0
    first: int = 0

    @property
    def level_depth(self) -> int:
        """Bits of a coded level: those of a sample, where no other number is given."""
        return self.level_bits or self.depth

    @cached_property
    def of_levels(self) -> "Header":
        """Header of the picture whose samples are the coded levels."""
        return (
            replace(self, depth=self.level_bits, level_bits=0, first=0) if self.level_bits else self
        )

    @property
    def crc_bytes(self) -> tuple[int, int]:
        """Number of bytes that a tile has of its stream CRC and of its samples CRC."""
        for size, count in CRC_BYTES_BELOW:
            if self.version > 1 and 0 < self.tile_size < size:
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
        """Bytes of the smallest tile: two CRCs, a coding and, in version 1, a payload's size."""
        return sum(self.crc_bytes) + (1 if self.version > 1 else 2)

    @property
    def planes(self) -> int:
        """Number of samples of a pixel."""
        return self.form.planes

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
        """Byte offset of each tile in the file, then the size of the file."""
        return tuple(accumulate(self.tile_bytes, initial=self.size))


def write_header(header: Header) -> bytes:
    """Serialise a header; its ``size`` is ignored."""
    levels = [LEVELS + header.depth, header.level_bits, header.first]
    fields = [
        header.form,
        *(levels if header.level_bits else [header.depth]),
        header.width,
        header.height,
        header.tile_size,
    ]
    checked = b"".join(
        [
            MAGIC,
            bytes([header.version]),
            *map(number, fields),
            *(_later_fields(header) if header.version > 1 else ()),
            chunks.write(header.metadata),
            _tile_bytes(header),
        ]
    )
    return checked + zlib.crc32(checked).to_bytes(CRC_BYTES, "big")


def _tile_bytes(header: Header) -> bytes:
    """Return the field tile bytes: several sizes of version 2 have fewer bits than a number."""
    sizes = header.tile_bytes
    if header.version == 1 or len(sizes) == 1:
        return b"".join(map(number, sizes))
    return remainders([size - header.least_tile_bytes for size in sizes])


def _read_tile_bytes(fields: Fields, header: Header, count: int) -> tuple[int, ...]:
    least = header.least_tile_bytes
    if header.version == 1 or count == 1:
        return tuple(fields.number("tile bytes", least) for _ in range(count))
    return tuple(least + more for more in fields.remainders("tile bytes", count))


def _later_fields(header: Header) -> list[bytes]:
    """Return the fields of version 2: the name of the start, and the tool sets."""
    start = number(1) + header.start if header.start else number(0)
    sets = map(write_tools, header.tool_sets)
    return [start, number(len(header.tool_sets)), *sets]


def write(header: Header, tiles: Sequence[bytes]) -> bytes:
    """Join a header and its tiles to a file; ``header.tile_bytes`` has the sizes of the tiles."""
    return b"".join([write_header(header), *tiles])


def is_mmp_name(name: str) -> bool:
    """Return whether a name is that of an mmp file, in capitals or not."""
    return name.lower().endswith(MMP_SUFFIX)


def read_header(data: memoryview, total: int | None = None) -> Header:
    """Read and check the header of a file.

    Parameters
    ----------
    data : memoryview
        The file, or a beginning of it that contains the header.
    total : int or None
        Number of bytes of the file; None if ``data`` is the file.

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
    version = fields.fixed("version", 1)
    if version not in VERSIONS:
        reason = "; files of version 0 were never meant to last" if version == 0 else ""
        raise UnsupportedVersion(
            SECTION,
            f"version is {version}, allowed is {' or '.join(map(str, VERSIONS))}{reason}",
            len(MAGIC),
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
    start, tool_sets = _read_later_fields(fields) if version > 1 else (b"", ())
    metadata = chunks.read(fields, depth)
    header = Header(
        width,
        height,
        form,
        depth,
        tile_size,
        metadata,
        version=version,
        tool_sets=tool_sets,
        start=start,
        level_bits=level_bits,
        first=first,
    )
    count = tile_count(height, width, tile_size)
    left = len(data) - fields.place
    if count > (left if version == 1 else 8 * left):
        raise TruncatedStream(
            SECTION, f"only {left} bytes for the sizes of {count} tiles", len(data)
        )
    least = count * header.least_tile_bytes
    total = len(data) if total is None else total
    # The sizes of version 2 can have one bit each, but take some 60 bytes of memory.
    if version > 1 and least > total:
        raise TruncatedStream(
            SECTION, f"file has {total} bytes, its {count} tiles have at least {least}", total
        )
    tile_bytes = _read_tile_bytes(fields, header, count)
    checked = data[: fields.place]
    at = fields.offset
    stored, computed = fields.fixed("header CRC", CRC_BYTES), zlib.crc32(checked)
    if stored != computed:
        raise CorruptStream(SECTION, f"header CRC is {stored:08x}, header has {computed:08x}", at)
    return replace(header, tile_bytes=tile_bytes, size=fields.place)


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


def _read_later_fields(fields: Fields) -> tuple[bytes, tuple[Tools, ...]]:
    """Read the fields of version 2: the name of the start, and the tool sets."""
    start = b""
    if fields.number("start", 0, 1):
        start = bytes(fields.bytes("name of the start", START_NAME_BYTES))
    fields.section = TOOL_SETS_SECTION
    count = fields.number("number of tool sets", 0, MOST_TOOL_SETS)
    sets = tuple(Tools(**read_tools(fields, BLOCKS_2), post_filter=False) for _ in range(count))
    fields.section = SECTION
    return start, sets


def check_size(header: Header, size: int) -> None:
    """Check that a file of ``size`` bytes ends with its last tile.

    Raises
    ------
    TruncatedStream
        If the file is shorter.
    CorruptStream
        If bytes follow the last tile.
    """
    end = header.tile_offsets[-1]
    if size < end:
        raise cut_at(size, end)
    if size > end:
        raise CorruptStream(SECTION, f"{size - end} bytes follow the last tile", end)


def cut_at(size: int, end: int) -> TruncatedStream:
    """Make the error for a file of ``size`` bytes that needs ``end`` bytes."""
    return TruncatedStream(SECTION, f"file has {size} of {end} bytes", size)
