"""Deep pictures: the levels that they use, to which lambda, quality and measures refer."""

from dataclasses import replace

import numpy as np
import pytest

import mmpcodec
from mmpcodec import EncodeParams, ParameterError
from mmpcodec.codec.distortion import psnr_of
from mmpcodec.codec.levels import Levels, range_of
from mmpcodec.metadata import Calibration, Metadata

AIR = 31744
"""Sample of -1024 HU in a CT whose signed values are shifted by 32768."""


def scan(seed=0, side=96):
    """A CT of 16 bits: air, tissue of a few shades, noise of 12 HU; 1/16 of the levels."""
    rows, columns = np.mgrid[:side, :side]
    inside = (rows - side / 2) ** 2 + (columns - side / 2) ** 2 < (0.4 * side) ** 2
    values = np.where(inside, 40 + 60 * np.sin(columns / 9) * np.cos(rows / 7), -1000)
    values = values + np.random.default_rng(seed).normal(0, 12, values.shape)
    return (values + 32768).clip(AIR, None).astype(np.uint16)


def calibrated(slope=1.0, window=None, unit="HU"):
    found = Calibration(slope, -32768.0 * slope, unit, window)
    return Metadata(text=(found.text(),))


def errors(samples, data):
    return np.abs(mmpcodec.decode(data).astype(int) - samples)


@pytest.mark.parametrize(
    ("levels", "depth", "expected"),
    [
        ((0, 595), 12, (0, 1023)),
        ((0, 4095), 16, (0, 4095)),
        ((31744, 35000), 16, (31744, 35839)),
        ((100, 40000), 16, (0, 65535)),
        ((60000, 65535), 16, (57344, 65535)),
        ((7, 7), 16, (6, 7)),
        ((0, 300), 9, (0, 511)),
        ((0, 200), 8, (0, 255)),
        ((9, 10), 4, (0, 15)),
    ],
)
def test_the_range_is_a_power_of_two_of_the_levels_in_use(levels, depth, expected):
    low, high = levels
    samples = np.linspace(low, high, 4096).round().reshape(64, 64)
    samples = samples.astype(np.uint8 if depth <= 8 else np.uint16)
    found = range_of(samples, depth, Metadata())
    assert found[1] - found[0] == expected[1] - expected[0]
    assert found[0] <= low + 6
    assert found[1] >= high - 6
    assert expected[0] - 6 <= found[0] <= expected[0] + 6


def test_a_hot_pixel_and_padding_do_not_count():
    samples = scan()
    plain = range_of(samples, 16, Metadata())
    samples[3, 3], samples[4, 5] = 65535, 0
    assert range_of(samples, 16, Metadata()) == plain


def test_a_window_is_the_range_and_a_range_that_is_given_comes_first():
    metadata = calibrated(window=(-160.0, 240.0))
    assert range_of(scan(), 16, metadata) == (32608, 33008)
    assert range_of(scan(), 16, replace(metadata, range=(5, 900))) == (5, 900)
    inverted = Metadata(text=(Calibration(-1.0, 4095.0, "", (2000.0, 2100.0)).text(),))
    assert range_of(scan() >> 4, 12, inverted) == (1995, 2095)
    outside = calibrated(window=(90000.0, 90400.0))
    assert range_of(scan(), 16, outside) == range_of(scan(), 16, Metadata())


@pytest.mark.parametrize("window", [(1800.0, 2200.0), (-3000.0, -2000.0)])
def test_a_window_without_samples_of_the_picture_does_not_count(window):
    metadata = calibrated(window=window)
    assert range_of(scan(), 16, metadata) == range_of(scan(), 16, calibrated())
    data = mmpcodec.encode(scan(), target_ssimulacra2=80, metadata=metadata)
    assert errors(scan(), data).mean() < 40


def test_transparent_pixels_do_not_count():
    samples = np.dstack([scan(), np.full((96, 96), 65535, np.uint16)])
    opaque = range_of(samples, 16, Metadata())
    samples[:9, :9] = 0, 0
    samples[:9, 9:18] = 65535, 0
    assert range_of(samples, 16, Metadata()) == opaque


@pytest.mark.parametrize(("quality", "most"), [(60, 180), (85, 45), (95, 25)])
def test_a_ct_keeps_its_tissue_at_each_quality(quality, most):
    samples = scan()
    found = errors(samples, mmpcodec.encode(samples, quality=quality))
    assert 0 < np.quantile(found, 0.99) < most  # air and tissue are 1040 apart
    assert found.mean() < 20  # noise alone is 10


def test_a_quality_means_the_same_in_16_bits_as_in_the_bits_that_are_used():
    samples = scan()
    shifted = samples - AIR
    as_16 = mmpcodec.encode(samples, quality=85, range=(AIR, AIR + 2047))
    as_11 = mmpcodec.encode(shifted, quality=85, depth=11)
    assert np.array_equal(mmpcodec.decode(as_16) - AIR, mmpcodec.decode(as_11))
    assert 0 < len(as_16) - len(as_11) < 20


