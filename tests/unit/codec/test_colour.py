"""Forms of pictures: their planes, layers, colours and depths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mmpcodec
from mmpcodec import EncodeParams, ParameterError
from mmpcodec.codec import colour
from mmpcodec.codec.colour import joined, layout_of, split
from mmpcodec.codec.distortion import distortion, psnr_of
from mmpcodec.format.layouts import Layout, layer_names, weight_of
from mmpcodec.reference.colour import from_luma, narrowed, to_luma, widened
from mmpcodec.samples import Form, form_of
from mmpcodec.tools import trees_of


@pytest.mark.parametrize(
    ("form", "layout", "names"),
    [
        (Form.GRAY, Layout.TOGETHER, ("gray",)),
        (Form.GRAY_ALPHA, Layout.TOGETHER, ("gray with alpha",)),
        (Form.GRAY_ALPHA, Layout.APART, ("gray", "alpha")),
        (Form.RGB, Layout.APART, ("red", "green", "blue")),
        (Form.RGB_ALPHA, Layout.LUMA, ("luma", "Co", "Cg", "alpha")),
        (Form.RGB, Layout.FINE_LUMA, ("luma", "Co", "Cg")),
    ],
)
def test_layers_of_a_form(form, layout, names):
    assert layer_names(form, layout) == names
    assert layout.allowed(form)


def test_layouts_that_a_form_cannot_have():
    allowed = {form: [layout for layout in Layout if layout.allowed(form)] for form in Form}
    assert allowed == {
        Form.GRAY: [Layout.TOGETHER],
        Form.GRAY_ALPHA: [Layout.TOGETHER, Layout.APART],
        Form.RGB: list(Layout),
        Form.RGB_ALPHA: list(Layout),
    }


@given(st.integers(8, 16), st.integers(0, 2**32 - 1))
def test_colours_come_back_within_a_level_and_a_half(depth, seed):
    white = (1 << depth) - 1
    rng = np.random.default_rng(seed)
    kind = np.uint8 if depth == 8 else np.uint16
    colours = rng.integers(0, white + 1, (3, 5, 7)).astype(kind)
    colours[:, 0, :3] = [[0, white, white], [white, 0, white], [white, white, 0]]
    luma = to_luma(list(colours), depth, depth)
    assert all(plane.dtype == kind for plane in luma)
    back = from_luma(luma, depth, depth)
    for given_plane, found in zip(colours, back, strict=True):
        assert np.abs(given_plane.astype(int) - found).max() <= 2
    error = np.mean((colours.astype(int) - np.array(back, int)) ** 2)
    assert error < 0.45


def test_gray_has_chroma_in_the_middle():
    plane = np.arange(256, dtype=np.uint8).reshape(16, 16)
    luma, co, cg = to_luma([plane] * 3, 8, 8)
    np.testing.assert_array_equal(luma, plane)
    assert set(co.flat) == set(cg.flat) == {128}


def test_luma_by_hand():
    red, green, blue = (np.array([[value]], np.uint8) for value in (200, 100, 30))
    luma, co, cg = to_luma([red, green, blue], 8, 8)
    assert (luma[0, 0], co[0, 0], cg[0, 0]) == (108, 128 + 85, 128 - 7)
    back = from_luma([luma, co, cg], 8, 8)
    assert [plane[0, 0] for plane in back] == [200, 101, 30]


@pytest.mark.parametrize("depth", range(1, 8))
def test_few_bits_become_eight_and_come_back(depth):
    samples = np.arange(1 << depth, dtype=np.uint8)
    wide = widened(samples, depth)
    assert (wide[0], wide[-1]) == (0, 255)
    np.testing.assert_array_equal(narrowed(wide, depth), samples)
    assert widened(samples, 8) is samples
    assert narrowed(samples, 12) is samples


@pytest.mark.parametrize("planes", [1, 2, 3, 4])
@pytest.mark.parametrize("depth", [3, 8, 11])
def test_planes_apart_are_joined_again(planes, depth):
    rng = np.random.default_rng(planes)
    kind = np.uint8 if depth <= 8 else np.uint16
    samples = rng.integers(0, 1 << depth, (6, 5, planes)).astype(kind)
    samples = samples[..., 0] if planes == 1 else samples
    layout = layout_of(samples, 0)
    parts = split(samples, depth, layout)
    assert len(parts) == planes
    np.testing.assert_array_equal(joined(parts, form_of(samples), depth, layout), samples)


@pytest.mark.parametrize("threads", [1, 3, None])
@pytest.mark.parametrize("depth", [8, 12])
@pytest.mark.parametrize("layout", [Layout.LUMA, Layout.FINE_LUMA])
def test_bands_of_rows_change_nothing(monkeypatch, threads, depth, layout):
    rng = np.random.default_rng(depth)
    colours = rng.integers(0, 1 << depth, (50, 23, 4)).astype(np.uint8 if depth == 8 else np.uint16)
    whole = split(colours, depth, layout)
    back = joined(whole, Form.RGB_ALPHA, depth, layout)
    monkeypatch.setattr(colour, "BAND_SAMPLES", 7 * 23)
    planes = split(colours, depth, layout, threads=threads)
    for plane, expected in zip(planes, whole, strict=True):
        np.testing.assert_array_equal(plane, expected)
    found = joined(planes, Form.RGB_ALPHA, depth, layout, threads=threads)
    np.testing.assert_array_equal(found, back)


@pytest.mark.parametrize(("layout", "bits"), [(Layout.LUMA, 0), (Layout.FINE_LUMA, 2)])
def test_weights_are_what_an_error_of_a_layer_does_to_the_colours(layout, bits):
    rng = np.random.default_rng(0)
    colours = rng.integers(80, 170, (40, 50, 3)).astype(np.uint8)
    planes = split(colours, 8, layout)
    base = joined(planes, Form.RGB, 8, layout)
    for number, plane in enumerate(planes):
        changed = list(planes)
        changed[number] = plane + plane.dtype.type(6 << bits)
        error = distortion(base, joined(changed, Form.RGB, 8, layout), 8)
        assert error == pytest.approx(
            weight_of(Form.RGB, layout, number) * 36 * plane.size, rel=0.02
        )


def test_distortion_is_in_units_of_eight_bits_and_leaves_alpha_out():
    a = np.zeros((2, 3, 4), np.uint16)
    a[..., 3] = 1  # no pixel is wholly transparent
    b = a.copy()
    b[0, 0] = [16, 32, 0, 999]
    assert distortion(a, b, 12) == (1 + 4) / 3
    assert psnr_of(distortion(a, b, 12), 6, 12) == pytest.approx(
        10 * np.log10(4095**2 * 18 / (16**2 + 32**2))
    )


def test_lambda_means_the_same_at_every_depth():
    i, j = np.indices((64, 64))
    gray = (100 + 60 * np.sin(i / 9) + 50 * np.cos(j / 7)).astype(np.uint8)
    eight = mmpcodec.encode(gray, 20, preset="photo", effort=1)
    twelve = mmpcodec.encode(gray.astype(np.uint16) << 4, 20, depth=12, preset="photo", effort=1)
    assert len(twelve) == pytest.approx(len(eight), rel=0.05)


def test_gray_as_colours_costs_little_more_than_gray():
    i, j = np.indices((64, 64))
    gray = (100 + 60 * np.sin(i / 9) + 50 * np.cos(j / 7)).astype(np.uint8)
    options = {"preset": "photo", "effort": 1}
    alone = mmpcodec.encode(gray, 20, **options)
    thrice = mmpcodec.encode(np.dstack([gray] * 3), 20, **options)
    assert len(thrice) <= len(alone) + 40
    decoded = mmpcodec.decode(thrice)
    assert (decoded == decoded[..., :1]).all()


def test_alpha_is_exact_whatever_lambda_is():
    rng = np.random.default_rng(3)
    samples = rng.integers(0, 256, (30, 40, 4)).astype(np.uint8)
    for preset in ("photo", "text", "mixed"):
        back = mmpcodec.decode(mmpcodec.encode(samples, 500, preset=preset, effort=1))
        np.testing.assert_array_equal(back[..., 3], samples[..., 3])
        assert (back[..., :3] != samples[..., :3]).any()


def test_layers_can_have_other_tools():
    """Letters in luma, a shade in chroma: the best of each."""
    rng = np.random.default_rng(0)
    letters = np.kron(rng.integers(0, 2, (3, 12, 12)), np.ones((1, 1, 1)))
    page = np.tile(letters[0], (8, 10)) * 180 + 40
    i, j = np.indices(page.shape)
    tint = 30 * np.sin(i / 15) + 30 * np.cos(j / 21)
    colours = np.stack([page + tint, page, page - tint], axis=2).clip(0, 255).astype(np.uint8)
    params = EncodeParams.from_options(40, effort=1)
    found = mmpcodec.encode_picture(colours, params)
    cheapest = min(
        len(mmpcodec.encode(colours, 40, preset=preset, effort=1))
        for preset in ("photo", "text", "mixed")
    )
    assert len(found.data) < cheapest
    assert len({(one.tools.coding, trees_of(one.tools) is None) for one in found.layers}) > 1


def test_lossless_presets_code_all_forms():
    rng = np.random.default_rng(1)
    for planes, depth in ((2, 8), (3, 8), (4, 8), (1, 2), (3, 5)):
        samples = rng.integers(0, 1 << depth, (9, 13, planes)).astype(np.uint8)
        samples = samples[..., 0] if planes == 1 else samples
        for preset in ("text", "plain", "classic", "lossless", "auto"):
            data = mmpcodec.encode(samples, 0, depth=depth, preset=preset)
            np.testing.assert_array_equal(mmpcodec.decode(data), samples)


def test_wide_types_with_few_bits_give_bytes():
    samples = np.arange(20, dtype=np.uint16).reshape(4, 5)
    data = mmpcodec.encode(samples, 0, depth=5)
    assert data == mmpcodec.encode(samples.astype(np.uint8), 0, depth=5)
    assert mmpcodec.decode(data).dtype == np.uint8


@pytest.mark.parametrize("target", [{"target_size": 900}, {"target_psnr": 36.0}])
@pytest.mark.parametrize(("planes", "depth"), [(3, 8), (4, 8), (1, 12), (3, 10)])
def test_targets_of_every_form(target, planes, depth):
    i, j = np.indices((60, 70))
    rng = np.random.default_rng(7)
    white = (1 << depth) - 1
    shade = 0.5 + 0.2 * np.sin(i / 9)[..., None] + 0.2 * np.cos(j[..., None] / (7 + np.arange(3)))
    noisy = (shade + rng.normal(0, 0.01, shade.shape)) * white
    samples = noisy.clip(0, white).astype(np.uint8 if depth == 8 else np.uint16)
    samples = samples[..., 0] if planes == 1 else samples
    if planes == 4:
        samples = np.dstack([samples, np.full((60, 70), white, samples.dtype)])
    data = mmpcodec.encode(samples, depth=depth, effort=1, **target)
    found = psnr_of(distortion(samples, mmpcodec.decode(data), depth), 60 * 70, depth)
    if "target_size" in target:
        assert 0.9 * 900 <= len(data) <= 900
        assert found > 25
    else:
        assert 36 <= found < 37


def test_presets_that_cannot_code_deep_samples_are_named():
    deep = np.array([[0, 4095]], np.uint16)
    for preset in ("text", "mixed", "plain", "classic"):
        says = f"depth is 12, allowed with preset {preset} is 1 to 8; take preset photo or lossless"
        with pytest.raises(ParameterError, match=says):
            mmpcodec.encode(deep, 20, depth=12, preset=preset)
    with pytest.raises(ParameterError, match="allowed with trees is 1 to 8; take preset photo"):
        mmpcodec.encode(deep, 20, depth=12, preset="text", copy_radius=3)
    # "auto" leaves them out.
    assert mmpcodec.decode(mmpcodec.encode(deep, depth=12)).dtype == np.uint16


@pytest.mark.parametrize("metadata", [{}, {"icc": b"x"}, [None], b"x", 5, []])
def test_metadata_of_another_type_are_refused(metadata):
    with pytest.raises(ParameterError, match="metadata of "):
        mmpcodec.encode(np.zeros((4, 4), np.uint8), metadata=metadata)
