"""Levels in files, and decoding at a fraction of the size."""

import io

import numpy as np
import pytest

import mmpcodec
from mmpcodec import (
    CorruptStream,
    DecodeLimits,
    EncodeParams,
    LimitExceeded,
    ParameterError,
    PictureError,
    decode_scaled,
)
from mmpcodec.codec import regions
from mmpcodec.codec.rate_control.targets import request_of
from mmpcodec.codec.tiles.reduction import factor_of_scale, reduced
from mmpcodec.codec.tiles.renditions import LEAST_BYTES, MOST_SHARE, encode_levels, joined
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.metadata import Calibration, Metadata
from mmpcodec.opening.contents import contents_of

ICC = b"a profile of more than sixty-four bytes, which collections hold once for all".ljust(100)


def photograph(height, width, planes=1, depth=8, seed=5, noise=0.05):
    """Smooth shades with a little noise, as photographs have them."""
    random = np.random.default_rng(seed)
    rows, columns = np.indices((height, width))
    shades = np.sin(rows / 37)[..., None] + np.cos(
        (rows + columns)[..., None] / (29 + np.arange(planes))
    )
    grain = random.normal(0, noise, shades.shape)
    found = np.rint((shades + grain + 2.2) / 4.4 * ((1 << depth) - 1))
    found = np.clip(found, 0, (1 << depth) - 1).astype(np.uint8 if depth <= 8 else np.uint16)
    return found if planes > 1 else found[..., 0]


def opened(tmp_path, data):
    path = tmp_path / "levels.mmp"
    path.write_bytes(data)
    return mmpcodec.open(path)


def test_levels_are_renditions_of_one_picture(tmp_path):
    samples = photograph(700, 1100, 3, noise=0.12)
    data = mmpcodec.encode(samples, effort=1, levels=True, metadata=Metadata(icc=ICC))
    (picture,) = opened(tmp_path, data)
    plain = mmpcodec.encode(samples, effort=1, metadata=Metadata(icc=ICC))
    np.testing.assert_array_equal(picture, mmpcodec.decode(plain))
    np.testing.assert_array_equal(mmpcodec.decode(data), picture)
    found = [(each.role, each.shape, each.depth) for each in picture.renditions]
    assert found == [("level", (350, 550, 3), 8), ("level", (175, 275, 3), 8)]
    assert all(each.metadata.icc == ICC for each in (picture, *picture.renditions))
    assert data.count(ICC) == 1
    assert len(data) < (1 + MOST_SHARE) * len(plain)
    for each, factor in zip(picture.renditions, (2, 4), strict=True):
        error = np.abs(np.asarray(each).astype(int) - reduced(samples, factor, 8, 8))
        assert error.mean() < 3


def test_small_pictures_have_no_levels():
    samples = photograph(100, 510)
    assert mmpcodec.encode(samples, levels=True) == mmpcodec.encode(samples)


@pytest.mark.parametrize("planes", [1, 3, 4])
def test_levels_of_measurements_are_exact_means(tmp_path, planes):
    samples = photograph(530, 600, planes, 12)
    calibration = Metadata(text=(Calibration(1.0, -1024.0, "HU").text(),))
    data = mmpcodec.encode(samples, 0, depth=12, effort=1, levels=True, metadata=calibration)
    (picture,) = opened(tmp_path, data)
    (level,) = picture.renditions
    np.testing.assert_array_equal(level, reduced(samples, 2, 12, 12))
    assert level.metadata.calibration == calibration.calibration


def test_levels_of_lossless_pictures_are_lossy(tmp_path):
    samples = photograph(530, 600)
    (picture,) = opened(tmp_path, mmpcodec.encode(samples, 0, effort=1, levels=True))
    np.testing.assert_array_equal(picture, samples)
    (level,) = picture.renditions
    error = np.abs(np.asarray(level).astype(int) - reduced(samples, 2, 8, 8))
    assert 0 < error.max() < 40
    assert error.mean() < 3


def test_levels_keep_a_maximal_error(tmp_path):
    samples = photograph(530, 600, 3)
    (picture,) = opened(tmp_path, mmpcodec.encode(samples, max_error=2, effort=1, levels=True))
    (level,) = picture.renditions
    assert np.abs(np.asarray(level).astype(int) - reduced(samples, 2, 8, 8)).max() <= 2


