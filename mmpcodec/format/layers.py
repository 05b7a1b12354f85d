"""What a tile holds: its layout, and layers with their tools and payloads.

Source: section "Layers" of ``docs/format/format.md``.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE, coded_depth
from mmpcodec.errors import CorruptStream, TruncatedStream
from mmpcodec.format.layouts import Layout, layer_names
from mmpcodec.format.numbers import CRC_BYTES, Fields, number
from mmpcodec.reference.postfilter import CLASSES, LEAST, MOST, OFF, TAPS, Coefficients
from mmpcodec.samples import Form
from mmpcodec.tools import (
    ALLOWED_WITH,
    FRAGMENT_SIZES,
    MAX_COPY_RADIUS,
    MAX_DICTIONARY_LIMIT,
    MAX_DISPLACED_BLOCKS,
    MAX_REDUNDANCY_RADIUS,
    MAX_STEP,
    MAX_TEMPLATES,
    MIN_DICTIONARY_LIMIT,
    Partition,
    Tools,
    fault_with,
)

SECTION = "Layers"
FILTER_SECTION = "Post filter"
CODINGS = ("trees", "predicted blocks", "exact samples")

_TREE_FIELDS = (
    ("partition", 0, len(Partition) - 1),
    ("index classes", 0, 1),
    ("flag contexts", 0, 1),
    ("copy radius", 0, MAX_COPY_RADIUS),
    ("dictionary limit", MIN_DICTIONARY_LIMIT, MAX_DICTIONARY_LIMIT),
    ("displaced blocks", 0, MAX_DISPLACED_BLOCKS),
    ("redundancy radius", 0, MAX_REDUNDANCY_RADIUS),
    ("replacement", 0, 1),
)
_BLOCK_FIELDS = (
    ("fragment size", min(FRAGMENT_SIZES), max(FRAGMENT_SIZES)),
    ("least squares", 0, 1),
    ("templates", 0, MAX_TEMPLATES),
    ("step", 1, MAX_STEP),
    ("dictionary", 0, 1),
)
_FILTER_FIELD = ("post filter", 0, (1 << CLASSES) - 1)


@dataclass(frozen=True)
class Layer:
    """One or more planes as they are coded.

    Parameters
    ----------
    name : str
        What they are.
    tools : Tools
    payload : bytes-like
    coefficients : Coefficients
        Of the post filter.
    offset : int
        Where the payload begins in its file.
    """

    name: str
    tools: Tools
    payload: bytes | memoryview
    coefficients: Coefficients = OFF
    offset: int = 0


@dataclass(frozen=True)
class TileStream:
    """A tile as it is coded.

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


def coding_of(tools: Tools) -> str:
    """What codes a layer, one of ``CODINGS``."""
    if tools.exact:
        return "exact samples"
    return "predicted blocks" if tools.prediction else "trees"


def depth_of(tools: Tools, layout: Layout, depth: int) -> int:
    """Bits of the samples of a layer, in a picture of some depth."""
    return depth if tools.exact and layout is Layout.TOGETHER else coded_depth(depth)


def samples_crc(samples: np.ndarray) -> int:
    """CRC-32 of the samples as they are shown: rows from the top, the planes of a pixel together.

    Those of more than 8 bits are two bytes each, big-endian.
    """
    return zlib.crc32(np.ascontiguousarray(samples, samples.dtype.newbyteorder(">")).data)


def write(form: Form, layout: Layout, layers: Sequence[Layer], crc: int) -> bytes:
    """The bytes of a tile; ``crc`` is that of its samples."""
    parts = [crc.to_bytes(CRC_BYTES, "big")]
    if form is not Form.GRAY:
        parts.append(number(layout))
    checked = b"".join([*parts, *map(write_layer, layers)])
    return zlib.crc32(checked).to_bytes(CRC_BYTES, "big") + checked


def write_layer(layer: Layer) -> bytes:
    """The bytes of a layer: its coding and tools, its post filter, its payload."""
    head = b"".join(map(number, _tool_values(layer.tools))) + _filter(layer)
    return head + number(len(layer.payload)) + layer.payload


def read(data: memoryview, start: int, form: Form, depth: int) -> TileStream:
    """What a tile holds, after every check that needs no decoding.

    Parameters
    ----------
    data : memoryview
        The bytes of the tile.
    start : int
        Where they begin in the file.
    form : Form
    depth : int
        Of the picture.

    Raises
    ------
    TruncatedStream, CorruptStream
    """
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
    layers = tuple(_read_layer(fields, name) for name in layer_names(form, layout))
    if fields.place < len(data):
        raise CorruptStream(
            SECTION, f"{len(data) - fields.place} bytes follow the last layer", fields.offset
        )
    for layer in layers:
        fault = _fault(layer.tools, form, layout, depth)
        if fault:
            raise CorruptStream(SECTION, f"{layer.name}: {fault}", layer.offset)
    return TileStream(layout, layers, crc)


def fault_of_depth(tools: Tools, depth: int) -> str | None:
    """Why a set of tools cannot code samples of so many bits, or None."""
    if tools.exact or depth <= BYTE or (tools.prediction and not tools.dictionary):
        return None
    kind = "dictionary" if tools.prediction else "trees"
    return f"depth is {depth}, allowed with {kind} is 1 to {BYTE}"


def _fault(tools: Tools, form: Form, layout: Layout, depth: int) -> str | None:
    if layout is Layout.TOGETHER and form is not Form.GRAY and not tools.exact:
        return f"coding is {coding_of(tools)}, allowed for planes together is exact samples"
    return fault_of_depth(tools, depth)


def _tool_values(tools: Tools) -> list[int]:
    """The coding and the fields of its tools, in the order of the format."""
    coding = coding_of(tools)
    fields: tuple[tuple[str, int, int], ...] = ()
    if coding == "trees":
        fields = _TREE_FIELDS
    elif coding == "predicted blocks":
        fields = _BLOCK_FIELDS + (_TREE_FIELDS if tools.dictionary else ())
    values = [int(getattr(tools, name.replace(" ", "_"))) for name, *_ in fields]
    return [CODINGS.index(coding), *values]


def _filter(layer: Layer) -> bytes:
    """The field of the post filter and its coefficients; nothing for exact samples."""
    if layer.tools.exact:
        return b""
    active = sum(bool(own) << index for index, own in enumerate(layer.coefficients))
    return bytes([active, *(value - LEAST for own in layer.coefficients for value in own)])


def _read_layer(fields: Fields, name: str) -> Layer:
    coding = CODINGS[fields.number("coding", 0, len(CODINGS) - 1)]
    coefficients = OFF
    if coding == "exact samples":
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
    prediction = coding == "predicted blocks"
    values: dict[str, Any] = {"prediction": prediction}
    for field in _BLOCK_FIELDS if prediction else _TREE_FIELDS:
        _read_tool(fields, field, values)
    if values.get("dictionary"):
        for field in _TREE_FIELDS:
            _read_tool(fields, field, values)
    return values


def _read_tool(fields: Fields, field: tuple[str, int, int], values: dict[str, int]) -> None:
    name, low, high = field
    at, key = fields.offset, name.replace(" ", "_")
    values[key] = fields.number(name, low, high)
    prediction = bool(values["prediction"])
    if key in ALLOWED_WITH[prediction] and (fault := fault_with(prediction, key, values[key])):
        raise CorruptStream(SECTION, f"{name} is {values[key]}, {fault}", at)


def _read_coefficients(fields: Fields, active: int) -> Coefficients:
    """Those of the activity classes that are filtered; ``active`` has a bit for each."""
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
