"""The bytes of a tile: checksums, layout, palette, and layers with their tools and payloads.

Source: section "Layers" of ``docs/format/format.md``.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE
from mmpcodec.errors import CorruptStream, TruncatedStream
from mmpcodec.format import jpeg as jpegs
from mmpcodec.format import palette as palettes
from mmpcodec.format.container import Header
from mmpcodec.format.jpeg import KeptJpeg
from mmpcodec.format.layouts import Layout, layer_names, planes_before
from mmpcodec.format.numbers import Fields, number
from mmpcodec.format.palette import Palette
from mmpcodec.format.tool_fields import read_tool, read_tools, write_tools
from mmpcodec.reference.colour import LEAST_ROTATION, NO_ROTATION, Rotation
from mmpcodec.reference.filters import cross_component
from mmpcodec.reference.filters.cross_component import (
    MOST_PLANES,
    NO_CROSS_COMPONENT,
    CrossComponentCoefficients,
)
from mmpcodec.reference.filters.post import CLASSES, LEAST, MOST, OFF, TAPS, Coefficients
from mmpcodec.samples import Form
from mmpcodec.tools import (
    BLOCK_TOOLS,
    CODINGS,
    KINDS,
    LOSSLESS,
    BlockTools,
    Tools,
    trees_of,
    with_values,
)

SECTION = "Layers"
FILTER_SECTION, PLANES_SECTION = "Post filter", "Cross-component filter"

FIXED_FILTERS = BLOCK_TOOLS["fixed_filters"]
FILTERS = "fixed_filters", "post_filter", "cross_component_filter"
"""Tools that layers of one tool set can have of their own."""
IN_SET = 8
"""First number of a coding that stands for a tool set of the header."""
HAS_BANK, HAS_FILTER = 1, 2
"""Bits of the number of a coding above ``IN_SET``: fixed filters and a post filter of its own."""
SET_SHIFT = 2
"""Number of these bits."""


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
    cross_component_coefficients : CrossComponentCoefficients
        Coefficients of the cross-component filter.
    offset : int
        Byte offset of the payload in its file.
    """

    name: str
    tools: Tools
    payload: bytes | memoryview
    coefficients: Coefficients = OFF
    cross_component_coefficients: CrossComponentCoefficients = NO_CROSS_COMPONENT
    offset: int = 0

    @property
    def filter_bits(self) -> int:
        """Number of bits of all coefficients in a file."""
        return 8 * sum(map(len, (*self.coefficients, *self.cross_component_coefficients)))


@dataclass(frozen=True)
class TileStream:
    """The coded form of a tile.

    Parameters
    ----------
    layout : Layout
    layers : tuple of Layer
    samples_crc : int
        CRC-32 of the decoded samples, or of the JPEG file that is kept, cut to the bytes that the
        file has of a CRC.
    rotation : Rotation
        Of the colours; the fine layout has it.
    palette : Palette or None
        What draws over the layers. Without transparent pixels there are no layers of colour.
    jpeg : KeptJpeg or None
        The JPEG file that is kept, which is all of the tile: then there are no layers.
    """

    layout: Layout
    layers: tuple[Layer, ...]
    samples_crc: int
    rotation: Rotation = NO_ROTATION
    palette: Palette | None = None
    jpeg: KeptJpeg | None = None

    @property
    def parts(self) -> tuple[KeptJpeg | Palette | Layer, ...]:
        """The JPEG file that is kept, or the palette, if there is one, then the layers."""
        first = self.jpeg or self.palette
        return self.layers if first is None else (first, *self.layers)


def depth_of(layer: Layer, layout: Layout, depth: int) -> int:
    """Return the bits per sample that a layer codes, from ``depth``, those of the picture."""
    if layer.tools.lossless and layout is Layout.TOGETHER:
        return depth
    return layout.depth_of(layer.name, depth)


def samples_crc(samples: np.ndarray) -> int:
    """Return the CRC-32 of samples in raster order, the samples of a pixel together.

    Samples of more than 8 bits count as two bytes, big-endian.
    """
    return zlib.crc32(np.ascontiguousarray(samples, samples.dtype.newbyteorder(">")).data)


