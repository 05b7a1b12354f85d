"""mmp files: the conformance vectors and random payloads, fields changed, checksums right.

This module follows the text of the format and does not call the codec's reader or writer. Only the
list of tools and the bits of the sizes of tiles come from the codec.
"""

import functools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from parts.choices import Choices

from makers import exif

VECTORS = Path(__file__).parents[3] / "tests" / "conformance"
_TREES, _BLOCKS, _EXACT, _BLOCKS_2, _EXACT_2 = range(5)
_PALETTE, _MOST_ENTRIES = 5, 8191
_IN_SET = 8
_SWITCHES = 18  # bits
_FINE, _TURN_BYTES = 3, 3
_MAGIC = b"\x89MMP\r\n\x1a\n"
_MOST_METADATA = 1 << 21  # bytes, above the limit of the readers
_COEFFICIENTS = 6, 6, 6, 6, 12, 12  # of each bit of the field post filter
_PLANES = (1, 2, 3, 4)
"""Planes of a picture, by its form."""

Damage = Callable[[bytes], bytes]


@dataclass(frozen=True)
class Layer:
    """A layer: the number of its coding, values of tools, post filter and payload.

    From coding ``_IN_SET`` on it has the tools of a set, and at most a filter bank of its own.
    """

    coding: int
    tools: tuple[int, ...]
    filter: bytes
    payload: bytes


@dataclass(frozen=True)
class Palette:
    """A palette: the fields between its coding and its payload, and the payload."""

    switches: int
    entries: int
    payload: bytes


@dataclass(frozen=True)
class Tile:
    """A tile: the checksum of its samples, and its fields."""

    samples_crc: bytes
    layout: int
    layers: tuple[Layer, ...]
    turn: bytes = b""
    palette: Palette | None = None


@dataclass(frozen=True)
class File:
    """The fields of a file, without those that follow from others."""

    form: int
    depth: int
    width: int
    height: int
    tile_size: int
    chunks: tuple[tuple[int, bytes], ...] = ()
    tiles: tuple[Tile, ...] = field(default=())
    version: int = 1
    start: bytes = b""
    sets: tuple[tuple[int, ...], ...] = ()
    levels: tuple[int, ...] = ()

    @property
    def crcs(self) -> tuple[int, int]:
        """Bytes of the two CRCs of a tile."""
        if self.version == 1 or not 0 < self.tile_size <= 256:
            return 4, 4
        return (1, 1) if self.tile_size < 128 else (2, 1)


def number(value: int) -> bytes:
    """Encode an integer in the variable length of the format: 7 bits a byte, low bits first."""
    digits = []
    while value > 127:
        digits.append(128 + value % 128)
        value //= 128
    return bytes([*digits, value])


class _Reader:
    def __init__(self, data: bytes):
        self.data = data
        self.place = 0

    def bytes(self, size: int) -> bytes:
        found = self.data[self.place : self.place + size]
        if len(found) != size:
            raise IndexError(size)
        self.place += size
        return found

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.place]
            self.place += 1
            value |= (byte % 128) << shift
            shift += 7
            if byte < 128:
                return value


@functools.cache
def tool_ranges(coding: int) -> tuple[tuple[int, int], ...]:
    """Return the least and largest value of each tool of a coding, in the order of the format.

    The codings of version 2 have most of theirs in one number.
    """
    from mmpcodec.format.tool_fields import CODINGS_OF, HEADER_TOOLS

    if coding == _BLOCKS_2:
        return (0, (1 << _SWITCHES) - 1), (1, 65535), (0, (1 << 14) - 1)
    if coding == _EXACT_2:
        return (0, 63), (0, 32767)
    tools = HEADER_TOOLS.get(CODINGS_OF[2][coding], ())
    return tuple((tool.low_in_file, tool.high) for tool in tools)


