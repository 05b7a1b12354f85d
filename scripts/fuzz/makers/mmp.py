"""mmp files: conformance vectors, kept JPEG files, random payloads; fields changed, CRCs right.

Files are read and built by the model of the independent decoder. Only the tools, their ranges and
the bits of switches come from the codec.
"""

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from independent.file import (
    BLOCKS,
    FINE_LUMA,
    IN_SET,
    LOSSLESS,
    TREES,
    TURN_BYTES,
    VERSION,
    File,
    Jpeg,
    Layer,
    Palette,
    Tile,
    built,
    coefficients,
    has_filter,
    has_trees,
    layers_below,
    number,
    parsed,
)
from parts import exif
from parts.choices import Choices

from makers import jpeg

VECTORS = Path(__file__).parents[3] / "tests" / "conformance"
_MOST_ENTRIES = 8191
_MOST_METADATA = 1 << 21  # bytes, above the limit of the readers

Damage = Callable[[bytes], bytes]


@functools.cache
def tool_ranges(coding: int) -> tuple[tuple[int, int], ...]:
    """Return the least and largest number of each field of the tools of a coding, in their order.

    Most tools of predicted blocks share one number, the first.
    """
    from mmpcodec.format.tool_fields import HEADER_TOOLS, SWITCHES
    from mmpcodec.tools import CODINGS

    own = [tool for tool in HEADER_TOOLS[CODINGS[coding]] if tool.name not in SWITCHES]
    first = [(0, (1 << sum(SWITCHES.values())) - 1)] if coding == BLOCKS else []
    return (*first, *((tool.low_in_file, tool.high) for tool in own))


