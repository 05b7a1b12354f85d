"""Change files so that sizes and checksums still match.

The reader of this module follows the text of the format and does not call the codec's reader, so it
does not repeat a fault of that reader. Only the lists of tools of version 1 come from the codec.
"""

import zlib

from mmpcodec.format.tool_fields import BLOCKS_2, CODINGS_OF, EXACT_2, HEADER_TOOLS
from mmpcodec.tools import EXACT, TREES

FINE_LUMA, TURN_BYTES = 3, 3
PALETTE = 5
"""The number of the coding with which a palette begins."""

SWITCHES = {
    "fragment size": 2,
    "least squares": 1,
    "templates": 3,
    "dictionary": 1,
    "pdpc": 1,
    "trained start": 1,
    "earlier planes": 2,
    "dependent": 1,
    "ternary": 1,
    "fine contexts": 1,
    "step changes": 1,
    "trained transforms": 1,
    "derived modes": 1,
    "border sines": 1,
}
"""Bits of the tools in the number switches of predicted blocks 2, the lowest first."""


def number(value: int) -> bytes:
    """Encode an integer in the variable length of the format: 7 bits a byte, low bits first."""
    digits = []
    while value > 127:
        digits.append(128 + value % 128)
        value //= 128
    return bytes([*digits, value])


def low_bit(tool: str) -> int:
    """Return the number of the lowest bit of a tool in the switches."""
    names = list(SWITCHES)
    return sum(SWITCHES[name] for name in names[: names.index(tool)])