def test_psnr_is_that_of_the_range():
    samples = scan()
    data = mmpcodec.encode(samples, target_psnr=50)
    header = mmpcodec.inspect(data).header
    low, high = header.metadata.range
    error = (mmpcodec.decode(data).astype(float) - samples) ** 2
    found = 10 * np.log10((high - low) ** 2 / error.mean())
    assert high - low == 2047
    assert 50 <= found < 50.5
    measured = Levels.of(header).distortion(samples, mmpcodec.decode(data))
    assert psnr_of(measured, samples.size, header.depth) == pytest.approx(found, abs=1e-9)


def test_a_score_is_that_of_the_range():
    samples = scan(side=192)
    found = errors(samples, mmpcodec.encode(samples, target_ssimulacra2=90))
    assert 0 < np.quantile(found, 0.99) < 45


def test_the_steps_of_a_narrow_window_are_as_fine_as_it_asks_for():
    samples = scan()
    data = mmpcodec.encode(samples, lam=1, metadata=calibrated(window=(-160.0, 240.0)))
    header = mmpcodec.inspect(data).header
    assert (header.depth, header.level_bits, header.metadata.range) == (16, 11, (32608, 33008))
    assert 0 < errors(samples, data).max() <= 12


def test_a_lambda_below_the_finest_step_is_lossless():
    samples = scan()
    samples[0, 0] = 65535  # so the coded levels have all 16 bits
    data = mmpcodec.encode(samples, lam=0.05, metadata=calibrated(window=(-20.0, 80.0)))
    assert np.array_equal(mmpcodec.decode(data), samples)
    photo = mmpcodec.encode(
        samples, lam=0.05, preset="photo", metadata=calibrated(window=(-20.0, 80.0))
    )
    assert 0 < np.quantile(errors(samples, photo), 0.99) < 50  # steps of 16 samples


def test_a_full_range_keeps_its_bytes():
    ramp = np.add.outer(np.arange(64) * 700, np.arange(64) * 300).astype(np.uint16)
    data = mmpcodec.encode(ramp, lam=20)
    header = mmpcodec.inspect(data).header
    assert (header.level_bits, header.first, header.metadata) == (0, 0, Metadata())
    params = EncodeParams.from_options(20)
    assert Levels.of_picture(mmpcodec.pictures.Picture(ramp, 16)).at_levels(params) is params


def test_colours_have_levels_of_their_own():
    samples = np.dstack([scan(seed) for seed in range(3)])
    data = mmpcodec.encode(samples, quality=85)
    header = mmpcodec.inspect(data).header
    assert (header.level_bits, header.first) == (11, int(samples.min()))
    assert 0 < np.quantile(errors(samples, data), 0.99) < 60
    with_alpha = np.dstack([samples, np.full((96, 96), 65535, np.uint16)])
    coded = mmpcodec.encode(with_alpha, quality=85)
    assert mmpcodec.inspect(coded).header.level_bits == 0
    assert 0 < np.quantile(errors(with_alpha, coded)[..., :3], 0.99) < 60
    assert not errors(with_alpha, coded)[..., 3].any()


def in_one_tile(samples):
    return mmpcodec.encode(samples, quality=85, tile_size=0)


def test_tiles_share_the_range_of_the_picture():
    samples = scan(side=160)
    samples[:64, :64] = AIR
    data = mmpcodec.encode(samples, quality=85, tile_size=64)
    header, whole = (mmpcodec.inspect(each).header for each in (data, in_one_tile(samples)))
    assert header.metadata.range[1] - header.metadata.range[0] == 2047
    assert (header.level_bits, header.first) == (whole.level_bits, whole.first)
    assert 0 < header.level_bits < 16
    assert 0 < np.quantile(errors(samples, data), 0.99) < 45


def test_deep_arrays_are_lossless_unless_loss_is_asked_for():
    samples = scan()
    assert np.array_equal(mmpcodec.decode(mmpcodec.encode(samples)), samples)
    assert np.array_equal(mmpcodec.decode(mmpcodec.encode(samples >> 4, depth=12)), samples >> 4)
    for asked in ({"quality": 85}, {"lam": 9}, {"target_psnr": 45}, {"preset": "photo"}):
        assert errors(samples, mmpcodec.encode(samples, **asked)).max() > 0, asked
    bytes_of_8 = (np.random.default_rng(5).normal(128, 9, (64, 64))).astype(np.uint8)
    assert errors(bytes_of_8, mmpcodec.encode(bytes_of_8)).max() > 0
    assert np.array_equal(
        mmpcodec.decode(mmpcodec.encode(bytes_of_8, metadata=calibrated())), bytes_of_8
    )


