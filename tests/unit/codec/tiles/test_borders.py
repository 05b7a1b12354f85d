"""Borders between tiles: filtered where samples are lossy, and the same in regions."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pairs import every_pair
from support.strategies import natural, text_like

import mmpcodec
from mmpcodec import EncodeParams, pictures
from mmpcodec.codec.rate_control.targets import request_of
from mmpcodec.codec.regions import RegionDecoder
from mmpcodec.format.tiles import Area
from mmpcodec.limits import DecodeLimits
from mmpcodec.reference.filters.border import REACH, BorderFilter

CAMERA = Path(__file__).parents[4] / "images" / "camera.pgm"


def picture(planes, depth=8, height=150, width=210):
    """A smooth picture of any form; with alpha, a part is hidden."""
    rng = np.random.default_rng(planes)
    samples = np.dstack([natural(rng, height, width) for _ in range(planes)])
    if planes % 2 == 0:
        samples[..., -1] = 200
        samples[40:80, 50:140, -1] = 0
    if depth < 8:
        samples >>= 8 - depth
    elif depth > 8:
        samples = samples.astype(np.uint16) << (depth - 8)
    return samples[..., 0] if planes == 1 else samples


def encoded(samples, lam=200, tile_size=64, **options):
    options = {"preset": "photo", "effort": 1, **options}
    depth = options.pop("depth", None)
    params = EncodeParams.from_options(lam, **options)
    return mmpcodec.encode_picture(samples, params, tile_size=tile_size, depth=depth)


def unfiltered(monkeypatch, data):
    """The decoded samples of a file without the border filter."""
    with monkeypatch.context() as patch:
        patch.setattr(BorderFilter, "apply", lambda *_: None)
        return mmpcodec.decode(data)


@every_pair(
    planes=[1, 2, 3, 4],
    depth=[1, 4, 8, 12, 16],
    tile_size=[64, 100, 128],
    lam=[5, 400],
    threads=[1, 3],
)
def test_decoders_show_what_the_encoder_says(planes, depth, tile_size, lam, threads):
    samples = picture(planes, depth)
    encoding = encoded(samples, lam, tile_size, depth=depth)
    assert encoding.header.border_step > 0
    found = mmpcodec.decode(encoding.data, threads=threads)
    np.testing.assert_array_equal(found, encoding.samples)
    rng = np.random.default_rng(planes)
    decoder = RegionDecoder(memoryview(encoding.data), DecodeLimits(), threads=threads)
    for _ in range(8):
        x, y = int(rng.integers(0, 200)), int(rng.integers(0, 140))
        width, height = int(rng.integers(1, 210 - x)), int(rng.integers(1, 150 - y))
        part = found[y : y + height, x : x + width]
        region = x, y, width, height
        np.testing.assert_array_equal(mmpcodec.decode(encoding.data, region=region), part)
        np.testing.assert_array_equal(decoder.decode(Area(*region)), part)


@pytest.fixture(scope="module")
def colours():
    return encoded(picture(3), 100).data


@settings(max_examples=60)
@given(st.data())
def test_any_small_region_is_that_of_the_picture(colours, draw):
    """Regions that begin or end beside borders."""
    beside = st.builds(
        lambda border, off: border + off, st.sampled_from([64, 128]), st.integers(-20, 20)
    )
    x, y = draw.draw(beside), draw.draw(beside.filter(lambda y: y < 140))
    width = draw.draw(st.integers(1, min(40, 210 - x)))
    height = draw.draw(st.integers(1, min(40, 150 - y)))
    whole = mmpcodec.decode(colours)
    np.testing.assert_array_equal(
        mmpcodec.decode(colours, region=(x, y, width, height)),
        whole[y : y + height, x : x + width],
    )


@pytest.mark.parametrize("preset", ["photo", "mixed", "plain", "text"])
def test_only_borders_are_filtered(monkeypatch, preset):
    encoding = encoded(picture(3), preset=preset)
    before = unfiltered(monkeypatch, encoding.data)
    changed = (before != encoding.samples).any(axis=2)
    assert changed.any()
    for border in (64, 128, 192):
        changed[border - REACH : border + REACH] = False
        changed[:, border - REACH : border + REACH] = False
    assert not changed.any()


@pytest.mark.parametrize(
    "options",
    [
        {"lam": 0, "preset": "lossless"},
        {"lam": 0, "preset": "plain"},
        {"lam": 40, "preset": "lossless", "max_error": 3},
        {"lam": 200, "tile_size": 210},
    ],
)
def test_files_without_loss_with_a_bound_or_of_one_tile_have_no_border_step(options):
    samples = picture(1)
    encoding = encoded(samples, **options)
    assert encoding.header.border_step == 0
    error = abs(encoding.samples.astype(int) - samples).max()
    assert error <= options.get("max_error", 0) or len(encoding.header.tiles) == 1


def test_lossless_tiles_and_pixels_of_palettes_stay(monkeypatch):
    """Text on a picture in two tiles, and text alone in a third one."""
    text = np.where(text_like(np.random.default_rng(0), 128, 384) < 100, 0, 255)
    samples = np.dstack([text, text, np.where(text > 0, 255, 120)]).astype(np.uint8)
    samples[85:, :192] = picture(3, height=43, width=192)
    encoding = encoded(samples, 200, 128, preset="auto")
    layers = [part for part in encoding.layers if part.name == "palette"]
    assert [(part.tile, part.transparent) for part in layers] == [(0, True), (1, True), (2, False)]
    changed = (unfiltered(monkeypatch, encoding.data) != encoding.samples).any(axis=2)
    drawn = np.hstack([part.trace.drawn for part in layers])
    assert changed[:, 120:136].any()
    assert drawn[:, 120:136].any()
    assert not changed[drawn].any()
    np.testing.assert_array_equal(encoding.samples, mmpcodec.decode(encoding.data))
    np.testing.assert_array_equal(
        encoding.samples[:, 100:300], mmpcodec.decode(encoding.data, region=(100, 0, 200, 128))
    )


def test_hidden_colours_are_not_spread(monkeypatch):
    samples = picture(4)
    encoding = encoded(samples)
    changed = (unfiltered(monkeypatch, encoding.data) != encoding.samples).any(axis=2)
    assert changed.any()
    hidden = samples[..., -1] == 0
    assert not changed[hidden].any()
    np.testing.assert_array_equal(encoding.samples[..., -1], samples[..., -1])


def test_borders_of_missing_tiles_are_not_filtered(monkeypatch, colours):
    header = mmpcodec.inspect(colours).header
    before = unfiltered(monkeypatch, colours)
    bad = bytearray(colours)
    bad[header.tile_offsets[5] + 30] ^= 1
    found = mmpcodec.inspect(bytes(bad), decode=True, allow_partial=True)
    assert found.samples is not None
    assert [one.tile.number for one in found.bad_tiles] == [5]
    np.testing.assert_array_equal(found.samples[72:120, 56:64], before[72:120, 56:64])
    assert (found.samples[:56, 56:72] != before[:56, 56:72]).any()
    region = mmpcodec.inspect(bytes(bad), decode=True, allow_partial=True, region=(56, 72, 8, 48))
    assert not region.bad_tiles
    np.testing.assert_array_equal(region.samples, found.samples[72:120, 56:64])


def test_a_target_counts_the_filtered_picture():
    params, target = request_of(target_psnr=33.0, preset="photo", effort=1)
    encoding = mmpcodec.encode_picture(picture(1), params, target=target, tile_size=64)
    error = mmpcodec.decode(encoding.data).astype(float) - encoding.source
    assert 33 <= 10 * np.log10(255**2 / (error**2).mean()) < 33.6


def steps(source, decoded, tile):
    """Mean step of the error across borders, divided by that elsewhere."""
    error = decoded.astype(int) - source
    borders, others = [], []
    for axis in (0, 1):
        step = abs(np.diff(error, axis=axis))
        behind = np.arange(1, step.shape[axis] + 1)
        distance = np.minimum(behind % tile, -behind % tile)
        borders.append(np.compress(distance == 0, step, axis=axis).ravel())
        others.append(np.compress(distance >= REACH, step, axis=axis).ravel())
    return np.concatenate(borders).mean() / np.concatenate(others).mean()


@pytest.mark.parametrize("lam", [32, 144, 432])
def test_the_error_of_a_photograph_has_no_steps_at_borders(monkeypatch, lam):
    samples = pictures.read(CAMERA).samples
    encoding = encoded(samples, lam)
    before = unfiltered(monkeypatch, encoding.data)
    assert steps(samples, before, 64) > 1.15
    assert steps(samples, encoding.samples, 64) <= 1.05
    errors = [((own.astype(int) - samples) ** 2).sum() for own in (before, encoding.samples)]
    assert errors[1] < errors[0]