def changed(choices: Choices, file: File, damage: Damage | None = None) -> File:
    """Change fields of a file; ``damage`` changes payloads, where it is given."""
    tiles = tuple(
        replace(
            tile,
            samples_crc=choices.broken(tile.samples_crc),
            layout=choices.number(tile.layout, 2),
            rotation=choices.broken(tile.rotation),
            palette=_changed_palette(choices, tile.palette, damage),
            jpeg=tile.jpeg and _changed_jpeg(choices, tile.jpeg, damage),
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
        tuple(_changed_tools(choices, BLOCKS, tools) for tools in choices.shuffled(file.sets)),
        tuple(choices.number(each, 10) for each in file.levels),
        version=choices.either(VERSION, *range(5)),
    )


def _changed_tools(choices: Choices, coding: int, tools: tuple[int, ...]) -> tuple[int, ...]:
    found = list(tools)
    ranges = [*tool_ranges(coding), *tool_ranges(TREES)]
    for place, (low, high) in enumerate(ranges[: len(found)]):
        if choices.odd():
            found[place] = choices.choice((low, high, choices.randint(low, high)))
            found[place] = choices.either(found[place], max(low - 1, 0), high + 1)
    return tuple(found)


def _changed_layer(choices: Choices, layer: Layer, damage: Damage | None) -> Layer:
    in_set = IN_SET + choices.randrange(12)
    coding = choices.either(layer.coding, *range(LOSSLESS + 1), in_set)
    tools = layer.tools
    if coding != layer.coding:
        tools = tuple(any_tools(choices, coding))
    if coding < IN_SET:
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
    form = choices.either(palette.form, choices.randint(0, 5))
    return Palette(form, choices.number(palette.entries, 14), payload)


def _changed_jpeg(choices: Choices, jpeg: Jpeg, damage: Damage | None) -> Jpeg:
    payload = jpeg.payload
    if choices.odd():
        payload = (damage or choices.damage)(payload)
    form = choices.either(jpeg.form, choices.randint(0, 5))
    return Jpeg(form, choices.number(jpeg.size, 32), payload)


def any_palette(choices: Choices) -> Palette:
    """Return a palette with random fields and payload, the fields mostly within their ranges."""
    entries = choices.choice((0, 1, 2, 3, 9, choices.randint(0, _MOST_ENTRIES + 1)))
    colours, numbers = (choices.content(choices.choice((0, 4, 40, 400))) for _ in range(2))
    payload = number(choices.number(len(colours), 9)) + colours + numbers
    return Palette(choices.randint(1, 4), entries, payload)


def any_filter(choices: Choices, coding: int, right: bytes = b"") -> bytes:
    """Return a post filter: ``right`` if it suits, or random coefficients."""
    if not has_filter(coding):
        return b""
    if right and not choices.odd():
        return right
    active = choices.either(choices.getrandbits(4), 0, choices.getrandbits(7))
    return bytes([active, *(choices.randrange(128) for _ in range(coefficients(active)))])


def any_switches(choices: Choices) -> int:
    """Return switches of predicted blocks that hold a random value of each of their tools."""
    from mmpcodec.format.tool_fields import SWITCHES
    from mmpcodec.tools import BLOCK_TOOLS

    switches = place = 0
    for name, bits in SWITCHES.items():
        tool = BLOCK_TOOLS[name]
        most = len(tool.values) - 1 if tool.values else tool.high - tool.low_in_file
        switches |= choices.either(choices.randint(0, most), (1 << bits) - 1) << place
        place += bits
    return switches


def any_tools(choices: Choices, coding: int) -> list[int]:
    """Return random values of the tools of a coding, most within their ranges."""
    if coding >= IN_SET:
        return [choices.randrange(1 << 14)] if coding % 2 else []
    values = [choices.randint(low, high) for low, high in tool_ranges(coding)]
    if coding == BLOCKS:
        values[0] = any_switches(choices)
        values += any_tools(choices, TREES) if has_trees(coding, values) else []
    elif coding == TREES:
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
    sets = [tuple(any_tools(choices, BLOCKS)) for _ in range(choices.randrange(3))]
    file = File(form, 8, width, height, size, sets=tuple(sets))
    planes = form + 1 if layout else 1
    together = layout == 0 and form > 0
    tiles = []
    for _ in range(file.count):
        layers: list[Layer] = []
        palette = None
        if not together and choices.once_in(3):
            palette = any_palette(choices)
        below = layers_below(palette.entries, form, planes) if palette else planes
        for _ in range(below):
            codings = [*range(LOSSLESS + 1), *range(IN_SET, IN_SET + 4 * len(sets))]
            coding = LOSSLESS if together else choices.choice(codings)
            payload = choices.content(choices.choice((0, 4, 40, 400, 3000)))
            layers.append(
                Layer(
                    coding,
                    tuple(any_tools(choices, coding)),
                    any_filter(choices, coding),
                    payload,
                )
            )
        rotation = choices.content(TURN_BYTES) if layout == FINE_LUMA else b""
        tiles.append(Tile(bytes(4), layout, tuple(layers), rotation, palette))
    depth = choices.choice((8, 8, choices.randint(1, 16)))
    return replace(file, depth=depth, tiles=tuple(tiles))


@functools.cache
def vectors() -> tuple[File, ...]:
    """Return the fields of the conformance vectors that are valid files."""
    return tuple(
        parsed(stream.read_bytes())
        for stream in sorted(VECTORS.glob("*/stream.mmp"))
        if not stream.with_name("error.json").exists()
        and not stream.parent.name.startswith("collection-")
    )


def valid(choices: Choices) -> bytes:
    """Return a small conformance vector that is a valid file."""
    return built(choices.choice([file for file in vectors() if file.width * file.height < 3000]))


def kept_jpeg_file(choices: Choices) -> File:
    """Return a file that keeps a JPEG file, some of whose fields are broken."""
    from mmpcodec.pictures import kept_jpeg

    found = kept_jpeg.encode(jpeg.make(choices), choices.randint(1, 3), threads=1, verify=False)
    return parsed(found.encoding.data)


def make(choices: Choices) -> bytes:
    """Make a file."""
    if choices.once_in(8):
        file = kept_jpeg_file(choices)
    else:
        file = random_file(choices) if choices.once_in(4) else choices.choice(vectors())
    data = built(changed(choices, file))
    return choices.damage(data) if choices.once_in(20) and choices.odd() else data
