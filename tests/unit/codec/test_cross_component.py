"""Layers that are predicted from the planes before them: order, choice of tools, and errors."""

from dataclasses import replace

import numpy as np
import pytest
from mutate import repaired
from support.strategies import natural, text_like

import mmpcodec
from mmpcodec import CorruptStream, EncodeParams, ParameterError
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.codec.colour import joined, split
from mmpcodec.errors import FormatError
from mmpcodec.format import container, layers
from mmpcodec.format.layers import Layer
from mmpcodec.format.layouts import Layout, planes_before
from mmpcodec.limits import DecodeLimits
from mmpcodec.presets import PRESETS
from mmpcodec.samples import Form

CPU = CpuBackend()


@pytest.fixture(scope="module")
def colours():
    rng = np.random.default_rng(5)
    first, second = natural(rng, 90, 110), text_like(rng, 90, 110)
    return np.stack([first, first // 2 + second // 4, 255 - first], axis=2)


def used(data):
    return [(layer.name, layer.tools.cross_component) for layer in mmpcodec.inspect(data).layers]


def test_how_many_planes_a_layer_has():
    of_form = {
        form: [planes_before(form, number) for number in range(form.planes)] for form in Form
    }
    assert of_form == {
        Form.GRAY: [0],
        Form.GRAY_ALPHA: [0, 0],
        Form.RGB: [0, 1, 2],
        Form.RGB_ALPHA: [0, 1, 2, 0],
    }


@pytest.mark.parametrize("asked", [0, 1, 2])
@pytest.mark.parametrize("preset", ["photo", "mixed"])
def test_layers_have_the_planes_that_there_are(colours, preset, asked):
    options = {"preset": preset, "effort": 1, "cross_component": asked}
    found = mmpcodec.encode_picture(colours[:50, :60], EncodeParams.from_options(30, **options))
    names = "luma", "Co", "Cg"
    assert used(found.data) == list(zip(names, (0, min(asked, 1), asked), strict=True))
    np.testing.assert_array_equal(mmpcodec.decode(found.data), found.samples)


def test_they_make_files_smaller(colours):
    """The relation of the planes changes with the place, so that no rotation makes planes
    unrelated."""
    first = colours[..., 0]
    left, upper = np.arange(110) < 55, np.arange(90)[:, None] < 45
    second = np.where(left, first // 2, 255 - first // 2)
    colours = np.stack([first, second, np.where(upper, first, 255 - first)], axis=2)
    sizes = [
        len(mmpcodec.encode(colours, 40, preset="photo", cross_component=planes))
        for planes in (0, 1, 2)
    ]
    assert sizes[2] <= sizes[1] < 0.9 * sizes[0]


@pytest.mark.parametrize("preset", ["auto", "best", "photo"])
@pytest.mark.parametrize("tile_size", [0, 64])
def test_any_number_of_threads_and_a_region(colours, preset, tile_size):
    options = {"preset": preset, "effort": 1, "tile_size": tile_size}
    alone = mmpcodec.encode(colours, 40, threads=1, **options)
    assert mmpcodec.encode(colours, 40, threads=5, **options) == alone
    whole = mmpcodec.decode(alone, threads=1)
    np.testing.assert_array_equal(mmpcodec.decode(alone, threads=5), whole)
    part = mmpcodec.decode(alone, region=(50, 20, 40, 60))
    np.testing.assert_array_equal(part, whole[20:80, 50:90])


@pytest.mark.parametrize("depth", [3, 12])
def test_other_depths_and_alpha(colours, depth):
    alpha = natural(np.random.default_rng(2), 90, 110)
    samples = np.dstack([colours, alpha]).astype(np.uint16)
    samples = samples >> (8 - depth) if depth < 8 else samples << (depth - 8)
    samples = samples.astype(np.uint8 if depth < 8 else np.uint16)[:40, :50]
    params = EncodeParams.from_options(30, preset="photo", effort=1)
    found = mmpcodec.encode_picture(samples, params, depth=depth)
    assert [planes for _, planes in used(found.data)] == [0, 1, 2, 0]
    np.testing.assert_array_equal(mmpcodec.decode(found.data), found.samples)


def test_progress_counts_all_layers(colours):
    def calls_of(work):
        calls = []
        work(lambda *call: calls.append(call) or True)
        assert calls == sorted(calls)
        assert calls[-1] == (3 * 42, 3 * 42)

    options = {"preset": "photo", "effort": 1, "threads": 1}
    data = mmpcodec.encode(colours, 40, **options)
    calls_of(lambda progress: mmpcodec.encode(colours, 40, progress=progress, **options))
    calls_of(lambda progress: mmpcodec.decode(data, threads=1, progress=progress))


def test_layers_of_any_coding_predict(colours):
    """Luma as lossless samples, co by trees, green from both."""
    planes = split(colours, 8, Layout.LUMA)
    co = EncodeParams.from_options(20, preset="plain")
    green = EncodeParams.from_options(20, preset="photo", effort=1)
    exact = CPU.encode(PlaneTask(planes[0], EncodeParams(tools=PRESETS["lossless"]))).payload
    trees = CPU.encode(PlaneTask(planes[1], co))
    decoded = [planes[0], trees.samples]
    blocks = CPU.encode(PlaneTask(planes[2], green, earlier=decoded))
    parts = [
        Layer("luma", PRESETS["lossless"], exact),
        Layer("Co", replace(co.coded_tools, post_filter=False), trees.payload),
        Layer("Cg", replace(green.coded_tools, post_filter=False), blocks.payload),
    ]
    samples = joined([*decoded, blocks.samples], Form.RGB, 8, Layout.LUMA)
    header = mmpcodec.inspect(mmpcodec.encode(colours, 40)).header
    tile = layers.write(header, Layout.LUMA, parts, layers.samples_crc(samples))
    data = container.write(replace(header, tile_bytes=(len(tile),)), [tile])
    np.testing.assert_array_equal(mmpcodec.decode(data), samples)
    assert (blocks.trace.units[..., 2] >= 38).any()


def remade(data, change):
    """A file of one tile with other layers."""
    header = container.read_header(memoryview(data))
    stream = layers.read(memoryview(data)[header.tile_offsets[0] :], 0, header)
    tile = layers.write(header, stream.layout, change(stream.layers), stream.samples_crc)
    return container.write(replace(header, tile_bytes=(len(tile),)), [tile])


@pytest.mark.parametrize(
    ("number", "name", "claimed", "allowed"),
    [(0, "luma", 1, "0"), (1, "Co", 2, "0 to 1"), (3, "alpha", 1, "0")],
)
def test_a_layer_that_claims_planes_that_are_not_there(colours, number, name, claimed, allowed):
    samples = np.dstack([colours, colours[..., 0]])[:30, :40]
    data = mmpcodec.encode(samples, 30, preset="photo", effort=1)
    tools = PRESETS["photo"]
    tools = replace(tools, step=100, post_filter=False, fixed_filters=0, cross_component=claimed)

    def change(own):
        return [*own[:number], replace(own[number], tools=tools), *own[number + 1 :]]

    with pytest.raises(
        CorruptStream, match=f"{name}: cross component is {claimed}, allowed is {allowed}$"
    ):
        mmpcodec.decode(remade(data, change))


def test_the_error_of_an_earlier_plane_is_that_of_the_tile(colours):
    data = mmpcodec.encode(colours, 30, preset="photo", effort=1)

    def change(own):
        return [replace(own[0], payload=own[0].payload[:9]), *own[1:]]

    with pytest.raises(FormatError, match="luma: payload ends after 9 bytes"):
        mmpcodec.decode(remade(data, change))


def test_a_bad_tile_leaves_the_others(colours):
    data = mmpcodec.encode(colours, 30, preset="photo", effort=1, tile_size=64)
    header = mmpcodec.inspect(data).header
    damaged = bytearray(data)
    damaged[header.tile_offsets[1] - 3] ^= 85
    found = mmpcodec.inspect(repaired(bytes(damaged)), decode=True, allow_partial=True)
    assert [bad.tile.number for bad in found.bad_tiles] == [0]
    # Samples beside the bad tile are not smoothed.
    np.testing.assert_array_equal(found.samples[72:], mmpcodec.decode(data)[72:])


def test_backends_check_the_planes_that_they_get(colours):
    params = EncodeParams.from_options(30, preset="photo")
    gray = np.ascontiguousarray(colours[..., 0])
    for earlier in ([], [gray], [gray, gray[1:]], [gray] * 3):
        with pytest.raises(ParameterError, match="earlier has planes of shapes"):
            CPU.encode(PlaneTask(gray, params, earlier=earlier))
        with pytest.raises(ParameterError, match=r"must be 2 of \(90, 110\)"):
            CPU.decode(b"", gray.shape, params.coded_tools, earlier=earlier)


def test_memory_that_decoding_takes_is_bounded(colours):
    data = mmpcodec.encode(colours, 30, preset="photo", effort=1)
    with pytest.raises(FormatError, match="decoding can take"):
        mmpcodec.decode(data, limits=DecodeLimits(max_memory=1 << 20))