def write(
    header: Header,
    layout: Layout,
    layers: Sequence[Layer],
    crc: int,
    rotation: Rotation = NO_ROTATION,
    palette: Palette | None = None,
) -> bytes:
    """Return the bytes of a tile.

    Parameters
    ----------
    header : Header
        Of the file; the sizes of the tiles are ignored.
    layout : Layout
    layers : sequence of Layer
        Empty, or alpha alone, with a palette without transparent pixels.
    crc : int
        CRC-32 of the decoded samples.
    rotation : Rotation
        Of the colours; only the fine layout has it.
    palette : Palette or None
    """
    parts = [header.samples_crc(crc)]
    if header.form is not Form.GRAY:
        parts.append(number(layout))
    if layout is Layout.FINE_LUMA:
        parts.append(bytes(value - LEAST_ROTATION for value in rotation))
    if palette is not None:
        parts.append(palettes.write(palette, header.form))
    end = len(layers) - 1
    parts += [write_layer(layer, header, last=place == end) for place, layer in enumerate(layers)]
    checked = b"".join(parts)
    return header.stream_crc(zlib.crc32(checked)) + checked


def write_jpeg(header: Header, kept: KeptJpeg, crc: int) -> bytes:
    """Return the bytes of the tile of a JPEG file whose CRC-32 is ``crc``."""
    layout = b"" if header.form is Form.GRAY else number(Layout.TOGETHER)
    checked = header.samples_crc(crc) + layout + jpegs.write(kept)
    return header.stream_crc(zlib.crc32(checked)) + checked


def write_layer(layer: Layer, header: Header, *, last: bool = False) -> bytes:
    """Return the bytes of a layer: coding, tools, post filter, payload.

    The last layer of a tile does not say how many bytes its payload has.
    """
    head = _in_set(layer, header.tool_sets)
    if head is None:
        coding = CODINGS.index(layer.tools.coding)
        head = number(coding) + write_tools(layer.tools) + _filter(layer)
    size = b"" if last else number(len(layer.payload))
    return head + size + layer.payload


def _without_filters(tools: Tools) -> list[Any]:
    return [value for name, value in vars(tools).items() if name not in FILTERS]


def _in_set(layer: Layer, sets: Sequence[BlockTools]) -> bytes | None:
    """Return the head of a layer whose tools, but for filters, are one of the sets, or None."""
    for index, tools in enumerate(sets):
        bank = layer.tools.fixed_filters
        if _without_filters(layer.tools) != _without_filters(tools):
            continue
        flags, fields = 0, b""
        if bank != tools.fixed_filters:
            flags, fields = HAS_BANK, number(bank or 0)
        if layer.filter_bits:
            flags, fields = flags | HAS_FILTER, fields + _filter(layer)
        return number(IN_SET + (index << SET_SHIFT | flags)) + fields
    return None


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
    of_file, form, header = header, header.form, header.of_levels
    stream_bytes, samples_bytes = header.crc_bytes
    fields = Fields(data, SECTION, start)
    stored = bytes(fields.bytes("stream CRC", stream_bytes))
    computed = header.stream_crc(zlib.crc32(data[fields.place :]))
    if stored != computed:
        raise CorruptStream(
            SECTION, f"stream CRC is {stored.hex()}, tile has {computed.hex()}", start
        )
    crc = fields.fixed("samples CRC", samples_bytes)
    layout, at = Layout.TOGETHER, fields.offset
    if form is not Form.GRAY:
        layout = _read_layout(fields, header)
    rotation = NO_ROTATION
    if layout is Layout.FINE_LUMA:
        x, y, z = fields.bytes("rotation", len(rotation))
        rotation = x + LEAST_ROTATION, y + LEAST_ROTATION, z + LEAST_ROTATION
    if (kept := jpegs.read(fields, of_file, layout)) is not None:
        return TileStream(layout, (), crc, jpeg=kept)
    first, palette = fields.place, palettes.read(fields, form)
    if palette is not None:
        fault = palettes.fault_of_layout(palette, layout, form, header.depth)
        if fault:
            raise CorruptStream(palettes.SECTION, fault, at)
    names = palettes.names_below(layer_names(form, layout), palette, form)
    layers = tuple(
        _read_layer(fields, name, header, name == names[-1], fields.place == first)
        for name in names
    )
    if fields.place < len(data):
        raise CorruptStream(
            SECTION, f"{len(data) - fields.place} bytes follow the last layer", fields.offset
        )
    for place, layer in enumerate(layers):
        fault = _fault(layer, form, layout, header.depth)
        fault = fault or _fault_of_planes(layer.tools, planes_before(form, place))
        if fault:
            raise CorruptStream(SECTION, f"{layer.name}: {fault}", layer.offset)
    return TileStream(layout, layers, crc, rotation, palette)


