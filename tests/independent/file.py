"""The fields of a file: sections Container, Tiles, Layers and Tool sets of the text.

``parsed`` checks neither ranges of values nor checksums and the trailer; ``built`` computes the
latter, so these are right where ``built(parsed(data))`` is ``data``. The makers of damaged files
share this module with the decoder.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

MAGIC = bytes.fromhex("894D4D500D0A1A0A")
VERSION = 3
TREES, BLOCKS, LOSSLESS, PALETTE, JPEG = range(5)  # coding of a layer; where others begin
IN_SET = 8  # the first number of a coding that stands for a tool set
FINE_LUMA, TURN_BYTES = 3, 3
COEFFICIENTS = 6, 6, 6, 6, 12, 12  # of each bit of the field post filter
OWN_FIELDS: dict[int, tuple[str, ...]] = {  # of tools, without those of trees
    TREES: (),
    BLOCKS: ("switches", "step", "fixed filters"),
    LOSSLESS: ("lossless form", "max error"),
}
SWITCHES = (  # bits, values
    ("fragment size", 2, (16, 32, 64)),
    ("templates", 3, range(5)),
    ("dictionary", 1, range(2)),
    ("pdpc", 1, range(2)),
    ("initial states", 1, range(2)),
    ("cross component", 2, range(3)),
    ("dependent", 1, range(2)),
    ("ternary", 1, range(2)),
    ("fine contexts", 1, range(2)),
    ("delta step", 1, range(2)),
    ("trained transforms", 1, range(2)),
    ("border sines", 1, range(2)),
    ("transform skip", 1, range(2)),
    ("quantisation matrix", 4, range(16)),
)
DICTIONARY = 5  # bit of the switches of predicted blocks
TREE_TOOLS = {
    "partition": range(2),
    "index classes": range(2),
    "flag contexts": range(2),
    "copy radius": range(9),
    "dictionary limit": range(256, 65537),
    "displaced blocks": range(5),
    "redundancy radius": range(65536),
    "replacement": range(2),
}
FIXED_FILTERS = range(2**14)


class Reader:
    """Reads fields one after the other; ``places`` has the position of the first of each name."""

    def __init__(self, data: bytes):
        self.data = data
        self.position = 0
        self.places: dict[str, int] = {}

    def take(self, size: int, name: str = "") -> bytes:
        if size > len(self.data) - self.position:
            raise ValueError(f"truncated at byte {len(self.data)}")
        self.places.setdefault(name, self.position)
        self.position += size
        return self.data[self.position - size : self.position]

    def rest(self, name: str = "") -> bytes:
        return self.take(len(self.data) - self.position, name)

    def number(self, name: str, allowed: range = range(2**62)) -> int:
        value = 0
        for i in range(9):
            byte = self.take(1, name)[0]
            value |= (byte & 127) << (7 * i)
            if byte < 128:
                break
        if byte >= 128 or (byte == 0 and i > 0):
            raise ValueError(f"{name} is not a number in shortest form")
        if value not in allowed:
            raise ValueError(f"{name} is {value}, which is not allowed")
        return value

    def end(self, name: str) -> None:
        if self.position != len(self.data):
            raise ValueError(f"bytes follow the end of {name}")


@dataclass(frozen=True)
class Layer:
    """A layer: the number of its coding, the numbers of its tools, post filter and payload.

    From coding IN_SET on it has the tools of a set, and at most fixed filters of its own.
    """

    coding: int
    tools: tuple[int, ...]
    filter: bytes
    payload: bytes


@dataclass(frozen=True)
class Palette:
    """A palette: the fields between its coding and its payload, and the payload."""

    form: int
    entries: int
    payload: bytes


@dataclass(frozen=True)
class Jpeg:
    """A kept JPEG file: its lossless form, its size in bytes, and the payload."""

    form: int
    size: int
    payload: bytes


@dataclass(frozen=True)
class Tile:
    """A tile: the bytes of the checksum of its samples, and its fields."""

    samples_crc: bytes
    layout: int
    layers: tuple[Layer, ...]
    rotation: bytes = b""
    palette: Palette | None = None
    jpeg: Jpeg | None = None


@dataclass(frozen=True)
class File:
    """The fields of a file, without those that follow from others.

    ``levels`` are level bits and first sample, if there are any; ``bits`` is the field bits of tile
    bytes, None for the best.
    """

    form: int
    depth: int
    width: int
    height: int
    tile_size: int
    chunks: tuple[tuple[int, bytes], ...] = ()
    tiles: tuple[Tile, ...] = ()
    sets: tuple[tuple[int, ...], ...] = ()
    levels: tuple[int, ...] = ()
    border_step: int = 0
    bits: int | None = None
    version: int = VERSION

    @property
    def crcs(self) -> tuple[int, int]:
        """Bytes of the two CRCs of a tile."""
        if not 0 < self.tile_size <= 256:
            return 4, 4
        return (1, 1) if self.tile_size < 128 else (2, 1)

    @property
    def least(self) -> int:
        """Bytes of the smallest tile."""
        return sum(self.crcs) + 1

    @property
    def count(self) -> int:
        """Number of tiles."""
        size = self.tile_size or max(self.width, self.height, 1)
        return -(-self.width // size) * -(-self.height // size)


def parsed(data: bytes) -> File:
    """The fields of a file; ValueError if one is missing."""
    reader = Reader(data)
    file, sizes = header(reader)
    reader.take(4)
    tiles = tuple(tile(Reader(reader.take(size)), file) for size in sizes)
    return replace(file, tiles=tiles)


def header(reader: Reader) -> tuple[File, list[int]]:
    """The fields before the CRC of the header, and the size of each tile in bytes."""
    if reader.take(len(MAGIC)) != MAGIC:
        raise ValueError("not an mmp file")
    version = reader.take(1)[0]
    if version != VERSION:
        raise ValueError(f"version is {version}, not {VERSION}")
    form, depth = reader.number("form", range(4)), reader.number("depth")
    names = ("level bits", "first sample") if depth > 16 else ()
    levels = tuple(reader.number(name) for name in names)
    width, height, size = (reader.number(name) for name in ("width", "height", "tile size"))
    step = reader.number("border step") if size else 0
    file = File(form, depth, width, height, size, levels=levels, border_step=step)
    sets = tuple(tools(reader, BLOCKS) for _ in range(reader.number("tool sets")))
    chunks = []
    for _ in range(reader.number("chunks")):
        kind = reader.number("kind")
        chunks.append((kind, reader.take(reader.number("chunk size"))))
    file = replace(file, sets=sets, chunks=tuple(chunks))
    if file.count * file.least > len(reader.data):
        raise ValueError(f"{file.count} tiles are more than the file can have")
    if file.count == 1:
        return file, [reader.number("tile bytes")]
    bits, more = remainders(reader, file.count)
    return replace(file, bits=bits), [file.least + each for each in more]


def remainders(reader: Reader, count: int) -> tuple[int, list[int]]:
    """The field tile bytes of several tiles: its bits, and the sizes less the least size."""
    n = reader.number("tile bytes", range(25))
    bits = ""

    def bit() -> int:
        nonlocal bits
        bits = bits or format(reader.take(1)[0], "08b")
        first, bits = bits[0], bits[1:]
        return int(first)

    values = []
    for _ in range(count):
        value = 0
        while bit():
            value += 1
        for _ in range(n):
            value = 2 * value + bit()
        values.append(value)
    return n, values


def tools(reader: Reader, coding: int) -> tuple[int, ...]:
    """The numbers of the tools of a layer or of a tool set."""
    if coding not in OWN_FIELDS:
        raise ValueError(f"coding is {coding}, which is not allowed")
    found = [reader.number(name) for name in OWN_FIELDS[coding]]
    if has_trees(coding, found):
        found += [reader.number(name) for name in TREE_TOOLS]
    return tuple(found)


def has_trees(coding: int, numbers: Sequence[int]) -> bool:
    """Whether the tools of trees are among those of a coding; ``numbers`` begin with its own."""
    return coding == TREES or (coding == BLOCKS and numbers[0] >> DICTIONARY & 1 > 0)


def has_filter(coding: int) -> bool:
    """Whether a layer has the field post filter."""
    return coding % 4 > 1 if coding >= IN_SET else coding != LOSSLESS


def coefficients(active: int) -> int:
    """The number of coefficients for a value of the field post filter."""
    return sum(count for bit, count in enumerate(COEFFICIENTS) if active >> bit & 1)


def layers_below(entries: int, form: int, count: int) -> int:
    """How many of the layers follow a palette: alpha at most, if no pixel is transparent."""
    return count if entries % 2 else form % 2


def tile(reader: Reader, file: File) -> Tile:
    """The fields of a tile."""
    reader.take(file.crcs[0], "stream CRC")
    crc = reader.take(file.crcs[1], "samples CRC")
    layout = reader.number("layout") if file.form else 0
    rotation = reader.take(TURN_BYTES, "rotation") if layout == FINE_LUMA else b""
    count = file.form + 1 if layout else 1
    palette = None
    following = reader.data[reader.position : reader.position + 1]
    if following == bytes([JPEG]):
        _, form, size = (reader.number(name) for name in ("coding", "lossless form", "file bytes"))
        return Tile(crc, layout, (), rotation, jpeg=Jpeg(form, size, reader.rest("payload")))
    if following == bytes([PALETTE]):
        names = "coding", "lossless form", "entries"
        _, form, entries = (reader.number(name) for name in names)
        count = layers_below(entries, file.form, count)
        palette = Palette(form, entries, payload(reader, last=count == 0))
    layers = tuple(layer(reader, last=left == 0) for left in reversed(range(count)))
    reader.end("the last layer")
    return Tile(crc, layout, layers, rotation, palette)


def layer(reader: Reader, *, last: bool) -> Layer:
    """The fields of a layer."""
    coding = reader.number("coding")
    if coding < IN_SET:
        numbers = tools(reader, coding)
    else:
        numbers = (reader.number("fixed filters"),) if coding % 2 else ()
    filters = b""
    if has_filter(coding):
        filters = reader.take(1, "post filter")
        filters += reader.take(coefficients(filters[0]))
    return Layer(coding, numbers, filters, payload(reader, last=last))


def payload(reader: Reader, *, last: bool) -> bytes:
    """A payload; the last one of a tile does not say how many bytes it has."""
    if last:
        return reader.rest("payload")
    size = reader.number("payload bytes")
    return reader.take(size, "payload")


def number(value: int) -> bytes:
    """A number: 7 bits a byte, low bits first."""
    digits = []
    while value > 127:
        digits.append(128 + value % 128)
        value //= 128
    return bytes([*digits, value])


def crc_of(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "big")


def built(file: File) -> bytes:
    """The bytes of a file, with right sizes and checksums."""
    tiles = [built_tile(each, file) for each in file.tiles]
    sides = file.width, file.height, file.tile_size
    steps = (file.border_step,) if file.tile_size else ()
    sets = [len(file.sets), *(value for tools in file.sets for value in tools)]
    fields = map(number, (file.form, file.depth, *file.levels, *sides, *steps, *sets))
    first = b"".join([bytes([file.version]), *fields])
    chunks = [number(kind) + number(len(data)) + data for kind, data in file.chunks]
    table = built_sizes(file, [len(each) for each in tiles])
    head = b"".join([MAGIC, first, number(len(chunks)), *chunks, table])
    return b"".join([head, crc_of(head), *tiles, trailer(first + table) if len(tiles) > 1 else b""])


def trailer(fields: bytes) -> bytes:
    """The trailer of a header with these fields."""
    checked = fields + (len(fields) + 13).to_bytes(5, "big")
    return checked + crc_of(checked) + b"MMP\x1a"


def built_sizes(file: File, sizes: Sequence[int]) -> bytes:
    """The field tile bytes."""
    if len(sizes) < 2:
        return b"".join(map(number, sizes))
    more = [max(size - file.least, 0) for size in sizes]

    def bits_with(n: int) -> int:
        return sum((each >> n) + 1 + n for each in more)

    n = min(range(25), key=bits_with) if file.bits is None else file.bits
    text = "".join("1" * (each >> n) + "0" + format(each, f"0{n}b")[-n:] * (n > 0) for each in more)
    count = -(-len(text) // 8)
    return number(n) + int(text.ljust(8 * count, "0"), 2).to_bytes(count, "big")


def built_tile(tile: Tile, file: File) -> bytes:
    """The bytes of a tile."""
    of_stream, of_samples = file.crcs
    parts = [tile.samples_crc.rjust(4, b"\0")[-of_samples:]]
    parts.append(number(tile.layout) if file.form else b"")
    parts.append(tile.rotation)
    if tile.palette is not None:
        palette = tile.palette
        parts += map(number, (PALETTE, palette.form, palette.entries))
        parts += [number(len(palette.payload))] if tile.layers else []
        parts.append(palette.payload)
    if tile.jpeg is not None:
        parts += map(number, (JPEG, tile.jpeg.form, tile.jpeg.size))
        parts.append(tile.jpeg.payload)
    for place, each in enumerate(tile.layers):
        parts += [number(each.coding), *map(number, each.tools), each.filter]
        parts += [number(len(each.payload))] if place < len(tile.layers) - 1 else []
        parts.append(each.payload)
    body = b"".join(parts)
    return crc_of(body)[-of_stream:] + body


def tools_of(coding, numbers):
    """The tools of a layer or of a tool set, from the numbers of their fields."""
    tools, rest = {}, numbers
    if coding == LOSSLESS:
        tools = form_of(checked("lossless form", numbers[0], range(1, 4)))
        tools["max error"] = checked("max error", numbers[1], range(2**15))
    if coding == BLOCKS:
        tools = switches_of(numbers[0])
        tools["step"] = checked("step", numbers[1], range(1, 65536))
        tools["fixed filters"] = checked("fixed filters", numbers[2], FIXED_FILTERS)
        rest = numbers[3:]
    if coding == TREES or tools.get("dictionary"):
        for (name, allowed), value in zip(TREE_TOOLS.items(), rest, strict=True):
            tools[name] = checked(name, value, allowed)
    return tools


def form_of(number):
    """The tools that a lossless form stands for."""
    predictors, models = {1: (1, 2), 2: (1, 8), 3: (3, 24)}[number]
    return {"form": number, "predictors": predictors, "models": models, "max error": 0}


def switches_of(switches):
    """The tools in the field switches of predicted blocks, the lowest bits first."""
    tools = {}
    for name, bits, values in SWITCHES:
        if switches % 2**bits >= len(values):
            raise ValueError(f"{name} in switches is not allowed")
        tools[name] = values[switches % 2**bits]
        switches >>= bits
    checked("switches beyond the tools", switches, (0,))
    return tools


def checked(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"{name} is {value}, which is not allowed")
    return value
