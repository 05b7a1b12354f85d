"""The fields of a palette, and the errors of each."""

from dataclasses import replace

import pytest

from mmpcodec.errors import CorruptStream, TruncatedStream
from mmpcodec.format import container, layers, palette
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer
from mmpcodec.format.layouts import Layout
from mmpcodec.format.palette import Palette, Streams, joined
from mmpcodec.presets import PRESETS
from mmpcodec.samples import Form
from mmpcodec.tools import BlockTools, LosslessTools

TOOLS = LosslessTools(lossless_form=3)
PAYLOAD = joined(Streams(b"abc", b"defg"))
WITHOUT = Palette(TOOLS, 300, False, PAYLOAD)
WITH = Palette(TOOLS, 300, True, PAYLOAD)


def header_of(form, depth=8, **more):
    return Header(20, 10, form, depth, **more)


def layers_of(form, layout, transparent=True):
    names = layers.layer_names(form, layout)[0 if transparent else form.colours :]
    return [Layer(name, PRESETS["lossless"], b"payload of " + name.encode()) for name in names]


def tile_of(form, layout=Layout.APART, own=WITH, others=None):
    """The bytes of a tile after its CRCs."""
    if others is None:
        others = layers_of(form, layout, own.transparent)
    return layers.write(header_of(form), layout, others, 0, palette=own)[8:]


def read(body, form, **more):
    """Read a tile from its bytes after the stream CRC and the samples CRC."""
    header = header_of(form, **more)
    checked = bytes(4) + bytes(body)
    data = header.stream_crc(layers.zlib.crc32(checked)) + checked
    return layers.read(memoryview(data), 0, header)


def test_bytes_of_a_tile_of_gray_with_a_palette_alone():
    # Coding 3; lossless form 3; 2 * 299 + 0; the rest is payload.
    head = bytes([3, 3, 0b1101_0110, 0b100])
    assert tile_of(Form.GRAY, Layout.TOGETHER, WITHOUT) == head + b"\3abcdefg"


def test_bytes_of_a_tile_of_gray_with_alpha():
    tools = bytes([2, 2, 0])  # coding, lossless form, max error
    head = bytes([1, 3, 3, 0b1101_0110, 0b100, 8])
    alpha = tools + b"payload of alpha"
    assert tile_of(Form.GRAY_ALPHA, own=WITHOUT) == head + b"\3abcdefg" + alpha
    head = bytes([1, 3, 3, 0b1101_0111, 0b100, 8])
    both = tools + b"\x0fpayload of gray" + alpha
    assert tile_of(Form.GRAY_ALPHA, own=WITH) == head + b"\3abcdefg" + both


@pytest.mark.parametrize("own", [WITH, WITHOUT])
@pytest.mark.parametrize("form", list(Form))
def test_read_is_the_inverse_of_write(form, own):
    layout = Layout.APART if form else Layout.TOGETHER
    found = read(tile_of(form, layout, own), form)
    assert replace(found.palette, payload=bytes(found.palette.payload), offset=0) == own
    assert found.palette.streams() == (b"abc", b"defg")
    made = layers_of(form, layout, own.transparent)
    assert [(each.name, bytes(each.payload)) for each in found.layers] == [
        (each.name, each.payload) for each in made
    ]
    assert found.parts == (found.palette, *found.layers)
    assert found.layout is layout


def test_a_tile_without_palette_has_its_layers_as_parts():
    tile = layers.write(header_of(Form.GRAY), Layout.TOGETHER, layers_of(Form.GRAY, 0), 0)
    found = read(tile[8:], Form.GRAY)
    assert found.palette is None
    assert found.parts == found.layers


@pytest.mark.parametrize(
    ("entries", "transparent", "depth"),
    [(1, False, 1), (1, True, 1), (2, False, 1), (2, True, 2), (4096, False, 12), (4096, True, 13)],
)
def test_bits_of_a_number(entries, transparent, depth):
    own = Palette(TOOLS, entries, transparent, PAYLOAD)
    assert own.depth == depth
    assert own.largest == entries - 1 + transparent
    found = read(tile_of(Form.GRAY, Layout.TOGETHER, own), Form.GRAY).palette
    assert (found.entries, found.transparent) == (entries, transparent)


GRAY = tile_of(Form.GRAY, Layout.TOGETHER, WITHOUT)