def _read_layout(fields: Fields, header: Header) -> Layout:
    at = fields.offset
    layout = Layout(fields.number("layout", 0, Layout.FINE_LUMA))
    if not layout.allowed(header.form):
        fault = f"allowed for {header.form.title} is 0 or 1"
    elif not layout.fits(header.depth):
        fault = f"allowed at a depth of {header.depth} is 0 to {layout - 1}"
    else:
        return layout
    raise CorruptStream(SECTION, f"layout is {layout:d}, {fault}", at)


def fault_of_depth(tools: Tools, depth: int, name: str | None = None) -> str | None:
    """Say why tools, of this name, cannot code samples of ``depth`` bits, or return None."""
    if depth <= BYTE or trees_of(tools) is None:
        return None
    name = name or ("dictionary" if isinstance(tools, BlockTools) else "trees")
    return f"depth is {depth}, allowed with {name} is 1 to {BYTE}"


def _fault(layer: Layer, form: Form, layout: Layout, depth: int) -> str | None:
    coding, together = layer.tools.coding, layout is Layout.TOGETHER and form is not Form.GRAY
    if together and coding != LOSSLESS:
        return f"coding is {coding}, allowed for planes together is {LOSSLESS}"
    return fault_of_depth(layer.tools, depth_of(layer, layout, depth))


def _fault_of_planes(tools: Tools, most: int) -> str | None:
    if tools.cross_component <= most:
        return None
    allowed = f"0 to {most}" if most else "0"
    return f"cross component is {tools.cross_component}, allowed is {allowed}"


def _filter(layer: Layer) -> bytes:
    """Return the bytes of the field post filter and the coefficients; none for lossless samples."""
    if layer.tools.lossless:
        return b""
    coefficients = *layer.coefficients, *layer.cross_component_coefficients
    active = sum(bool(own) << index for index, own in enumerate(coefficients))
    return bytes([active, *(value - LEAST for own in coefficients for value in own)])


def _read_layer(fields: Fields, name: str, header: Header, last: bool, first: bool) -> Layer:
    """Read a layer; ``first`` if a palette could be in its place."""
    sets = header.tool_sets
    at = fields.offset
    plain = len(CODINGS) - 1 + first
    most = IN_SET - 1 + (len(sets) << SET_SHIFT) if sets else plain
    number = fields.number("coding", 0, most)
    if plain < number < IN_SET:
        raise CorruptStream(
            SECTION, f"coding is {number}, allowed is 0 to {plain}, {IN_SET} to {most}", at
        )
    if number < len(CODINGS):
        tools = read_tools(fields, KINDS[CODINGS[number]])
        filtered = not tools.lossless
        least = 0
    else:
        tools = sets[number - IN_SET >> SET_SHIFT]
        flags = number - IN_SET
        if flags & HAS_BANK:
            tools = with_values(tools, fixed_filters=read_tool(fields, FIXED_FILTERS))
        filtered = flags & HAS_FILTER > 0
        least = 1
    coefficients, of_planes = OFF, NO_CROSS_COMPONENT
    if filtered:
        most = (1 << CLASSES + tools.cross_component) - 1
        active = fields.number("post filter", least, most)
        coefficients = tuple(
            _read_coefficients(fields, FILTER_SECTION, f"activity class {index}", len(TAPS))
            if active >> index & 1
            else ()
            for index in range(CLASSES)
        )
        of_planes = tuple(
            _read_coefficients(fields, PLANES_SECTION, f"plane {index}", len(cross_component.TAPS))
            if active >> CLASSES + index & 1
            else ()
            for index in range(MOST_PLANES)
        )
        filters: dict[str, Any] = {"post_filter": any(coefficients)}
        if any(of_planes):
            filters["cross_component_filter"] = True
        tools = with_values(tools, **filters)
    size = len(fields.data) - fields.place if last else fields.number("payload bytes")
    start = fields.offset
    return Layer(name, tools, fields.bytes("payload", size), coefficients, of_planes, start)


def _read_coefficients(fields: Fields, section: str, owner: str, count: int) -> tuple[int, ...]:
    """Read the coefficients of an activity class or of an earlier plane."""
    largest = MOST - LEAST
    start = fields.offset
    try:
        own = bytes(fields.bytes("coefficients", count))
    except TruncatedStream as error:
        raise TruncatedStream(section, error.problem, error.offset) from None
    if max(own) > largest:
        tap = next(place for place, each in enumerate(own) if each > largest)
        raise CorruptStream(
            section,
            f"coefficient {tap} of {owner} is {own[tap]}, allowed is 0 to {largest}",
            start + tap,
        )
    return tuple(map(LEAST.__add__, own))