def parsed(data: bytes) -> File:
    """Split a file into its fields.

    Raises
    ------
    IndexError, ValueError
        If a field is missing or no tool is known of a coding.
    """
    reader = _Reader(data)
    reader.place = len(_MAGIC)
    version = reader.bytes(1)[0]
    form, depth = reader.number(), reader.number()
    levels = (reader.number(), reader.number()) if depth > 16 else ()
    width, height, size = (reader.number() for _ in range(3))
    start, sets = b"", []
    if version == 2:
        start = reader.bytes(8) if reader.number() else b""
        sets = [_tools(reader, _BLOCKS_2) for _ in range(reader.number())]
    chunks = []
    for _ in range(reader.number()):
        kind = reader.number()
        chunks.append((kind, reader.bytes(reader.number())))
    count = -(-width // size) * -(-height // size) if size else 1
    if count > len(data) or form >= len(_PLANES):
        raise ValueError(f"{count} tiles of form {form}")
    file = File(form, depth, width, height, size, tuple(chunks), (), version, start, tuple(sets))
    file = replace(file, levels=levels)
    if version == 2 and count > 1:
        from mmpcodec.format.numbers import Fields

        fields = Fields(memoryview(data), "")
        fields.place = reader.place
        sizes = [sum(file.crcs) + 1 + more for more in fields.remainders("tile bytes", count)]
        reader.place = fields.place
    else:
        sizes = [reader.number() for _ in range(count)]
    reader.place += 4
    return replace(file, tiles=tuple(_tile(reader.bytes(each), file) for each in sizes))


def _tile(data: bytes, file: File) -> Tile:
    reader = _Reader(data)
    reader.place = file.crcs[0]
    crc = reader.bytes(file.crcs[1])
    layout = reader.number() if file.form else 0
    turn = reader.bytes(_TURN_BYTES) if layout == _FINE else b""
    count = 1 if layout == 0 else _PLANES[file.form]
    palette = None
    if file.version == 2 and data[reader.place] == _PALETTE:
        _, switches, entries = (reader.number() for _ in range(3))
        count = _layers_below(entries, file.form, count)
        size = reader.number() if count else len(data) - reader.place
        palette = Palette(switches, entries, reader.bytes(size))
    layers = tuple(_layer(reader, file, place == count - 1) for place in range(count))
    return Tile(crc, layout, layers, turn, palette)


def _layers_below(entries: int, form: int, count: int) -> int:
    """Return how many of the layers follow a palette: alpha at most, if no pixel is clear."""
    return count if entries % 2 else form % 2


def _tools(reader: _Reader, coding: int) -> tuple[int, ...]:
    tools = [reader.number() for _ in tool_ranges(coding)]
    if _has_trees(coding, tools):
        tools += [reader.number() for _ in tool_ranges(_TREES)]
    return tuple(tools)


def _has_trees(coding: int, tools: Sequence[int]) -> bool:
    """Return whether the tools of trees follow those of predicted blocks."""
    if coding == _BLOCKS_2:
        return tools[0] >> 6 & 1 > 0
    return coding == _BLOCKS and tools[4] > 0


def _count(active: int) -> int:
    """Return the number of coefficients for a value of the field post filter."""
    return sum(count for bit, count in enumerate(_COEFFICIENTS) if active >> bit & 1)


def _layer(reader: _Reader, file: File, last: bool) -> Layer:
    coding = reader.number()
    filtered = b""
    if coding >= _IN_SET:
        tools: tuple[int, ...] = (reader.number(),) if coding % 2 else ()
        has_filter = coding % 4 > 1
    else:
        tools = _tools(reader, coding)
        has_filter = coding not in (_EXACT, _EXACT_2)
    if has_filter:
        active = reader.bytes(1)
        filtered = active + reader.bytes(_count(active[0]))
    size = len(reader.data) - reader.place if last and file.version == 2 else reader.number()
    return Layer(coding, tools, filtered, reader.bytes(size))


def built(file: File) -> bytes:
    """Join the fields of a file, with right sizes and checksums."""
    tiles = [_built_tile(tile, file) for tile in file.tiles]
    later = []
    if file.version == 2:
        sets = b"".join(number(value) for tools in file.sets for value in tools)
        later = [number(bool(file.start)) + file.start, number(len(file.sets)) + sets]
    sides = file.width, file.height, file.tile_size
    numbers = map(number, (file.form, file.depth, *file.levels, *sides))
    first = b"".join([bytes([file.version]), *numbers, *later])
    sizes = _sizes(file, [len(tile) for tile in tiles])
    chunks = b"".join(number(kind) + number(len(data)) + data for kind, data in file.chunks)
    head = b"".join([_MAGIC, first, number(len(file.chunks)), chunks, sizes])
    whole = b"".join([head, zlib.crc32(head).to_bytes(4, "big"), *tiles])
    if file.version == 1 or len(tiles) < 2:
        return whole
    trailer = first + sizes + (len(first) + len(sizes) + 13).to_bytes(5, "big")
    return b"".join([whole, trailer, zlib.crc32(trailer).to_bytes(4, "big"), b"MMP\x1a"])


def _sizes(file: File, sizes: Sequence[int]) -> bytes:
    if file.version == 2 and len(sizes) > 1:
        from mmpcodec.format.numbers import remainders

        return remainders([size - sum(file.crcs) - 1 for size in sizes])
    return b"".join(map(number, sizes))


def _built_tile(tile: Tile, file: File) -> bytes:
    of_stream, of_samples = file.crcs
    parts = [tile.samples_crc.rjust(4, b"\0")[-of_samples:]]
    parts.append(number(tile.layout) if file.form else b"")
    parts.append(tile.turn)
    if tile.palette is not None:
        palette = tile.palette
        parts += map(number, (_PALETTE, palette.switches, palette.entries))
        parts += [number(len(palette.payload))] if tile.layers else []
        parts.append(palette.payload)
    for place, layer in enumerate(tile.layers):
        parts += [number(layer.coding), *map(number, layer.tools), layer.filter]
        if file.version != 2 or place < len(tile.layers) - 1:
            parts.append(number(len(layer.payload)))
        parts.append(layer.payload)
    body = b"".join(parts)
    return zlib.crc32(body).to_bytes(4, "big")[-of_stream:] + body


def changed(choices: Choices, file: File, damage: Damage | None = None) -> File:
    """Change fields of a file; ``damage`` changes payloads, where it is given."""
    tiles = tuple(
        replace(
            tile,
            samples_crc=choices.broken(tile.samples_crc),
            layout=choices.number(tile.layout, 2),
            turn=choices.broken(tile.turn),
            palette=_changed_palette(choices, tile.palette, damage),
            layers=tuple(
                _changed_layer(choices, layer, damage) for layer in choices.shuffled(tile.layers)
            ),
        )
        for tile in choices.shuffled(file.tiles)
    )
    chunks = list(file.chunks)
    if choices.once_in(4):
        chunks += _chunks(choices)
    return File(
        choices.number(file.form, 2),
        choices.either(file.depth, *range(18), *range(24, 34)),
        choices.number(file.width, 30),
        choices.number(file.height, 30),
        choices.either(file.tile_size, 0, 64, 65, 1 << 24),
        tuple((choices.number(kind, 5), choices.broken(data)) for kind, data in chunks),
        tiles,
        choices.either(file.version, 1, 2, 3),
        choices.broken(file.start),
        tuple(_changed_tools(choices, _BLOCKS_2, tools) for tools in choices.shuffled(file.sets)),
        tuple(choices.number(each, 10) for each in file.levels),
    )


def _changed_tools(choices: Choices, coding: int, tools: tuple[int, ...]) -> tuple[int, ...]:
    found = list(tools)
    ranges = [*tool_ranges(coding), *tool_ranges(_TREES)]
    for place, (low, high) in enumerate(ranges[: len(found)]):
        if choices.odd():
            found[place] = choices.choice((low, high, choices.randint(low, high)))
            found[place] = choices.either(found[place], max(low - 1, 0), high + 1)
    return tuple(found)


def _changed_layer(choices: Choices, layer: Layer, damage: Damage | None) -> Layer:
    in_set = _IN_SET + choices.randrange(12)
    coding = choices.either(layer.coding, *range(_EXACT_2 + 1), in_set)
    tools = layer.tools
    if coding != layer.coding:
        tools = tuple(any_tools(choices, coding))
    if coding < _IN_SET:
        tools = _changed_tools(choices, coding, tools)
    payload = layer.payload
    if choices.odd():
        payload = (damage or choices.damage)(payload)
    return Layer(coding, tools, any_filter(choices, coding, layer.filter), payload)


def _changed_palette(
    choices: Choices, palette: Palette | None, damage: Damage | None
) -> Palette | None:
    if choices.once_in(20):
        return None if palette else any_palette(choices)
    if palette is None:
        return None
    payload = palette.payload
    if choices.odd():
        payload = (damage or choices.damage)(payload)
    switches = choices.either(palette.switches, choices.randrange(65))
    return Palette(switches, choices.number(palette.entries, 14), payload)


def any_palette(choices: Choices) -> Palette:
    """Return a palette with random fields and payload, the fields mostly within their ranges."""
    entries = choices.choice((0, 1, 2, 3, 9, choices.randint(0, _MOST_ENTRIES + 1)))
    colours, numbers = (choices.content(choices.choice((0, 4, 40, 400))) for _ in range(2))
    payload = number(choices.number(len(colours), 9)) + colours + numbers
    switches = choices.choice((0b000000, 0b110100, 0b111010, choices.randrange(64)))
    return Palette(switches, entries, payload)


def any_filter(choices: Choices, coding: int, right: bytes = b"") -> bytes:
    """Return a post filter: ``right`` if it suits, or random coefficients."""
    if coding in (_EXACT, _EXACT_2) or (coding >= _IN_SET and coding % 4 < 2):
        return b""
    if right and not choices.odd():
        return right
    active = choices.either(choices.getrandbits(4), 0, choices.getrandbits(7))
    return bytes([active, *(choices.randrange(128) for _ in range(_count(active)))])


def any_tools(choices: Choices, coding: int) -> list[int]:
    """Return random values of the tools of a coding, most within their ranges."""
    if coding >= _IN_SET:
        return [choices.randrange(1 << 14)] if coding % 2 else []
    values = [choices.randint(low, high) for low, high in tool_ranges(coding)]
    if coding in (_BLOCKS, _BLOCKS_2):
        if coding == _BLOCKS:
            values[0] = choices.choice((16, 32, 64))
        values += any_tools(choices, _TREES) if _has_trees(coding, values) else []
    elif coding == _TREES:
        values[4] = choices.choice((256, 257, 1000, 65536, values[4]))
    return values


def _chunks(choices: Choices) -> list[tuple[int, bytes]]:
    """Make chunks of metadata."""
    ratio = number(1) + b"".join(number(choices.number(72, 33)) for _ in range(4))
    contents = (
        (1, choices.content(50)),
        (2, exif.structure(choices)),
        (3, choices.content(50)),
        (4, ratio),
        (5, number(choices.number(3, 8)) + b"keytext"),
        (6, number(choices.number(200, 16))),
    )
    found = choices.sample(contents, choices.randint(1, 3))
    size = sum(len(data) for _, data in found)
    most = max(_MOST_METADATA // (size + 1), 1)
    return found * (min(choices.choice((2, 3000)), most) if choices.odd() else 1)


def random_file(choices: Choices) -> File:
    """Return a file of random tools and payloads."""
    form = choices.randrange(4)
    layout = choices.choice((0, 1, 1, 2, 3)[: (2, 3, 5, 5)[form]]) if form else 0
    height, width = choices.randint(1, 90), choices.randint(1, 90)
    size = choices.choice((0, 0, 64))
    version = choices.choice((1, 2))
    count_of_sets = choices.randrange(3) if version == 2 else 0
    sets = [tuple(any_tools(choices, _BLOCKS_2)) for _ in range(count_of_sets)]
    count = -(-width // size) * -(-height // size) if size else 1
    planes = 1 if layout == 0 else _PLANES[form]
    together = layout == 0 and form > 0
    tiles = []
    for _ in range(count):
        layers: list[Layer] = []
        palette = None
        if version == 2 and not together and choices.once_in(3):
            palette = any_palette(choices)
        below = _layers_below(palette.entries, form, planes) if palette else planes
        for _ in range(below):
            codings = [*range(_EXACT_2 + 1), *range(_IN_SET, _IN_SET + 4 * len(sets))]
            exact = (_EXACT, _EXACT_2)[:version]
            coding = choices.choice(exact if together else codings)
            payload = choices.content(choices.choice((0, 4, 40, 400, 3000)))
            layers.append(
                Layer(
                    coding,
                    tuple(any_tools(choices, coding)),
                    any_filter(choices, coding),
                    payload,
                )
            )
        turn = choices.content(_TURN_BYTES) if layout == _FINE else b""
        tiles.append(Tile(bytes(4), layout, tuple(layers), turn, palette))
    depth = choices.choice((8, 8, choices.randint(1, 16)))
    return File(form, depth, width, height, size, (), tuple(tiles), version, sets=tuple(sets))


@functools.cache
def vectors() -> tuple[File, ...]:
    """Return the fields of the conformance vectors that are valid files."""
    return tuple(
        parsed((folder / "stream.mmp").read_bytes())
        for folder in sorted(VECTORS.glob("v?/*"))
        if not (folder / "error.json").exists()
    )


def make(choices: Choices) -> bytes:
    """Make a file."""
    file = random_file(choices) if choices.once_in(4) else choices.choice(vectors())
    data = built(changed(choices, file))
    return choices.damage(data) if choices.once_in(20) and choices.odd() else data