def test_a_batch_decides_for_each_picture():
    deep, flat = scan(), np.random.default_rng(5).normal(128, 9, (64, 64)).astype(np.uint8)
    first, second = mmpcodec.encode_batch([deep, flat])
    assert np.array_equal(mmpcodec.decode(first), deep)
    assert errors(flat, second).max() > 0


@pytest.mark.parametrize(("asked", "most"), [("2HU", 2), ("2.9 hu", 2), ("0.5HU", 0), (3, 3)])
def test_a_maximal_error_in_the_unit_of_the_picture(asked, most):
    samples = scan()
    data = mmpcodec.encode(samples, max_error=asked, metadata=calibrated())
    assert errors(samples, data).max() == most
    halves = mmpcodec.encode(samples, max_error="2HU", metadata=calibrated(slope=0.5))
    assert errors(samples, halves).max() == 4
    tenths = mmpcodec.encode(samples, max_error="0.3HU", metadata=calibrated(slope=0.1))
    assert errors(samples, tenths).max() == 3
    tiny = mmpcodec.encode(samples, max_error="999999999HU", metadata=calibrated(slope=1e-300))
    assert mmpcodec.decode(tiny).shape == samples.shape


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize("colours", [1, 3])
@pytest.mark.parametrize("tile_size", [0, 64])
def test_a_maximal_error_spares_alpha(kind, colours, tile_size):
    noise = np.random.default_rng(2)
    shape, white = (80, 96), np.iinfo(kind).max
    clear = np.where(noise.random(shape) < 0.3, 0, noise.integers(0, white + 1, shape))
    shades = [noise.integers(90, 160, shape) for _ in range(colours)]
    samples = np.dstack([*shades, clear]).astype(kind)
    found = errors(samples, mmpcodec.encode(samples, max_error=6, tile_size=tile_size))
    assert found[..., -1].max() == 0
    assert found.max() == 6


@pytest.mark.parametrize("levels", [(0, 65535), (31744, 33000)])
@pytest.mark.parametrize("tile_size", [0, 64])
def test_a_range_that_is_given_is_stored(levels, tile_size):
    data = mmpcodec.encode(scan(), quality=85, range=levels, tile_size=tile_size)
    assert mmpcodec.inspect(data).header.metadata.range == levels


@pytest.mark.parametrize("preset", ["auto", "text"])
def test_pictures_of_few_levels_can_have_trees(preset):
    samples = (59999 + (np.random.default_rng(1).random((64, 64)) > 0.5)).astype(np.uint16)
    found = mmpcodec.encode(samples, preset=preset, lam=64)
    assert errors(samples, found).max() <= 1
    assert mmpcodec.inspect(found).header.level_depth == 8


@pytest.mark.parametrize(
    ("asked", "metadata", "says"),
    [
        ("2HU", Metadata(), "max_error = 2HU: the picture has no unit"),
        ("2HU", calibrated(unit="SUV"), "max_error = 2HU: the picture has the unit SUV"),
        ("HU", calibrated(), "max_error = 'HU': must be a whole number of samples"),
        ("2.5", calibrated(), "max_error = '2.5': must be a whole number of samples"),
    ],
)
def test_other_units_are_refused(asked, metadata, says):
    with pytest.raises(ParameterError, match=says):
        mmpcodec.encode(scan(), max_error=asked, metadata=metadata)


@pytest.mark.parametrize(
    ("levels", "samples", "says"),
    [
        (
            (0, 4095),
            np.zeros((8, 8), np.uint8),
            "pictures of 8 bits always have the range 0 to 255",
        ),
        ((9, 9), scan(), "must be two levels from 0 to 65535, the lower one first"),
        ((0, 70000), scan(), "must be two levels from 0 to 65535"),
        (5, scan(), "must be two levels"),
        ((0, 4096), scan() >> 4, "must be two levels from 0 to 4095"),
    ],
)
def test_wrong_ranges_are_refused(levels, samples, says):
    depth = 12 if samples.max() < 4096 and samples.dtype == np.uint16 else None
    with pytest.raises(ParameterError, match=says):
        mmpcodec.encode(samples, quality=80, range=levels, depth=depth)


@pytest.mark.parametrize(("preset", "planes"), [("text", 1), ("mixed", 1), ("photo", 3)])
def test_pictures_of_few_bytes_are_encoded_by_tools_of_8_bits(preset, planes):
    samples = np.full((64, 80), 1000, np.uint16)
    samples[20:40, 30:50] = 1120
    if planes > 1:
        samples = np.stack([samples + plane for plane in range(planes)], -1)
    data = mmpcodec.encode(samples, 10, preset=preset)
    assert mmpcodec.inspect(data).header.level_bits == 8
    assert errors(samples, data).max() < 60
