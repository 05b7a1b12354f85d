"""Importance: pixels that matter more, and pixels that alpha hides."""

import io

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import EncodeParams, ParameterError, backends
from mmpcodec.codec.distortion import distortion
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.codec.weighting.filling import filled
from mmpcodec.codec.weighting.maps import Weighting, with_roi
from mmpcodec.pictures.readers import WholeReader
from mmpcodec.presets import PRESETS

PHOTO = {"preset": "photo", "effort": 1}


@pytest.fixture(scope="module")
def picture():
    rng = np.random.default_rng(12)
    rough = natural(rng, 128, 192) + rng.integers(0, 24, (128, 192))
    return rough.clip(0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def region(picture):
    mask = np.zeros(picture.shape, bool)
    mask[64:128, 64:128] = True
    return mask


@pytest.fixture(scope="module")
def rgba(picture):
    """A picture in colour of which a disk and little more is seen."""
    rows, columns = np.indices(picture.shape)
    alpha = np.where((rows - 60) ** 2 + (columns - 60) ** 2 < 45**2, 255, 0).astype(np.uint8)
    return np.dstack([picture, picture[::-1], 255 - picture, alpha])


def error(picture, data, where):
    difference = picture.astype(int) - mmpcodec.decode(data)
    return float((difference[where] ** 2).mean())


def test_important_pixels_have_a_smaller_error(picture, region):
    plain = mmpcodec.encode(picture, 8, **PHOTO)
    better = mmpcodec.encode(picture, 8, roi=8 * region, **PHOTO)
    worse = mmpcodec.encode(picture, 8, roi=-8 * region.astype(int), **PHOTO)
    inside = [error(picture, data, region) for data in (better, plain, worse)]
    assert 3 * inside[0] < inside[1] < inside[2] / 2
    outside = [error(picture, data, ~region) for data in (better, plain, worse)]
    assert max(outside) < 1.1 * min(outside)
    assert len(worse) < len(plain) < len(better)


def test_a_fragment_is_as_important_as_its_most_important_pixel(picture):
    roi = np.full(picture.shape, -3)
    roi[70, 100], roi[0, 191] = 5, 2
    found = mmpcodec.inspect(mmpcodec.encode(picture, 8, roi=roi, **PHOTO), decode=True)
    trace = found.layers[0].trace
    assert trace.changes.tolist() == [[3, 3, -2], [3, -5, 3]]


def test_pixels_that_count_alike_cost_nothing(picture):
    plain = mmpcodec.encode(picture, 8, **PHOTO)
    assert mmpcodec.encode(picture, 8, roi=np.zeros(picture.shape, int), **PHOTO) == plain
    assert not mmpcodec.inspect(plain).layers[0].tools.delta_step
    unused = mmpcodec.encode(picture, 8, delta_step=True, **PHOTO)
    assert 0 <= len(unused) - len(plain) <= 2


@pytest.mark.parametrize("preset", ["auto", "best", "mixed"])
def test_presets_with_predicted_blocks(picture, region, preset):
    options = {**PHOTO, "preset": preset}
    data = mmpcodec.encode(picture[:70, :128], 8, roi=4 * region[:70, :128], **options)
    found = mmpcodec.inspect(data, decode=True)
    assert all(layer.tools.delta_step for layer in found.layers)
    assert {-4, 0} == set(found.layers[0].trace.changes.ravel().tolist())


def test_tiles_have_their_parts_of_the_map(picture, region):
    params = EncodeParams.from_options(8, **PHOTO)
    whole = mmpcodec.encode_picture(picture, params, tile_size=64, roi=4 * region)
    changes = [None if one.trace.changes is None else one.trace.changes for one in whole.layers]
    assert [None if one is None else one.tolist() for one in changes] == [
        *[None] * 4,
        [[-4]],
        None,
    ]
    file = io.BytesIO()
    reader = WholeReader(mmpcodec.pictures.Picture(picture, 8), "picture")
    encode_large(reader, file, params, tile_size=64, roi=4 * region)
    assert file.getvalue() == whole.data


def test_pictures_of_a_batch_have_maps_of_their_own(picture, region):
    files = mmpcodec.encode_batch([picture] * 2, 8, roi=[None, 4 * region], **PHOTO)
    assert files == [
        mmpcodec.encode(picture, 8, **PHOTO),
        mmpcodec.encode(picture, 8, roi=4 * region, **PHOTO),
    ]
    with pytest.raises(ParameterError, match="roi of 1 pictures: must be of all 2"):
        mmpcodec.encode_batch([picture] * 2, roi=[region], **PHOTO)
    with pytest.raises(ParameterError, match="palette = True and roi: give only one"):
        mmpcodec.encode(picture, roi=np.zeros((5, 5)), palette=True)
    with pytest.raises(ParameterError, match="number 1: roi of shape"):
        mmpcodec.encode_batch([picture] * 2, roi=[region, region[1:]], **PHOTO)


def test_targets_hold(picture, region):
    data = mmpcodec.encode(picture, target_size=6000, roi=8 * region, **PHOTO)
    assert 5700 < len(data) <= 6000
    assert 2 * error(picture, data, region) < error(picture, data, ~region)
    found = mmpcodec.encode(picture, target_psnr=36, roi=8 * region, **PHOTO)
    everywhere = error(picture, found, np.ones(picture.shape, bool))
    assert 36 <= 10 * np.log10(255**2 / everywhere) < 36.2


@pytest.mark.parametrize(
    ("roi", "message"),
    [
        (np.zeros((3, 4), int), r"roi of shape \(3, 4\): must be \(20, 30\)"),
        (np.zeros((20, 30)), "roi of type float64: must be integers"),
        (np.full((20, 30), 25), "roi = 25: must be from -24 to 24"),
        (np.full((20, 30), -25), "roi = -25: must be from -24 to 24"),
    ],
)
def test_a_wrong_map_is_refused(roi, message):
    with pytest.raises(ParameterError, match=message):
        mmpcodec.encode(np.zeros((20, 30), np.uint8), roi=roi, **PHOTO)


def test_what_has_no_steps_is_refused():
    def refused(message, lam=32, **options):
        with pytest.raises(ParameterError, match=message):
            mmpcodec.encode(np.zeros((4, 4), np.uint8), lam, roi=np.ones((4, 4), bool), **options)

    refused("needs predicted blocks .*; take preset photo or mixed", preset="text")
    refused("needs predicted blocks and lambda above 0", lam=0)
    params = EncodeParams.from_options(**PHOTO)
    assert with_roi(with_roi(params)) == with_roi(params)


def test_hidden_pixels_cost_little(rgba):
    seen = rgba[..., 3] > 0
    whole = mmpcodec.encode(np.ascontiguousarray(rgba[..., :3]), 8, **PHOTO)
    data = mmpcodec.encode(rgba, 8, **PHOTO)
    assert len(data) < 0.55 * len(whole)
    shown = mmpcodec.decode(data)
    assert (shown[..., 3] == rgba[..., 3]).all()
    # Of four planes, alpha has no error.
    assert error(rgba, data, seen) < 1.25 * error(rgba[..., :3], whole, seen) * 3 / 4


def test_nothing_hidden_changes_nothing(rgba):
    opaque = rgba.copy()
    opaque[..., 3] = np.maximum(opaque[..., 3], 1)
    shown = mmpcodec.decode(mmpcodec.encode(opaque, 8, **PHOTO))
    hidden = rgba[..., 3] == 0
    assert np.abs(opaque.astype(int) - shown)[hidden].mean() < 12
    for preset in ("lossless", "plain"):
        small = rgba[:40, :50]
        lossless = mmpcodec.encode(small, 0, preset=preset)
        assert (mmpcodec.decode(lossless) == small).all()


def test_targets_ignore_hidden_pixels(rgba):
    data = mmpcodec.encode(rgba, target_psnr=34, **PHOTO)
    found = distortion(rgba, mmpcodec.decode(data), 8)
    psnr = 10 * np.log10(255**2 * rgba[..., 0].size / found)
    assert 34 <= psnr < 34.2
    colours = np.ascontiguousarray(rgba[..., :3])
    assert distortion(colours, mmpcodec.decode(data)[..., :3], 8) > 4 * found


def test_hidden_colours_are_filled_smoothly():
    rng = np.random.default_rng(1)
    samples = rng.integers(0, 256, (33, 50, 4), dtype=np.uint8)
    samples[..., :3] = samples[..., :3] // 8 + np.array([20, 90, 200])
    seen = np.zeros((33, 50), bool)
    seen[3:9, 10:20] = seen[25:, 44:] = True
    found = filled(samples, seen)
    assert (found[seen] == samples[seen]).all()
    assert (found[..., 3] == samples[..., 3]).all()
    for plane, first in zip(np.moveaxis(found[..., :3], 2, 0), (20, 90, 200), strict=True):
        assert plane.min() >= first
        assert plane.max() <= first + 31
        away = plane[12:22, :40].astype(int)
        assert np.abs(np.diff(away, axis=0)).max() <= 4
    assert (filled(samples, np.zeros_like(seen))[..., :3] == 0).all()


def test_the_map_of_fragments():
    tools = EncodeParams.from_options(**PHOTO, fragment_size=16, delta_step=True).tools
    seen = np.ones((40, 50), bool)
    seen[:16, :33] = False
    roi = np.zeros((40, 50), np.int8)
    roi[:16, 40], roi[20, 20], roi[5, 20] = 6, 3, 9
    found = Weighting(roi, seen).fragments(tools, seen.shape)
    assert found.hidden.tolist() == [[True, True, False, False], *[[False] * 4] * 2]
    # A hidden fragment takes the change that is expected.
    assert found.changes.tolist() == [[0, 0, -6, 0], [0, -3, 0, 0], [0, 0, 0, 0]]
    assert Weighting().fragments(tools, seen.shape) is None
    assert Weighting(None, seen).fragments(PRESETS["text"], seen.shape) is None


def test_errors_weigh_by_importance():
    roi = np.array([[0, 2, -2, 4]], np.int8)
    seen = np.array([[True, True, True, False]])
    source, decoded = np.zeros((1, 4), np.uint8), np.array([[1, 2, 4, 9]], np.uint8)
    numpy = backends.get("reference")
    assert Weighting(roi).squared_error(source, decoded, numpy) == 1 + 2 * 4 + 16 / 2 + 4 * 81
    assert Weighting(roi, seen).squared_error(source, decoded, numpy) == 1 + 2 * 4 + 16 / 2
    assert Weighting(None, seen).squared_error(source, decoded, numpy) == 21