def test_levels_of_two_levels_are_gray(tmp_path):
    blocks = np.random.default_rng(6).random((31, 26)) > 0.5
    samples = blocks.repeat(21, 0).repeat(21, 1)[:600, :520]
    (picture,) = opened(tmp_path, mmpcodec.encode(samples, 0, effort=1, levels=True))
    (level,) = picture.renditions
    assert (picture.depth, level.depth) == (1, 8)
    means = reduced(samples.astype(np.uint8), 2, 1, 8)
    assert len(np.unique(means)) == 5
    np.testing.assert_array_equal(level, means)
    found = decode_scaled((tmp_path / "levels.mmp").read_bytes(), "1/4")
    assert found.depth == 8
    plain = decode_scaled(mmpcodec.encode(samples, 0), "1/4")
    np.testing.assert_array_equal(plain.samples, reduced(samples.astype(np.uint8), 4, 1, 8))


def dots(side, pitch):
    """Black and white dots of random sizes, whose levels take more bytes than themselves."""
    random = np.random.default_rng(1)
    cells = side // pitch + 1
    rows, columns = np.indices((side, side)) % pitch - pitch / 2
    own = (cells, cells)
    radius, down, across = (
        np.kron(values, np.ones((pitch, pitch)))[:side, :side]
        for values in (
            random.uniform(1, (pitch / 2.2) ** 2, own),
            *random.normal(0, 1, (2, *own)),
        )
    )
    return (rows - down) ** 2 + (columns - across) ** 2 < radius


def fitted(samples, params, **options):
    made = mmpcodec.encode_picture(samples, params, **options)
    found = encode_levels(lambda *part: made.source[part], made.header, params, made.lam, threads=1)
    added = len(joined(made.data, found.files)) - made.size
    assert added <= max(MOST_SHARE * made.size, LEAST_BYTES)
    return found, made.size