class Walk:
    """Reader of a file, field by field; ``places`` maps each field to its byte offset."""

    def __init__(self, data: bytes, place: int = 0):
        self.data = data
        self.place = place
        self.places: dict[str, int] = {}

    def number(self, name: str) -> int:
        self.places.setdefault(name, self.place)
        value = shift = 0
        while True:
            byte = self.data[self.place]
            self.place += 1
            value += (byte % 128) << shift
            shift += 7
            if byte < 128:
                return value

    def header(self) -> list[int]:
        """Read up to the CRC of the header; return the size of each tile in bytes."""
        self.place = 9
        self.number("form")
        if self.number("depth") > 16:
            for name in ("level bits", "first sample"):
                self.number(name)
        width, height = self.number("width"), self.number("height")
        size = self.number("tile size")
        self.later = self.data[8] == 2
        self.crcs = (4, 4)
        if self.later and 0 < size <= 256:
            self.crcs = (1, 1) if size < 128 else (2, 1)
        if self.later:
            self._later_fields()
        for _ in range(self.number("chunks")):
            self.number("kind")
            size_of_chunk = self.number("chunk size")
            self.place += size_of_chunk
        count = -(-width // size) * -(-height // size) if size else 1
        if count > len(self.data):
            raise IndexError(count)
        self.places["tile bytes"] = self.place
        if self.later and count > 1:
            return self._remainders(count)
        return [self.number(f"bytes of tile {tile}") for tile in range(count)]

    def _remainders(self, count: int) -> list[int]:
        """Read the sizes of several tiles of version 2."""
        self.bits = self.number("bits of tile bytes")
        first = 8 * self.place
        text = "".join(format(byte, "08b") for byte in self.data[self.place :])
        sizes, place = [], 0
        for _ in range(count):
            end = text.index("0", place)
            rest = text[end + 1 : end + 1 + self.bits]
            sizes.append(sum(self.crcs) + 1 + (end - place << self.bits) + int(rest or "0", 2))
            place = end + 1 + self.bits
        self.place = -(-(first + place) // 8)
        return sizes

    def _later_fields(self) -> None:
        """Read the fields of version 2 in the header."""
        if self.number("start"):
            self.places["name of the start"] = self.place
            self.place += 8
        first = dict(self.places)
        for _ in range(self.number("tool sets")):
            self._tools(BLOCKS_2)
        self.places = first | {"tool sets": self.places["tool sets"]}

    def _tools(self, coding: str) -> None:
        if coding == BLOCKS_2:
            has_trees = self.number("switches") >> low_bit("dictionary") & 1
            self.number("step")
            self.number("filter bank")
        elif coding == EXACT_2:
            self.number("switches")
            self.number("max error")
            has_trees = 0
        else:
            values = {tool.name: self.number(tool.title) for tool in HEADER_TOOLS.get(coding, ())}
            has_trees = values.get("dictionary", 0)
        if has_trees:
            for tool in HEADER_TOOLS[TREES]:
                self.number(tool.title)

    def layout(self) -> int:
        """Read the layout, and the turn of the colours if there is one."""
        layout = self.number("layout")
        if layout == FINE_LUMA:
            self.places["turn"] = self.place
            self.place += TURN_BYTES
        return layout

    def before_layers(self, form: int, later: bool) -> int:
        """Read what comes before the layers of a tile, and return how many layers follow."""
        layout = self.layout() if form else 0
        count = form + 1 if layout else 1
        if not later or self.data[self.place : self.place + 1] != bytes([PALETTE]):
            return count
        for name in ("coding", "switches"):
            self.number(name)
        if self.number("entries") % 2 == 0:
            count = form % 2  # alpha, if the form has it
        size = self.number("payload bytes") if count else len(self.data) - self.place
        self.places["payload"] = self.place
        self.place += size
        return count

    def layer(self, later: bool, last: bool) -> None:
        """Read a layer of a version up to its payload, which begins at ``place``."""
        coding = self.number("coding")
        codings = CODINGS_OF[2]
        if coding < len(codings):
            self._tools(codings[coding])
            has_filter = codings[coding] not in (EXACT, EXACT_2)
        else:
            if coding % 2:
                self.number("filter bank")
            has_filter = coding % 4 > 1
        if has_filter:
            self.places["post filter"] = self.place
            active = self.data[self.place]
            self.place += 1 + 6 * (active & 15).bit_count() + 12 * (active >> 4).bit_count()
        self.sized = not (later and last)
        if self.sized:
            self.payload_bytes = self.number("payload bytes")
        else:
            self.payload_bytes = len(self.data) - self.place
        self.places.setdefault("payload", self.place)


def places(data: bytes) -> dict[str, int]:
    """Return the byte offsets of the fields of the header and of the first layer or palette.

    Tiles of version 2 must have whole CRCs.
    """
    walk = Walk(data)
    walk.header()
    form = data[walk.places["form"]]
    walk.places["header CRC"] = walk.place
    walk.places["stream CRC"], walk.places["samples CRC"] = walk.place + 4, walk.place + 8
    walk.place += 12
    if count := walk.before_layers(form, walk.later):
        walk.layer(walk.later, count == 1)
    return walk.places


def repaired(data: bytes) -> bytes:
    """Return the file with sizes and checksums that match its bytes.

    A part that cannot be read stays as it is.
    """
    walk = Walk(data)
    try:
        sizes = walk.header()
    except (IndexError, ValueError):
        return data
    form, place = data[walk.places["form"]], walk.place + 4
    if len(sizes) == 1:
        sizes = [len(data) - place]
    tiles = []
    for size in sizes:
        tile = data[place : place + size]
        tiles.append(_repaired_tile(tile, form, walk.later, walk.crcs, len(sizes) == 1))
        place += size
    table = b"".join(number(len(tile)) for tile in tiles)
    if walk.later and len(tiles) > 1:
        table = data[walk.places["tile bytes"] : walk.place]  # no tile has another size
    head = data[: walk.places["tile bytes"]] + table
    rest = data[place:]
    if walk.later and len(tiles) > 1 and rest:
        rest = _trailer(data[8 : walk.places["chunks"]] + table)
    return head + zlib.crc32(head).to_bytes(4, "big") + b"".join(tiles) + rest


def _trailer(fields: bytes) -> bytes:
    """Return the trailer of these fields."""
    checked = fields + (len(fields) + 13).to_bytes(5, "big")
    return checked + zlib.crc32(checked).to_bytes(4, "big") + b"MMP\x1a"


def _repaired_tile(
    tile: bytes, form: int, later: bool, crcs: tuple[int, int], may_grow: bool
) -> bytes:
    crc = crcs[0]
    walk = Walk(tile, sum(crcs))
    try:
        count = walk.before_layers(form, later)
        for left in reversed(range(count)):
            walk.layer(later, left == 0)
            walk.place += walk.payload_bytes
        if may_grow and count and walk.sized:
            walk.place -= walk.payload_bytes
            own = len(number(walk.payload_bytes))
            rest = tile[walk.place :]
            tile = tile[: walk.place - own] + number(len(rest)) + rest
    except IndexError:
        pass  # only the checksum can be repaired
    return zlib.crc32(tile[crc:]).to_bytes(4, "big")[-crc:] + tile[crc:]


def with_number(data: bytes, name: str, value: int) -> bytes:
    """Return the file with another value for a number of the header or of the first layer."""
    place = places(data)[name]
    walk = Walk(data, place)
    walk.number(name)
    return repaired(data[:place] + number(value) + data[walk.place :])


def with_switch(data: bytes, tool: str, value: int) -> bytes:
    """Return the file with another value for a tool in the switches of the first layer."""
    walk = Walk(data, places(data)["switches"])
    switches, low = walk.number("switches"), low_bit(tool)
    mask = (1 << SWITCHES[tool]) - 1
    return with_number(data, "switches", switches & ~(mask << low) | value << low)


def with_layout(data: bytes, layout: int) -> bytes:
    """Return a file with another layout, and with a turn if this layout has one."""
    found = places(data)
    turn = bytes(TURN_BYTES) if layout == FINE_LUMA else b""
    return repaired(data[: found["layout"]] + number(layout) + turn + data[found["coding"] :])


def with_size(data: bytes, height: int, width: int) -> bytes:
    """Return the file with another height and width in its header."""
    return with_number(with_number(data, "width", width), "height", height)


def cut(data: bytes, count: int) -> bytes:
    """Return the file with only the first ``count`` bytes of its last payload."""
    return repaired(data[: places(data)["payload"] + count])