@pytest.mark.parametrize(
    ("body", "error", "says"),
    [
        (GRAY[:2] + b"\x81\0" + GRAY[4:], CorruptStream, "entries is not a number in shortest"),
        (GRAY[:4] + b"\x08abcdefg", TruncatedStream, "only 7 of 8 bytes of colours"),
        (GRAY[:2], TruncatedStream, "only 0 of 1 bytes of entries"),
        (GRAY[:1], TruncatedStream, "only 0 of 1 bytes of lossless form"),
    ],
)
def test_damaged_fields(body, error, says):
    with pytest.raises(error, match=f"Palette at byte .*: {says}"):
        read(body, Form.GRAY)


def test_a_palette_longer_than_its_tile():
    body = tile_of(Form.GRAY_ALPHA, own=WITHOUT)
    assert body[5] == len(PAYLOAD)
    with pytest.raises(TruncatedStream, match="Palette at byte 41: only 27 of 28 bytes of payload"):
        read(body[:5] + bytes([28]) + body[6:], Form.GRAY_ALPHA)


def test_bytes_after_a_palette_alone_are_its_payload():
    assert read(GRAY + b"xyz", Form.GRAY).palette.streams().numbers == b"defgxyz"


ALONE = "allowed with a palette without transparent pixels is 1"


@pytest.mark.parametrize(
    ("form", "layout", "own", "depth", "says"),
    [
        (Form.RGB, 0, WITH, 8, "layout is 0, allowed with a palette is 1 to 3"),
        (Form.RGB, 0, WITH, 15, "layout is 0, allowed with a palette is 1 to 2"),
        (Form.RGB_ALPHA, 0, WITH, 8, "layout is 0, allowed with a palette is 1 to 3"),
        (Form.RGB, 0, WITHOUT, 8, f"layout is 0, {ALONE}"),
        (Form.RGB, 2, WITHOUT, 8, f"layout is 2, {ALONE}"),
        (Form.RGB_ALPHA, 3, WITHOUT, 8, f"layout is 3, {ALONE}"),
    ],
)
def test_layouts_that_a_palette_excludes(form, layout, own, depth, says):
    body = tile_of(form, Layout(layout), own, [])
    with pytest.raises(CorruptStream, match=f"^Palette at byte 8: {says}$"):
        read(body, form, depth=depth)


@pytest.mark.parametrize("layout", [Layout.APART, Layout.LUMA, Layout.FINE_LUMA])
def test_layouts_that_a_palette_with_clear_allows(layout):
    exact = layers_of(Form.RGB, layout)
    assert read(tile_of(Form.RGB, layout, WITH, exact), Form.RGB).layout is layout


def test_a_palette_begins_a_tile_and_no_other_layer():
    own = palette.write(WITH, Form.RGB)
    header = header_of(Form.RGB)
    red, green, _ = (layers.write_layer(each, header) for each in layers_of(Form.RGB, 1))
    for body in (b"\1" + own + own, b"\1" + red + own, b"\1" + own + red + green + own):
        with pytest.raises(CorruptStream, match=r"^Layers at .*: coding is 3, allowed is 0 to 2$"):
            read(body, Form.RGB)


def test_codings_with_tool_sets():
    sets = {"tool_sets": (BlockTools(step=20, pdpc=True),)}
    with pytest.raises(CorruptStream, match="coding is 6, allowed is 0 to 3, 8 to 11"):
        read(b"\6" + GRAY[1:], Form.GRAY, **sets)
    body = tile_of(Form.GRAY, Layout.TOGETHER, WITH)
    place = len(palette.write(WITH, Form.GRAY))
    with pytest.raises(CorruptStream, match="coding is 3, allowed is 0 to 2, 8 to 11"):
        read(body[:place] + b"\3" + body[place + 1 :], Form.GRAY, **sets)


def test_header_of_the_smallest_tile():
    """A tile with a palette is no smaller than the least that the header allows."""
    own = Palette(TOOLS, 1, False, joined(Streams(b"", b"")))
    tile = layers.write(header_of(Form.GRAY), Layout.TOGETHER, [], 0, palette=own)
    header = replace(header_of(Form.GRAY), tile_bytes=(len(tile),))
    assert len(tile) > header.least_tile_bytes
    data = container.write(header, [tile])
    assert container.read_header(memoryview(data)).tile_bytes == (len(tile),)
