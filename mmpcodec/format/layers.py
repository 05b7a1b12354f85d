"""The bytes of a tile: checksums, layout, and layers with their tools and payloads.

Source: section "Layers" of ``docs/format/format.md``.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE, coded_depth
from mmpcodec.errors import CorruptStream, TruncatedStream
from mmpcodec.format.container import Header
from mmpcodec.format.layouts import Layout, earlier_planes, layer_names
from mmpcodec.format.numbers import CRC_BYTES, Fields, number
from mmpcodec.reference.postfilter import CLASSES, LEAST, MOST, OFF, TAPS, Coefficients
from mmpcodec.samples import Form
from mmpcodec.tools import (
    BLOCK_TOOLS,
    BLOCKS,
    CODINGS,
    EXACT,
    LATER_BLOCK_TOOLS,
    TABLE,
    TREE_TOOLS,
    TREES,
    Tool,
    Tools,
)

SECTION = "Layers"
FILTER_SECTION = "Post filter"

BLOCKS_2 = "predicted blocks 2"
"""Predicted blocks with the tools of version 2."""
CODINGS_OF = {1: CODINGS, 2: (*CODINGS, BLOCKS_2)}
"""Names of the codings by their numbers in the header of a layer, by the version of the format."""
HEADER_TOOLS = {
    TREES: tuple(TABLE[name] for name in TREE_TOOLS),
    BLOCKS: tuple(TABLE[name] for name in BLOCK_TOOLS),
    BLOCKS_2: tuple(TABLE[name] for name in (*BLOCK_TOOLS, *LATER_BLOCK_TOOLS)),
}
"""Tools that the header of a layer holds, by its coding, in the order of the format."""
_FILTER_FIELD = ("post filter", 0, (1 << CLASSES) - 1)


@dataclass(frozen=True)
class Layer:
    """The coded form of one plane, or of all planes together.

    Parameters
    ----------
    name : str
        The planes in words: "luma".
    tools : Tools
    payload : bytes-like
    coefficients : Coefficients
        Coefficients of the post filter.
    offset : int
        Byte offset of the payload in its file.
    """

    name: str
    tools: Tools
    payload: bytes | memoryview
    coefficients: Coefficients = OFF
    offset: int = 0


@dataclass(frozen=True)
class TileStream:
    """The coded form of a tile.

    Parameters
    ----------
    layout : Layout
    layers : tuple of Layer
    samples_crc : int
        CRC-32 of the decoded samples.
    """

    layout: Layout
    layers: tuple[Layer, ...]
    samples_crc: int


def depth_of(tools: Tools, layout: Layout, depth: int) -> int:
    """Return the bits per sample that a layer codes, from ``depth``, those of the picture."""
    return depth if tools.exact and layout is Layout.TOGETHER else coded_depth(depth)


def samples_crc(samples: np.ndarray) -> int:
    """Return the CRC-32 of samples in raster order, the samples of a pixel together.

    Samples of more than 8 bits count as two bytes, big-endian.
    """
    return zlib.crc32(np.ascontiguousarray(samples, samples.dtype.newbyteorder(">")).data)


def write(form: Form, layout: Layout, layers: Sequence[Layer], crc: int) -> bytes:
    """Return the bytes of a tile; ``crc`` is the CRC-32 of its decoded samples."""
    parts = [crc.to_bytes(CRC_BYTES, "big")]
    if form is not Form.GRAY:
        parts.append(number(layout))
    checked = b"".join([*parts, *map(write_layer, layers)])
    return zlib.crc32(checked).to_bytes(CRC_BYTES, "big") + checked


def write_layer(layer: Layer) -> bytes:
    """Return the bytes of a layer: coding, tools, post filter, payload."""
    head = b"".join(map(number, _tool_values(layer.tools))) + _filter(layer)
    return head + number(len(layer.payload)) + layer.payload


def coding_of(tools: Tools) -> str:
    """Return the name of the coding that the header of a layer has, one of ``CODINGS_OF[2]``."""
    return BLOCKS_2 if tools.later_than(1) else tools.codings[0]


def read(data: memoryview, start: int, header: Header) -> TileStream:
    """Read a tile and make every check that needs no decoding.

    Parameters
    ----------
    data : memoryview
        The bytes of the tile.
    start : int
        Byte offset of the tile in the file.
    header : Header
        Header of the file.

    Raises
    ------
    TruncatedStream
        If the tile ends inside a field.
    CorruptStream
        If a checksum does not match, a field is outside its range, or bytes follow the last layer.
    """
    form, codings = header.form, CODINGS_OF[header.version]
    fields = Fields(data, SECTION, start)
    stored = fields.fixed("stream CRC", CRC_BYTES)
    computed = zlib.crc32(data[fields.place :])
    if stored != computed:
        raise CorruptStream(SECTION, f"stream CRC is {stored:08x}, tile has {computed:08x}", start)
    crc = fields.fixed("samples CRC", CRC_BYTES)
    layout = Layout.TOGETHER
    if form is not Form.GRAY:
        at = fields.offset
        layout = Layout(fields.number("layout", 0, len(Layout) - 1))
        if not layout.allowed(form):
            raise CorruptStream(
                SECTION, f"layout is {layout:d}, allowed for {form.title} is 0 or 1", at
            )
    layers = tuple(_read_layer(fields, name, codings) for name in layer_names(form, layout))
    if fields.place < len(data):
        raise CorruptStream(
            SECTION, f"{len(data) - fields.place} bytes follow the last layer", fields.offset
        )
    for place, layer in enumerate(layers):
        fault = _fault(layer.tools, form, layout, header.depth)
        fault = fault or _fault_of_planes(layer.tools, earlier_planes(form, place))
        if fault:
            raise CorruptStream(SECTION, f"{layer.name}: {fault}", layer.offset)
    return TileStream(layout, layers, crc)


def fault_of_depth(tools: Tools, depth: int, name: str | None = None) -> str | None:
    """Say why tools, of this name, cannot code samples of ``depth`` bits, or return None."""
    if tools.exact or depth <= BYTE or (tools.prediction and not tools.dictionary):
        return None
    name = name or ("dictionary" if tools.prediction else "trees")
    return f"depth is {depth}, allowed with {name} is 1 to {BYTE}"


def _fault(tools: Tools, form: Form, layout: Layout, depth: int) -> str | None:
    if layout is Layout.TOGETHER and form is not Form.GRAY and not tools.exact:
        return f"coding is {coding_of(tools)}, allowed for planes together is {EXACT}"
    return fault_of_depth(tools, depth)


def _fault_of_planes(tools: Tools, most: int) -> str | None:
    if tools.earlier_planes <= most:
        return None
    allowed = f"0 to {most}" if most else "0"
    return f"earlier planes is {tools.earlier_planes}, allowed is {allowed}"


def _tool_values(tools: Tools) -> list[int]:
    """Return the number of the coding and the values of its tools, in the order of the format."""
    coding = coding_of(tools)
    stored = [tool for each in (coding, *tools.codings[1:]) for tool in HEADER_TOOLS.get(each, ())]
    values = [int(getattr(tools, tool.name)) for tool in stored]
    return [CODINGS_OF[2].index(coding), *values]


def _filter(layer: Layer) -> bytes:
    """Return the bytes of the post filter: its field and coefficients; none for exact samples."""
    if layer.tools.exact:
        return b""
    active = sum(bool(own) << index for index, own in enumerate(layer.coefficients))
    return bytes([active, *(value - LEAST for own in layer.coefficients for value in own)])


def _read_layer(fields: Fields, name: str, codings: Sequence[str]) -> Layer:
    coding = codings[fields.number("coding", 0, len(codings) - 1)]
    coefficients = OFF
    if coding == EXACT:
        tools = Tools(exact=True, post_filter=False)
    else:
        values = _read_tools(fields, coding)
        active = fields.number(*_FILTER_FIELD)
        coefficients = _read_coefficients(fields, active)
        tools = Tools(**values, post_filter=active > 0)
    size = fields.number("payload bytes")
    start = fields.offset
    return Layer(name, tools, fields.bytes("payload", size), coefficients, start)


def _read_tools(fields: Fields, coding: str) -> dict[str, Any]:
    values: dict[str, Any] = {"prediction": coding != TREES}
    for tool in HEADER_TOOLS[coding]:
        values[tool.name] = _read_tool(fields, tool, values)
    if values.get("dictionary"):
        for tool in HEADER_TOOLS[TREES]:
            values[tool.name] = _read_tool(fields, tool, values)
    return values


def _read_tool(fields: Fields, tool: Tool, values: dict[str, Any]) -> int:
    """Read the value of a tool; ``values`` are those of the tools before it."""
    at = fields.offset
    value = fields.number(tool.title, tool.low_in_file, tool.high)
    if fault := tool.fault(value, values.get(tool.needs, False)):
        raise CorruptStream(SECTION, f"{tool.title} is {value}, {fault}", at)
    return value


def _read_coefficients(fields: Fields, active: int) -> Coefficients:
    """Read the coefficients of the activity classes whose bit in ``active`` is 1."""
    largest = MOST - LEAST
    coefficients = []
    for index in range(CLASSES):
        own = b""
        if active >> index & 1:
            start = fields.offset
            try:
                own = bytes(fields.bytes("coefficients", len(TAPS)))
            except TruncatedStream as error:
                raise TruncatedStream(FILTER_SECTION, error.problem, error.offset) from None
            for tap, value in enumerate(own):
                if value > largest:
                    raise CorruptStream(
                        FILTER_SECTION,
                        f"coefficient {tap} of activity class {index} is {value}, "
                        f"allowed is 0 to {largest}",
                        start + tap,
                    )
        coefficients.append(tuple(value + LEAST for value in own))
    return tuple(coefficients)
