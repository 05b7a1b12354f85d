"""The fine layout: luma and chroma with two bits more than the picture."""

import numpy as np
import pytest
from mutate import with_layout, with_number
from support.strategies import natural, text_like

import mmpcodec
from mmpcodec import CorruptStream, EncodeParams
from mmpcodec.codec.candidates import backends_of
from mmpcodec.codec.colour import joined, split
from mmpcodec.codec.distortion import distortion
from mmpcodec.codec.layers import tasks
from mmpcodec.codec.tile_choice import encode_tiles
from mmpcodec.codec.tile_coding import TileSource
from mmpcodec.format import layers
from mmpcodec.format.layouts import Layout
from mmpcodec.samples import Form, form_of
from mmpcodec.tools import trees_of

NAMES = "luma", "Co", "Cg"
PHOTO = {"preset": "photo", "effort": 1}


def photograph(height=60, width=70):
    rng = np.random.default_rng(5)
    first, second = natural(rng, height, width), natural(rng, height, width)
    return np.stack([first, first // 2 + second // 3, 255 - second], axis=2)


@pytest.fixture
def no_fine(monkeypatch):
    """Make the encoder take the usual layout when called."""

    def leave_out():
        monkeypatch.setattr(tasks, "can_be_fine", lambda *_: False)

    return leave_out


def depths(data):
    return [(layer.name, layer.depth) for layer in mmpcodec.inspect(data).layers]


@pytest.mark.parametrize("planes", [3, 4])
@pytest.mark.parametrize("depth", [1, 5, 8, 10, 14])
def test_the_conversion_alone_loses_nothing(depth, planes):
    rng = np.random.default_rng(depth)
    kind = np.uint8 if depth <= 8 else np.uint16
    most = (1 << depth) - 1
    samples = rng.integers(0, most + 1, (20, 30, planes)).astype(kind)
    samples[:8, 0, :3] = most * ((np.arange(8)[:, None] >> np.arange(3)) & 1)
    made = split(samples, depth, Layout.FINE_LUMA)
    wide = max(depth, 8)
    assert Layout.FINE_LUMA.depth_of("luma", depth) == wide + 2
    assert Layout.FINE_LUMA.depth_of("alpha", depth) == wide
    assert [plane.dtype for plane in made[:3]] == [np.uint16] * 3
    back = joined(made, form_of(samples), depth, Layout.FINE_LUMA)
    assert back.dtype == kind
    np.testing.assert_array_equal(back, samples)


def test_luma_and_chroma_by_hand():
    samples = np.array([[[200, 100, 30]]], np.uint8)
    planes = split(samples, 8, Layout.FINE_LUMA)
    # Means: (200 + 100 + 30) / 3 = 110, (200 - 30) / 2.5 = 68, (200 - 230) / 6 * 7 / 5 = -7.
    assert [int(plane[0, 0]) for plane in planes] == [440, 512 + 272, 512 - 28]
    for change, green in ((1, 100), (2, 101), (-2, 100), (-3, 99)):
        own = [(planes[0].astype(int) + change).astype(np.uint16), *planes[1:]]
        assert joined(own, Form.RGB, 8, Layout.FINE_LUMA)[0, 0, 1] == green


def test_colours_beyond_the_range_are_limited():
    white = np.array([[1023]], np.uint16)
    assert joined([white] * 3, Form.RGB, 8, Layout.FINE_LUMA).tolist() == [[[255, 255, 5]]]


@pytest.mark.parametrize(
    ("depth", "lam", "of_layer"),
    [(4, 4, 10), (8, 4, 10), (10, 4, 12), (10, 70, 10), (14, 0.2, 16), (14, 4, 14), (15, 0.01, 15)],
)
def test_round_trip(depth, lam, of_layer):
    colours = photograph()
    samples = colours >> (8 - depth) if depth < 8 else colours.astype(np.uint16) << (depth - 8)
    samples = samples.astype(np.uint8) if depth <= 8 else samples
    found = mmpcodec.encode_picture(samples, EncodeParams.from_options(lam, **PHOTO), depth=depth)
    assert depths(found.data) == [(name, of_layer) for name in NAMES]
    assert [layer.depth for layer in found.layers] == [of_layer] * 3
    back = mmpcodec.decode(found.data)
    assert (back.dtype, back.shape) == (samples.dtype, samples.shape)
    np.testing.assert_array_equal(back, found.samples)
    np.testing.assert_array_equal(back, mmpcodec.decode(found.data, backend="reference"))
    assert distortion(samples, back, depth) < (4 + 4 * lam) * 60 * 70


def test_less_distortion_for_equal_bytes(no_fine):
    colours = photograph(96, 96)

    def cost(lam):
        data = mmpcodec.encode(colours, lam, **PHOTO)
        return distortion(colours, mmpcodec.decode(data), 8) + lam * 8 * len(data)

    fine = [cost(lam) for lam in (2, 8, 30)]
    no_fine()
    usual = [cost(lam) for lam in (2, 8, 30)]
    assert [a < b for a, b in zip(fine, usual, strict=True)] == [True] * 3
    assert fine[0] < 0.97 * usual[0]


@pytest.mark.parametrize(
    ("options", "planes", "of_colours"),
    [
        ({"preset": "mixed"}, 3, 8),
        ({"preset": "text"}, 3, 8),
        ({"initial_states": False, "cross_component": 0, "fixed_filters": 0, "dependent": False,
          "fine_contexts": False, "pdpc": False, "border_sines": False,
          "cross_component_filter": False}, 3, 10),
        ({"pdpc": True}, 4, 10),
        ({"lam": 1024}, 3, 10),
        ({"lam": 1025}, 3, 8),
        ({}, 2, 8),
        ({}, 1, 8),
    ],
)  # fmt: skip
def test_which_layers_are_fine(options, planes, of_colours):
    samples = np.dstack([photograph(20, 30), photograph(20, 30)])[..., :planes]
    samples = samples[..., 0] if planes == 1 else samples
    params = EncodeParams.from_options(**{"lam": 30, **PHOTO, **options})
    found = mmpcodec.encode_picture(samples, params)
    own = [layer.depth for layer in found.layers]
    assert own == ([of_colours] * 3 + [8])[:planes] if planes > 2 else own == [8] * planes
    np.testing.assert_array_equal(mmpcodec.decode(found.data), found.samples)
    if planes in (2, 4):
        np.testing.assert_array_equal(found.samples[..., -1], samples[..., -1])


def test_presets_that_try_several_codings():
    """Auto and best take the fine layout for a photograph, and not for a page."""
    rng = np.random.default_rng(1)
    page = np.dstack([text_like(rng, 64, 64)] * 3)
    of = {}
    for preset in ("auto", "best"):
        for name, samples in (("photograph", photograph(64, 64)), ("page", page)):
            options = {"preset": preset, "effort": 1, "palette": False}
            data = mmpcodec.encode(samples, 4, **options)
            of[preset, name] = max(depth for _, depth in depths(data))
    assert of == {
        ("auto", "photograph"): 10,
        ("auto", "page"): 8,
        ("best", "photograph"): 10,
        ("best", "page"): 8,
    }


def test_costs_of_candidates_that_code_both_layouts(no_fine):
    """A candidate costs what it does in its better layout."""
    samples = photograph(40, 50)
    candidates = EncodeParams.from_options(4, preset="best", effort=1).each_alone()
    chosen = backends_of(candidates, "cpu", 8, 12)

    def costs():
        tile = TileSource(samples, samples, 8)
        (made,) = encode_tiles([tile], candidates, chosen, 1, None)
        return made.costs

    with_fine = costs()
    no_fine()
    without = costs()
    assert with_fine[0] < without[0] < np.inf
    assert with_fine[1:] == without[1:]


def test_layers_with_other_candidates_are_not_fine(monkeypatch):
    """Mixed may code the first layer, photo codes the others: a tile mixes layers of 8 bits."""
    monkeypatch.setattr(tasks.classification, "tried", lambda *_: [{0, 2}, {0}, {0}])
    params = EncodeParams.from_options(20, preset="auto", effort=1)
    assert [trees_of(one) is not None for one in params.sets][::2] == [False, True]
    found = mmpcodec.encode_picture(photograph(), params)
    assert [layer.depth for layer in found.layers] == [8, 8, 8]


@pytest.mark.parametrize("planes", [3, 4])
def test_regions_tiles_and_threads(planes):
    samples = np.dstack([photograph(90, 110), photograph(90, 110)[..., 0]])[..., :planes]
    data = mmpcodec.encode(samples, 20, tile_size=64, threads=1, **PHOTO)
    assert mmpcodec.encode(samples, 20, tile_size=64, threads=3, **PHOTO) == data
    assert {depth for name, depth in depths(data) if name != "alpha"} == {10}
    whole = mmpcodec.decode(data)
    part = mmpcodec.decode(data, region=(50, 20, 40, 60))
    np.testing.assert_array_equal(part, whole[20:80, 50:90])


def test_hidden_colours_and_importance():
    colours = photograph()
    alpha = np.full((60, 70), 255, np.uint8)
    alpha[:, 40:] = 0
    samples = np.dstack([colours, alpha])
    noisy = samples.copy()
    noisy[:, 40:, :3] = np.random.default_rng(0).integers(0, 256, (60, 30, 3))
    roi = np.zeros((60, 70), int)
    roi[:, :40] = 4
    found = {}
    for name, own, of_pixels in (
        ("plain", samples, None),
        ("noisy", noisy, None),
        ("important", samples, roi),
    ):
        data = mmpcodec.encode(own, 20, roi=of_pixels, **PHOTO)
        assert depths(data) == [*((name, 10) for name in NAMES), ("alpha", 8)]
        back = mmpcodec.decode(data)
        np.testing.assert_array_equal(back[..., 3], alpha)
        error = colours[:, :40].astype(int) - back[:, :40, :3]
        found[name] = len(data), np.square(error).mean()
    assert found["noisy"][0] < 1.1 * found["plain"][0]
    assert found["important"][1] < 0.8 * found["plain"][1]


def test_what_files_must_not_have():
    colours = photograph(20, 30)
    fine = mmpcodec.encode(colours, 20, **PHOTO)
    mixed = mmpcodec.encode(colours, 20, **{**PHOTO, "preset": "mixed"})
    deep = mmpcodec.encode(colours.astype(np.uint16) << 6, 0.2, depth=14, **PHOTO)
    alpha = mmpcodec.encode(colours[..., :2], 20, **PHOTO)
    for data, says in (
        (with_layout(fine, 4), "layout is 4, allowed is 0 to 3"),
        (with_number(deep, "depth", 15), "layout is 3, allowed at a depth of 15 is 0 to 2"),
        (with_layout(mixed, 3), "luma: depth is 10, allowed with dictionary is 1 to 8"),
        (with_layout(fine, 2), "samples CRC is"),
        (with_number(alpha, "layout", 3), "layout is 3, allowed for gray with alpha is 0 or 1"),
    ):
        with pytest.raises(CorruptStream, match=says):
            mmpcodec.decode(data)


def test_tiles_take_the_tool_sets_of_the_header():
    data = mmpcodec.encode(photograph(130, 130), 20, tile_size=64, **PHOTO)
    header = mmpcodec.inspect(data).header
    assert len(header.tool_sets) == 3
    steps = [layer.tools.step for layer in mmpcodec.inspect(data).layers]
    assert steps == [tools.step for tools in header.tool_sets] * 9
    for start in header.tile_offsets[:-1]:
        # After the CRCs, the layout and the rotation: a coding that names a set.
        assert data[start + sum(header.crc_bytes) + 4] >= layers.IN_SET
