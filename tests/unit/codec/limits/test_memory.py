"""Limits of memory and work, and the estimate of the memory that decoding takes."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import mmpcodec
from mmpcodec import DecodeLimits
from mmpcodec.codec.limits.memory import (
    ELEMENT_BYTES,
    LAYER_BYTES,
    LOSSLESS_BYTES,
    LOSSLESS_COLUMN_BYTES,
    SAMPLE_BYTES,
    memory_to_decode,
)
from mmpcodec.codec.limits.seconds import seconds_to_decode
from mmpcodec.errors import LimitExceeded, ParameterError
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer, TileStream
from mmpcodec.format.layouts import Layout
from mmpcodec.format.palette import Palette
from mmpcodec.format.tiles import Tile
from mmpcodec.presets import PRESETS
from mmpcodec.samples import Form
from mmpcodec.tools import BlockTools, LosslessTools, TreeTools

LOSSLESS = PRESETS["lossless"]
TREES = TreeTools(dictionary_limit=1000)
BLOCKS = BlockTools(step=16)


def stream_of(*tools):
    return TileStream(Layout.TOGETHER, tuple(Layer("gray", one, b"") for one in tools), 0)


def lossless_bytes(form, width, groups):
    """The bytes of a plane of lossless samples."""
    fixed, group = LOSSLESS_BYTES[form]
    return fixed + groups * group + width * LOSSLESS_COLUMN_BYTES[form]


def small_file_of(side):
    """A file of lossless samples, RGB with alpha and 16 bits, whose payload is 64 bytes."""
    payload = Layer("RGB with alpha", LOSSLESS, bytes(64))
    header = Header(side, side, Form.RGB_ALPHA, 16)
    tile = layers.write(header, Layout.TOGETHER, [payload], 0)
    return container.write(replace(header, tile_bytes=(len(tile),)), [tile])


def test_the_busiest_layers_count():
    tiles = [Tile(0, 0, 16, 16, 0), Tile(0, 0, 64, 64, 1)]
    streams = [(tiles[0], stream_of(TREES)), (tiles[1], stream_of(TREES, LOSSLESS, BLOCKS))]
    # 510 elements can be inserted after a fragment, beside the 256 of the start.
    for at_once, elements in ((1, 0), (2, 1000), (3, 1000 + 766), (9, 1766)):
        expected = 5 * SAMPLE_BYTES + min(at_once - 1, 3) * LAYER_BYTES
        expected += elements * ELEMENT_BYTES + lossless_bytes(2, 64, 6)
        assert memory_to_decode(streams, 8, 1, 5, at_once) == expected


def test_planes_of_lossless_samples_are_coded_side_by_side():
    tools = LosslessTools(lossless_form=3)
    streams = [(Tile(0, 0, 100, 64, 0), stream_of(tools))]
    expected = 4 * lossless_bytes(3, 100, 10)
    assert memory_to_decode(streams, 16, 4, 0, 1) == expected


def test_a_palette_counts_as_a_plane_and_its_numbers_stay():
    palette = Palette(LosslessTools(lossless_form=2), 4, True, b"")
    numbers, colours = 2 * 100 * 64, lossless_bytes(2, 4, 10)
    alpha = lossless_bytes(2, 100, 10)
    layout, below = Layout.APART, (Layer("gray", BLOCKS, b""), Layer("alpha", LOSSLESS, b""))
    streams = [(Tile(0, 0, 100, 64, 0), TileStream(layout, below, 0, palette=palette))]
    assert memory_to_decode(streams, 16, 2, 0, 1) == numbers + alpha
    assert memory_to_decode(streams, 16, 2, 0, 9) == numbers + alpha + colours + LAYER_BYTES
    alone = TileStream(Layout.TOGETHER, (), 0, palette=palette)
    assert memory_to_decode([(streams[0][0], alone)], 16, 1, 0, 1) == numbers + colours


@pytest.mark.parametrize(("depth", "max_error", "groups"), [(4, 0, 4), (8, 0, 6), (8, 2, 5)])
def test_tables_are_as_large_as_the_values_of_a_plane_need(depth, max_error, groups):
    streams = [(Tile(0, 0, 100, 64, 0), stream_of(replace(LOSSLESS, max_error=max_error)))]
    expected = lossless_bytes(2, 100, groups)
    assert memory_to_decode(streams, depth, 1, 0, 1) == expected


def test_blocks_with_trees_have_dictionaries():
    mixed = BlockTools(step=16, trees=TreeTools(dictionary_limit=500, post_filter=False))
    streams = [(Tile(0, 0, 64, 64, 0), stream_of(mixed))]
    assert memory_to_decode(streams, 8, 1, 0, 1) == LAYER_BYTES + 500 * ELEMENT_BYTES


def test_little_bytes_cannot_ask_for_much_memory():
    data = small_file_of(4096)
    assert len(data) < 110
    with pytest.raises(LimitExceeded, match=r"decoding can take 1226833920 bytes of memory, the"):
        mmpcodec.decode(data, limits=DecodeLimits(max_memory=10**9))


def test_little_bytes_cannot_ask_for_much_work():
    data = small_file_of(4096)
    says = (
        r"decoding can take 23\.9 s, the limit is 1 s for \d+ bytes; max_seconds \(--max-seconds\)"
    )
    with pytest.raises(LimitExceeded, match=says):
        mmpcodec.decode(data)
    with pytest.raises(LimitExceeded, match="the limit is 23 s for"):
        mmpcodec.decode(data, limits=DecodeLimits(max_seconds=23))
    with pytest.raises(LimitExceeded, match=r"picture is 4112x4112: .* max_samples"):
        mmpcodec.decode(small_file_of(4112))


@pytest.mark.parametrize("planes", [1, 3])
def test_blank_pages_open(planes):
    page = np.full((3000, 4000, planes)[: 2 + (planes > 1)], 255, np.uint8)
    data = mmpcodec.encode(page, 0, preset="lossless")
    assert len(data) < 100
    assert (mmpcodec.decode(data) == 255).all()


def test_nearly_blank_pages_are_tiles_so_that_they_open():
    page = np.full((1700, 1300), 255, np.uint8)
    page[300:330, 400:500] = 0
    two = mmpcodec.encode(page, 0, preset="lossless", effort=6)
    assert mmpcodec.inspect(two).header.tile_size == 0  # few pixels of it take time
    page[310, 450] = 128
    data = mmpcodec.encode(page, 0, preset="lossless", effort=6)
    header = mmpcodec.inspect(data).header
    assert header.tile_size == 256
    np.testing.assert_array_equal(mmpcodec.decode(two), np.where(page == 128, 0, page))
    np.testing.assert_array_equal(mmpcodec.decode(data), page)
    assert mmpcodec.inspect(mmpcodec.encode(page[:600], 0)).header.tile_size == 0


def test_more_bytes_allow_more_time():
    limits = DecodeLimits()
    found = [limits.seconds_for(size) for size in (0, 1000, 1100, 10**6)]
    assert found == [1, 1, 2, 1 + 9990]
    assert DecodeLimits(max_seconds=0.5).seconds_for(10**6) == 0.5


def test_the_estimate_counts_each_coding():
    tile = Tile(0, 0, 1000, 1000)
    noise = np.random.default_rng(0).integers(0, 256, (64, 64), np.uint8)

    def seconds(**options):
        data = mmpcodec.encode(noise, **options)
        header = mmpcodec.inspect(data).header
        stream = layers.read(memoryview(data)[header.size :], header.size, header)
        return seconds_to_decode([(tile, stream)], 8, 1, peek=True)

    exact = partial(seconds, lam=0, preset="lossless")
    rates = [exact(effort=effort) for effort in (1, 2, 6)]
    assert rates[0] == pytest.approx(0.15, abs=0.03)
    assert rates[-1] == pytest.approx(0.87, abs=0.03)
    assert rates == sorted(rates)
    assert seconds(lam=30, preset="plain") == pytest.approx(0.3, abs=0.03)
    assert seconds(lam=30, preset="photo") == pytest.approx(0.31, abs=0.03)


def test_rows_of_narrow_pictures_take_as_long_as_wider_ones():
    """Weights are solved once for each row and strip: a strip of one column needs all of it."""
    rows = 1 << 17

    def micros_of_a_row(form, width):
        tools = LosslessTools(lossless_form=form)
        stream = TileStream(Layout.TOGETHER, (Layer("RGB with alpha", tools, bytes(200)),), 0)
        found = seconds_to_decode([(Tile(0, 0, width, rows), stream)], 16, 4, peek=False)
        return 1e6 * found / rows

    # Measured: 17, 49 and 70 us for the slowest picture of one column.
    for form, low, high in ((1, 17, 34), (2, 49, 98), (3, 70, 140)):
        assert low < micros_of_a_row(form, 1) < high
    assert micros_of_a_row(2, 128) < 4.5 * micros_of_a_row(2, 1)


def test_each_tile_has_tables_of_its_own():
    tools = LosslessTools(lossless_form=3)
    stream = TileStream(Layout.TOGETHER, (Layer("RGB with alpha", tools, bytes(200)),), 0)
    tiles = [(Tile(0, 0, 64, 64, number), stream) for number in range(64)]
    one = seconds_to_decode([(Tile(0, 0, 512, 512), stream)], 16, 4, peek=False)
    many = seconds_to_decode(tiles, 16, 4, peek=False)
    # Measured: 0.08 s for each of these tiles.
    assert 64 * 0.08 < many < 64 * 0.16
    assert many > 2 * one


def test_pixels_beside_each_row_count():
    streams = [(Tile(0, 0, 1, 1 << 20), stream_of(LOSSLESS))]
    assert memory_to_decode(streams, 8, 1, 0, 1) > (1 + 32) * 8 << 20


def test_the_estimate_counts_palettes():
    tile, palette = Tile(0, 0, 1000, 1000), Palette(LOSSLESS, 2, False, b"")
    stream = TileStream(Layout.APART, (), 0, palette=palette)
    seconds = seconds_to_decode([(tile, stream)], 8, 3, peek=False)
    assert seconds > 0.05
    column = Tile(0, 0, 1, 1000000)
    assert seconds_to_decode([(column, stream)], 8, 3, peek=False) > seconds + 1.5


def test_headers_are_read_without_limits():
    assert mmpcodec.inspect(small_file_of(1 << 20)).header.width == 1 << 20


def test_limits_that_may_be_missing():
    assert DecodeLimits().max_memory is None
    assert DecodeLimits(max_memory=5).max_memory == 5
    for wrong in ({"max_memory": 0}, {"max_samples": None}, {"max_seconds": 0}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            DecodeLimits(**wrong)
