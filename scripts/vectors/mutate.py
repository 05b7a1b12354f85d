"""Ways to take files apart and to damage them so that the damage gets past the checksums.

Written from ``docs/format.md`` alone, so that a fault of the codec's own reader is not repeated.
"""

import zlib

BLOCK_TOOLS = ("fragment size", "least squares", "templates", "step", "dictionary")
TREE_TOOLS = (
    "partition",
    "index classes",
    "flag contexts",
    "copy radius",
    "dictionary limit",
    "displaced blocks",
    "redundancy radius",
    "replacement",
)


def number(value: int) -> bytes:
    """A number of the format."""
    digits = []
    while value > 127:
        digits.append(128 + value % 128)
        value //= 128
    return bytes([*digits, value])


class Walk:
    """Reads a file field by field and remembers where each one is."""

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
        """All to the header's CRC; gives the bytes of the tiles."""
        self.place = 9
        for name in ("form", "depth"):
            self.number(name)
        width, height = self.number("width"), self.number("height")
        size = self.number("tile size")
        for _ in range(self.number("chunks")):
            self.number("kind")
            size_of_chunk = self.number("chunk size")
            self.place += size_of_chunk
        count = -(-width // size) * -(-height // size) if size else 1
        if count > len(self.data):
            raise IndexError(count)
        self.places["tile bytes"] = self.place
        return [self.number(f"bytes of tile {tile}") for tile in range(count)]

    def layer(self) -> None:
        """All to the payload, which begins at ``place``."""
        coding = self.number("coding")
        tools = {0: TREE_TOOLS, 1: BLOCK_TOOLS}.get(coding, ())
        values = {name: self.number(name) for name in tools}
        if values.get("dictionary"):
            for name in TREE_TOOLS:
                self.number(name)
        if coding != 2:
            self.places["post filter"] = self.place
            active = self.data[self.place]
            self.place += 1 + 6 * active.bit_count()
        self.payload_bytes = self.number("payload bytes")
        self.places.setdefault("payload", self.place)


def places(data: bytes) -> dict[str, int]:
    """Where the fields of the header and of the first layer of the first tile are."""
    walk = Walk(data)
    walk.header()
    form = data[walk.places["form"]]
    walk.places["header CRC"] = walk.place
    walk.places["stream CRC"], walk.places["samples CRC"] = walk.place + 4, walk.place + 8
    walk.place += 12
    if form:
        walk.number("layout")
    walk.layer()
    return walk.places


def repaired(data: bytes) -> bytes:
    """The file with sizes and checksums that fit its bytes; what is beyond repair unchanged."""
    walk = Walk(data)
    try:
        sizes = walk.header()
    except IndexError:
        return data
    form, place = data[walk.places["form"]], walk.place + 4
    if len(sizes) == 1:
        sizes = [len(data) - place]
    tiles = []
    for size in sizes:
        tiles.append(_repaired_tile(data[place : place + size], form, len(sizes) == 1))
        place += size
    table = b"".join(number(len(tile)) for tile in tiles)
    head = data[: walk.places["tile bytes"]] + table
    return head + zlib.crc32(head).to_bytes(4, "big") + b"".join(tiles) + data[place:]


def _repaired_tile(tile: bytes, form: int, may_grow: bool) -> bytes:
    walk = Walk(tile, 8)
    try:
        layout = walk.number("layout") if form else 0
        for _ in range(form if layout else 0):
            walk.layer()
            walk.place += walk.payload_bytes
        walk.layer()
        if may_grow:
            own = len(number(walk.payload_bytes))
            rest = tile[walk.place :]
            tile = tile[: walk.place - own] + number(len(rest)) + rest
    except IndexError:
        pass  # the checksum is all that can be mended
    return zlib.crc32(tile[4:]).to_bytes(4, "big") + tile[4:]


def with_number(data: bytes, name: str, value: int) -> bytes:
    """The file with another value of a number of the header or of the first layer."""
    place = places(data)[name]
    walk = Walk(data, place)
    walk.number(name)
    return repaired(data[:place] + number(value) + data[walk.place :])


def with_size(data: bytes, height: int, width: int) -> bytes:
    """The file with another height and width in its header."""
    return with_number(with_number(data, "width", width), "height", height)


def cut(data: bytes, count: int) -> bytes:
    """The file with so many bytes of its last payload."""
    return repaired(data[: places(data)["payload"] + count])