def clouds(side):
    """Noise of nearly equal strength at each scale, whose levels take as many bits a pixel."""
    random = np.random.default_rng(4)
    found = random.normal(128, 10, (side, side))
    for scale in (2, 4, 8, 16, 32):
        noise = random.normal(0, 16, (side // scale, side // scale))
        found += noise.repeat(scale, 0).repeat(scale, 1)
    return np.clip(found, 0, 255).astype(np.uint8)


def test_lambda_of_the_largest_level_rises_where_levels_take_too_many_bytes():
    samples = clouds(1024)
    params, _ = request_of(40, effort=1, preset="photo")
    found, size = fitted(samples, params)
    assert (found.factors, found.lam, found.times, found.left_out) == ((2, 4), 40, 2, ())
    assert found.text(size).endswith("bytes, lambda 40 (2 times as large in 1/2)")
    for file, factor, times in zip(found.files, (2, 4), (2, 1), strict=True):
        own, _ = request_of(40 * times, effort=1, preset="photo")
        alone = mmpcodec.encode_picture(reduced(samples, factor, 8, 8), own)
        np.testing.assert_array_equal(mmpcodec.decode(file), mmpcodec.decode(alone.data))


@pytest.mark.parametrize(("side", "factors", "left_out"), [(64, (4,), (2,)), (32, (), (2,))])
def test_levels_that_do_not_fit_are_left_out(side, factors, left_out):
    random = np.random.default_rng(2)
    # Means of noise of 16x16 squares cost as much as the noise itself, but they are a quarter.
    samples = random.integers(60, 200, (side, side)).astype(np.uint8).repeat(16, 0).repeat(16, 1)
    params, _ = request_of(40, effort=1, preset="photo")
    found, size = fitted(samples, params)
    assert (found.factors, found.left_out) == (factors, left_out)
    if factors:
        assert "(4 times as large in 1/4), without level 1/2, which would" in found.text(size)
        return
    text = "no levels, as the smallest one, 1/2, would take more than 35 % bytes"
    assert found.text(size) == text
    how = {"lam": 40, "effort": 1, "preset": "photo"}
    data = mmpcodec.encode(samples, levels=True, **how)
    assert data == mmpcodec.encode(samples, **how)  # a file of one picture


def test_levels_of_pages_are_rounded_to_few_grays():
    specks = np.random.default_rng(2).random((2100, 2100)) < 0.004
    samples = dots(2100, 24) ^ specks
    found, size = fitted(samples, EncodeParams.from_options(0, effort=1), depth=1)
    assert (found.factors, found.left_out, found.shades, found.lam) == ((8,), (2, 4), 8, 0)
    level = mmpcodec.decode(found.files[0])
    means = reduced(samples.astype(np.uint8), 8, 1, 8)
    grays = np.rint(np.arange(8) * 255 / 7)
    np.testing.assert_array_equal(level, grays[np.rint(means * (7 / 255)).astype(int)])
    text = found.text(size)
    assert text.startswith("level 1/8 +")
    assert text.endswith(
        "lossless but 1/8 rounded to 8 grays, without levels 1/2 to 1/4, which would take more "
        "than 35 % bytes"
    )


def test_a_profile_that_is_held_once_does_not_count():
    samples, icc = photograph(700, 1100, 3, noise=0.12), bytes(range(256)) * 200
    with_profile, without = (
        encode_levels(
            lambda *part: samples[part],
            mmpcodec.inspect(mmpcodec.encode(samples, 5, effort=1, metadata=metadata)).header,
            EncodeParams.from_options(5, effort=1),
            5,
        )
        for metadata in (Metadata(icc=icc), Metadata())
    )
    assert with_profile.factors == without.factors == (2, 4)
    assert abs(with_profile.size - without.size) < 50
    assert sum(map(len, with_profile.files)) > 2 * len(icc)


def test_levels_are_made_in_bounded_memory():
    samples = photograph(4000, 520)
    largest = []

    def read(rows, columns):
        part = samples[rows, columns]
        largest.append(part.size)
        return part

    params = EncodeParams.from_options(0, preset="lossless", effort=1)
    header = mmpcodec.inspect(mmpcodec.encode(samples, 0, tile_size=64, effort=1)).header
    found = encode_levels(read, header, params, 0, measured=True, tile_size=64)
    assert found.factors == (2, 4, 8)
    for factor, file in zip(found.factors, found.files, strict=True):
        np.testing.assert_array_equal(mmpcodec.decode(file), reduced(samples, factor, 8, 8))
    assert max(largest) <= (64 * 8) * 520


@pytest.mark.parametrize("target", [{"target_size": 1000}, {"target_bpp": 1.0}])
def test_targets_of_bytes_are_refused(target):
    with pytest.raises(ParameterError, match="limits the bytes of a file, which levels add to"):
        mmpcodec.encode(photograph(600, 600), levels=True, **target)


def test_a_target_is_that_of_the_picture(tmp_path):
    samples = photograph(520, 520)
    data = mmpcodec.encode(samples, target_psnr=40, effort=1, levels=True)
    error = np.asarray(opened(tmp_path, data)[0]).astype(float) - samples
    assert 10 * np.log10(255**2 / (error**2).mean()) >= 40


def with_levels(picture, *levels):
    """A file of a picture and renditions, each coded without loss."""
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    writer.add(mmpcodec.encode(picture, 0, effort=1, tile_size=64))
    for each in levels:
        writer.add(mmpcodec.encode(each, 0, effort=1), Role.LEVEL, (0,))
    writer.close()
    return stream.getvalue()


@pytest.fixture
def marked():
    """A picture of zeros whose levels tell which of them was decoded."""
    levels = [np.full((-(-300 // f), -(-400 // f)), f, np.uint8) for f in (2, 4, 3)]
    return with_levels(np.zeros((300, 400), np.uint8), *levels)


@pytest.mark.parametrize(
    ("scale", "level"),
    [("1/2", 2), ("1/4", 4), ("1/8", 4), ("1/3", 3), ("1/6", 3), ("1/10", 2), ("1/5", 0), (1, 0)],
)
def test_the_smallest_level_that_divides_is_decoded(marked, scale, level):
    found = decode_scaled(marked, scale).samples
    assert (found == level).all()
    side = factor_of_scale(scale)
    assert found.shape == (-(-300 // side), -(-400 // side))


@pytest.mark.parametrize(
    ("region", "level"),
    [
        *(((4, 8, 40, 20), 4), ((2, 8, 40, 20), 2), ((1, 8, 40, 20), 0), ((396, 296, 4, 4), 4)),
        *(((4, 8, 41, 20), 0), ((200, 100, 200, 200), 4)),
    ],
)
def test_regions_are_of_levels_where_they_have_whole_squares(marked, region, level):
    found = decode_scaled(marked, "1/4", region=region).samples
    assert found.shape == (-(-region[3] // 4), -(-region[2] // 4))
    assert (found == level).all()


def test_values_without_levels_are_means(tmp_path, monkeypatch):
    monkeypatch.setattr("mmpcodec.codec.tiles.reduction.BAND_SAMPLES", 1 << 14)
    samples = photograph(333, 470, 4)
    samples[:40, :90, 3] = 0
    data = mmpcodec.encode(samples, 0, effort=1, tile_size=64)
    for factor in (1, 3, 8, 400):
        found = decode_scaled(data, f"1/{factor}")
        np.testing.assert_array_equal(found.samples, reduced(samples, factor, 8, 8))
    part = decode_scaled(data, 0.25, region=(33, 77, 300, 200)).samples
    np.testing.assert_array_equal(part, reduced(samples[77:277, 33:333], 4, 8, 8))
    (picture,) = opened(tmp_path, data)
    np.testing.assert_array_equal(picture.scaled("1/3").samples, reduced(samples, 3, 8, 8))
    assert picture.scales == (1,)


def test_levels_of_another_kind_are_not_used():
    deep = np.full((150, 200), 4, np.uint16)
    colour = np.full((75, 100, 3), 4, np.uint8)
    data = with_levels(np.zeros((300, 400), np.uint8), deep, colour, np.zeros((10, 200), np.uint8))
    assert not decode_scaled(data, "1/4").samples.any()


def test_damage_of_a_level_is_named(marked):
    entries = contents_of(memoryview(marked)).entries
    broken = bytearray(marked)
    broken[entries[2].place + entries[2].size - 1] ^= 1
    with pytest.raises(CorruptStream, match=r"level 1/4: "):
        decode_scaled(bytes(broken), "1/4")
    assert (decode_scaled(bytes(broken), "1/2").samples == 2).all()


def test_limits_are_those_of_what_is_decoded(marked, tmp_path):
    limits = DecodeLimits(max_samples=15_000)
    assert decode_scaled(marked, "1/4", limits=limits).samples.shape == (75, 100)
    for scale in ("1/2", "1/5"):
        with pytest.raises(LimitExceeded, match="max_samples"):
            decode_scaled(marked, scale, limits=limits)
    path = tmp_path / "marked.mmp"
    path.write_bytes(marked)
    with pictures_of(path, limits) as reader, pytest.raises(PictureError, match="max_samples"):
        reader.scaled("1/5")


def pictures_of(path, limits):
    return mmpcodec.pictures.MmpReader(path, limits=limits)


def test_parts_of_a_picture_are_decoded_once(monkeypatch):
    monkeypatch.setattr("mmpcodec.codec.tiles.reduction.BAND_SAMPLES", 1 << 12)
    numbers = []
    original = regions.RegionDecoder._decoded

    def noted(self, tiles, padded):
        numbers.extend(tile.number for tile in tiles)
        return original(self, tiles, padded)

    monkeypatch.setattr(regions.RegionDecoder, "_decoded", noted)
    samples = photograph(500, 500)
    data = mmpcodec.encode(samples, 0, effort=1, tile_size=128)
    decode_scaled(data, "1/8")
    assert sorted(numbers) == list(range(16))


def test_wrong_arguments():
    data = mmpcodec.encode(np.zeros((9, 9), np.uint8))
    for wrong, message in (
        ({"scale": "1/0"}, "scale = 1/0"),
        ({"scale": 0.5, "region": (0, 0, 10, 9)}, "region"),
        ({"scale": 0.5, "page": 2}, "page = 2"),
        ({"scale": 0.5, "progress": 3}, "progress"),
    ):
        with pytest.raises(ParameterError, match=message):
            decode_scaled(data, **wrong)
    with pytest.raises(ParameterError, match="levels"):
        mmpcodec.encode(np.zeros((9, 9), np.uint8), levels="yes")
