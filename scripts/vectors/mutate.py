"""Change files so that sizes and checksums still match.

The reader is that of the independent decoder, so it does not repeat a fault of the codec's reader.
Only the bits of the switches come from the codec.
"""

import sys
from pathlib import Path

from mmpcodec.format.tool_fields import SWITCHES
from mmpcodec.tools import BLOCK_TOOLS

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from independent.file import FINE_LUMA, TURN_BYTES, Reader, crc_of, header, number, tile, trailer

BITS = {BLOCK_TOOLS[name].title: bits for name, bits in SWITCHES.items()}
"""Bits of the tools in the number switches of predicted blocks, the lowest first."""


def low_bit(tool: str) -> int:
    """Return the number of the lowest bit of a tool in the switches."""
    names = list(BITS)
    return sum(BITS[name] for name in names[: names.index(tool)])


def places(data: bytes) -> dict[str, int]:
    """Return the byte offsets of the fields of the header and of the first layer or palette."""
    reader = Reader(data)
    file, sizes = header(reader)
    reader.take(4, "header CRC")
    start = reader.position
    own = Reader(data[start : start + sizes[0]])
    tile(own, file)
    return reader.places | {name: start + place for name, place in own.places.items()}


def numbered(data: bytes, place: int) -> tuple[int, int]:
    """Return the number at an offset, and the offset of its end."""
    reader = Reader(data)
    reader.position = place
    return reader.number("number"), reader.position


def repaired(data: bytes) -> bytes:
    """Return the file with sizes and checksums that match its bytes.

    A file whose header cannot be read, or ends it, stays as it is; tiles keep their sizes if there
    are several.
    """
    reader = Reader(data)
    try:
        file, sizes = header(reader)
    except ValueError:
        return data
    start = place = reader.position + 4
    if start > len(data):
        return data
    if len(sizes) == 1:
        sizes = [len(data) - start]
    tiles = []
    for size in sizes:
        checked = data[place : place + size][file.crcs[0] :]
        tiles.append(crc_of(checked)[-file.crcs[0] :] + checked)
        place += size
    before = reader.places["tile bytes"]
    table = number(sizes[0]) if len(sizes) == 1 else data[before : reader.position]
    head, rest = data[:before] + table, data[place:]
    if rest:
        rest = trailer(data[8 : reader.places["chunks"]] + table)
    return b"".join([head, crc_of(head), *tiles, rest])


def with_number(data: bytes, name: str, value: int) -> bytes:
    """Return the file with another value for a number of the header or of the first layer."""
    place = places(data)[name]
    _, end = numbered(data, place)
    return repaired(data[:place] + number(value) + data[end:])


def with_switch(data: bytes, tool: str, value: int) -> bytes:
    """Return the file with another value for a tool in the switches of the first layer."""
    switches, _ = numbered(data, places(data)["switches"])
    low = low_bit(tool)
    mask = (1 << BITS[tool]) - 1
    return with_number(data, "switches", switches & ~(mask << low) | value << low)


def with_layout(data: bytes, layout: int) -> bytes:
    """Return a file with another layout, and with a rotation if this layout has one."""
    found = places(data)
    rotation = bytes(TURN_BYTES) if layout == FINE_LUMA else b""
    return repaired(data[: found["layout"]] + number(layout) + rotation + data[found["coding"] :])


def with_size(data: bytes, height: int, width: int) -> bytes:
    """Return the file with another height and width in its header."""
    return with_number(with_number(data, "width", width), "height", height)


def cut(data: bytes, count: int) -> bytes:
    """Return the file with only the first ``count`` bytes of its last payload."""
    return repaired(data[: places(data)["payload"] + count])
