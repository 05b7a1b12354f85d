"""Palettes: coding, drawing over layers, decoding of files that have them."""

from dataclasses import replace

import numpy as np
import pytest
from palettes import TOOLS, file_of, palette_of, remade
from support.strategies import natural, text_like

import mmpcodec
from mmpcodec import backends
from mmpcodec.codec.palettes.layer import decode_palette, encode_palette
from mmpcodec.errors import Cancelled, CorruptStream, FormatError
from mmpcodec.format.layouts import Layout
from mmpcodec.reference.palette import PaletteSamples, drawn_over
from mmpcodec.tools import BlockTools, LosslessTools

CPU = backends.get("cpu")


def screen(planes=3, height=33, width=50, depth=8):
    """Text of few colours on a picture of more, all with few bits."""
    rng = np.random.default_rng(3)
    text, photo = text_like(rng, height, width), natural(rng, height, width)
    channels = [np.where(text < 100, 50 * number, photo // (number + 1)) for number in range(4)]
    samples = np.dstack(channels)[..., :planes].astype(np.uint16)
    samples = (samples >> 5 << 5) * ((1 << depth) - 1) // 255
    samples = samples.astype(np.uint8 if depth <= 8 else np.uint16)
    return samples[..., 0] if planes == 1 else samples


CASES = [
    (1, {"layout": Layout.TOGETHER}),
    (2, {"layout": Layout.APART}),
    (3, {"layout": Layout.APART}),
    (3, {"layout": Layout.LUMA}),
    (3, {"layout": Layout.FINE_LUMA}),
    (4, {"layout": Layout.FINE_LUMA}),
    *((planes, {"transparent": False}) for planes in (1, 2, 3, 4)),
]


@pytest.mark.parametrize("depth", [3, 8, 12])
@pytest.mark.parametrize(("planes", "options"), CASES)
def test_files_with_a_palette(planes, options, depth):
    samples = screen(planes, depth=depth)
    data, shown = file_of(samples, depth=depth, **options)
    found = mmpcodec.inspect(data, decode=True)
    assert found.samples.dtype == samples.dtype
    np.testing.assert_array_equal(found.samples, shown)
    coloured = shown[..., : 3 if planes > 2 else 1] if planes > 1 else shown
    source = samples[..., : 3 if planes > 2 else 1] if planes > 1 else samples
    drawn = found.layers[0].trace.drawn
    np.testing.assert_array_equal(coloured[drawn], source[drawn])
    assert drawn.all() != options.get("transparent", True)
    transparent = options.get("transparent", True)
    below = planes if transparent else planes in (2, 4)
    assert [layer.name == "palette" for layer in found.layers] == [True] + [False] * below
    entries = len(palette_of(samples, transparent).colours)
    assert (found.layers[0].entries, found.layers[0].transparent) == (entries, transparent)
    assert [layer.entries for layer in found.layers[1:]] == [0] * below


def test_the_reference_decodes_alike():
    data, shown = file_of(screen(4, 14, 20), layout=Layout.LUMA)
    np.testing.assert_array_equal(mmpcodec.decode(data, backend="reference"), shown)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("form", [1, 2, 3])
def test_round_trip_of_palettes(backend, form):
    found = palette_of(screen(3, 11, 14), True)
    tools = LosslessTools(lossless_form=form)
    own = backends.get(backend)
    palette, trace = encode_palette(own, *found, True, 8, tools)
    assert palette.tools == tools
    back, other = decode_palette(own, palette, (11, 14), 3, 8)
    np.testing.assert_array_equal(back.colours, found.colours)
    np.testing.assert_array_equal(back.numbers, found.numbers)
    assert back.numbers.dtype == back.colours.dtype == np.uint16
    assert trace.bits == other.bits
    assert list(trace.bits) == ["colours", "map", "residual"]
    assert 8 * len(palette.payload) == pytest.approx(sum(trace.bits.values()), abs=72)
    np.testing.assert_array_equal(trace.drawn, other.drawn)
    np.testing.assert_array_equal(trace.drawn, found.numbers < len(found.colours))


def test_most_colours():
    """4096 colours and transparent have numbers of 13 bits."""
    numbers = np.arange(4097, dtype=np.uint16)[None]
    colours = np.arange(0, 3 * 4096, 3, dtype=np.uint16)[:, None]
    palette, _ = encode_palette(CPU, colours, numbers, True, 14, TOOLS)
    found, trace = decode_palette(CPU, palette, (1, 4097), 1, 14)
    np.testing.assert_array_equal(found.colours, colours)
    np.testing.assert_array_equal(found.numbers, numbers)
    assert trace.drawn.sum() == 4096


def test_drawn_over_by_hand():
    found = PaletteSamples(
        np.array([[1, 2, 3], [7, 8, 9]], np.uint16), np.array([[0, 2, 1]], np.uint16)
    )
    below = np.full((1, 3, 4), 50, np.uint8)
    shown = drawn_over(below, found, True, 8)
    assert shown.tolist() == [[[1, 2, 3, 50], [50, 50, 50, 50], [7, 8, 9, 50]]]
    assert (below == 50).all()
    numbers = np.array([[0, 0, 1]], np.uint16)
    alone = drawn_over(None, replace_numbers(found, numbers), False, 12)
    assert alone.tolist() == [[[1, 2, 3], [1, 2, 3], [7, 8, 9]]]
    assert alone.dtype == np.uint16
    alpha = np.array([[4, 5, 6]], np.uint8)
    with_alpha = drawn_over(alpha, replace_numbers(found, numbers), False, 8)
    assert with_alpha.tolist() == [[[1, 2, 3, 4], [1, 2, 3, 5], [7, 8, 9, 6]]]
    assert with_alpha.dtype == np.uint8


def replace_numbers(found, numbers):
    return found._replace(numbers=numbers)


def test_gray_is_drawn_over_gray_and_beside_alpha():
    found = PaletteSamples(np.array([[200]], np.uint16), np.array([[0, 1]], np.uint16))
    assert drawn_over(np.array([[3, 4]], np.uint8), found, True, 8).tolist() == [[200, 4]]
    both = np.array([[[3, 9], [4, 9]]], np.uint8)
    assert drawn_over(both, found, True, 8).tolist() == [[[200, 9], [4, 9]]]


def test_headers_describe_the_palette():
    samples = screen(3)
    data, _ = file_of(samples, layout=Layout.LUMA)
    first, luma, *_ = mmpcodec.inspect(data).layers
    assert (first.name, first.tools, first.trace, first.backend) == ("palette", TOOLS, None, "")
    assert (first.entries, first.transparent, first.depth) == (
        len(palette_of(samples, True).colours),
        True,
        first.entries.bit_length(),
    )
    assert (luma.name, isinstance(luma.tools, BlockTools), luma.entries) == ("luma", True, 0)
    whole = mmpcodec.inspect(data, decode=True).layers[0]
    assert replace(whole, trace=None, backend="") == first
    assert whole.backend == "cpu"


def test_tiles_with_and_without_palettes():
    samples = screen(3, 70, 130)
    data, shown = file_of(samples, tile_size=64, without={1, 4})
    found = mmpcodec.inspect(data, decode=True)
    np.testing.assert_array_equal(found.samples, shown)
    assert [layer.tile for layer in found.layers if layer.name == "palette"] == [0, 2, 3, 5]
    part = mmpcodec.decode(data, region=(50, 30, 40, 38))
    np.testing.assert_array_equal(part, shown[30:68, 50:90])
    np.testing.assert_array_equal(mmpcodec.decode(data, threads=1), shown)


def test_a_bad_palette_leaves_the_other_tiles():
    samples = screen(3, 64, 128)
    data, shown = file_of(samples, tile_size=64)
    header = mmpcodec.inspect(data).header
    damaged = bytearray(data)
    damaged[header.tile_offsets[1] + 9] ^= 1
    with pytest.raises(FormatError, match="tile 1"):
        mmpcodec.decode(bytes(damaged))
    found = mmpcodec.inspect(bytes(damaged), decode=True, allow_partial=True)
    assert [bad.tile.number for bad in found.bad_tiles] == [1]
    np.testing.assert_array_equal(found.samples[:, :64], shown[:, :64])
    assert not found.samples[:, 64:].any()


def test_progress_counts_the_palette_as_a_plane():
    data, _ = file_of(screen(3), layout=Layout.LUMA)
    calls = []
    mmpcodec.decode(data, threads=1, progress=lambda *call: calls.append(call) or True)
    assert calls == sorted(calls)
    assert calls[-1] == (4 * 12, 4 * 12)
    with pytest.raises(Cancelled):
        mmpcodec.decode(data, progress=lambda done, total: False)


@pytest.mark.parametrize("transparent", [True, False])
def test_a_number_that_no_colour_has(transparent):
    """Numbers of 3 bits, 5 of them allowed; the first one beyond is named."""
    colours = np.arange(5 - transparent, dtype=np.uint16)[:, None]
    numbers = (np.arange(35, dtype=np.uint16) % 5).reshape(5, 7)
    numbers[2, 3], numbers[2, 6], numbers[3, 0] = 5, 7, 6
    palette, _ = encode_palette(CPU, colours, numbers, transparent, 8, TOOLS)
    palette = replace(palette, offset=40)
    with pytest.raises(CorruptStream) as error:
        decode_palette(CPU, palette, (5, 7), 1, 8)
    assert str(error.value) == ("Palette at byte 40: number of a pixel is 5, allowed is 0 to 4")


def test_damaged_streams_are_named():
    data, _ = file_of(screen(3), layout=Layout.LUMA)

    def with_payload(change):
        return remade(data, lambda own: replace(own, payload=change(bytes(own.payload))))

    longer = with_payload(lambda payload: payload + bytes(9))
    with pytest.raises(FormatError, match=r"^Range coder: numbers of the palette: payload has"):
        mmpcodec.decode(longer)
    empty = with_payload(lambda payload: b"\0" + payload[1:])
    with pytest.raises(FormatError, match=r"^Lossless samples: colours of the palette: payload "):
        mmpcodec.decode(empty)


def test_the_checksum_is_that_of_the_drawn_samples():
    data, _ = file_of(screen(1))
    found = palette_of(screen(1), True)
    other = found.colours.copy()
    other[0] ^= 1
    palette, _ = encode_palette(CPU, other, found.numbers, True, 8, TOOLS)
    with pytest.raises(CorruptStream, match="samples CRC is"):
        mmpcodec.decode(remade(data, lambda own: replace(own, payload=palette.payload)))
