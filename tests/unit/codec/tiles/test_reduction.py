"""Smaller renditions: means of squares against a plain loop over their samples."""

from fractions import Fraction

import numpy as np
import pytest
from support.pairs import every_pair

from mmpcodec import ParameterError
from mmpcodec.codec.tiles.reduction import (
    ReducedReader,
    factor_between,
    factor_of_scale,
    factors_of,
    reduced,
    reduced_depth,
    reduced_metadata,
)
from mmpcodec.depth import sample_type
from mmpcodec.metadata import Calibration, Metadata, Resolution


def by_loops(samples, factor, depth, to_depth):
    """The definition, in Python's integers."""
    planes = samples.reshape(*samples.shape[:2], -1).astype(object)
    height, width, count = planes.shape
    most, to_most = (1 << depth) - 1, (1 << to_depth) - 1
    found = np.zeros((-(-height // factor), -(-width // factor), count), object)
    for y in range(found.shape[0]):
        for x in range(found.shape[1]):
            square = planes[y * factor :, x * factor :][:factor, :factor].reshape(-1, count)
            for plane in range(count):
                weights = [1] * len(square)
                if count in (2, 4) and plane < count - 1 and any(square[:, -1]):
                    weights = list(square[:, -1])
                total = sum(
                    each * weight for each, weight in zip(square[:, plane], weights, strict=True)
                )
                mean = Fraction(total * to_most, sum(weights) * most)
                found[y, x, plane] = int(mean + Fraction(1, 2))
    return found.reshape(*found.shape[:2], *samples.shape[2:])


@every_pair(planes=[1, 2, 3, 4], depth=[1, 3, 4, 8, 12, 16], factor=[2, 3, 8, 64])
def test_samples_are_means_of_squares(planes, depth, factor):
    random = np.random.default_rng(planes * 100 + depth)
    shape = (13, 21, planes)[: 2 + (planes > 1)]
    samples = random.integers(0, 1 << depth, shape).astype(sample_type(depth))
    if planes in (2, 4):
        samples[:8, :8, -1] = 0
    to_depth = max(8, depth)
    found = reduced(samples, factor, depth, to_depth)
    assert found.dtype == sample_type(to_depth)
    np.testing.assert_array_equal(found, by_loops(samples, factor, depth, to_depth))


@pytest.mark.parametrize("depth", [8, 16])
def test_white_stays_white_where_sums_are_largest(depth):
    samples = np.full((300, 260), (1 << depth) - 1, sample_type(depth))
    for factor in (2, 16, 17, 256, 1 << 24):
        assert (reduced(samples, factor, depth, depth) == (1 << depth) - 1).all()


def test_hidden_colours_do_not_show():
    samples = np.zeros((2, 2, 4), np.uint8)
    samples[0, 0] = 10, 20, 30, 255
    samples[1] = 255, 0, 255, 0
    assert reduced(samples, 2, 8, 8).tolist() == [[[10, 20, 30, 64]]]


def test_factors_end_at_256_samples():
    assert factors_of(512, 1) == [2]
    assert factors_of(511, 511) == [2]  # of 256 samples
    assert factors_of(510, 300) == []
    assert factors_of(1, 1 << 24) == [1 << k for k in range(1, 17)]


@pytest.mark.parametrize("side", [513, 1000, 4097, 131073, (1 << 24) - 1])
def test_factor_of_a_level_is_known_by_its_size(side):
    for factor in factors_of(side, 3):
        level = -(-side // factor), -(-3 // factor)
        assert factor_between((side, 3), level) == factor
    assert factor_between((300, 600), (100, 200)) == 3
    assert factor_between((300, 600), (100, 201)) is None


@pytest.mark.parametrize(
    ("scale", "factor"),
    [
        ("1/8", 8),
        ("0.125", 8),
        (" 1/3 ", 3),
        ("2/8", 4),
        (0.5, 2),
        (1 / 3, 3),
        ("0.3333", 3),
        (Fraction(1, 1000), 1000),
        (1, 1),
        (".25", 4),
        (2.0**-20, 1 << 20),
    ],
)
def test_scales(scale, factor):
    assert factor_of_scale(scale) == factor


@pytest.mark.parametrize(
    "scale",
    [
        *(3, 0, -1, "0", "1/0", "0/1", "letters", "1/x", "", ".", "2/3", "0.3", "1/2/3", "1e-3"),
        *(
            "-1/2",
            True,
            None,
            float("nan"),
            float("inf"),
            1e-30,
            1e300,
            "1/99999999",
            "\u0661/2",
            b"1/2",
        ),
    ],
)
def test_other_scales_are_refused(scale):
    with pytest.raises(ParameterError, match=r"^scale = .*: must be 1/N, N from 1 to 16777216"):
        factor_of_scale(scale)


def test_metadata_follow_the_size_and_the_depth():
    metadata = Metadata(resolution=Resolution(Fraction(300), Fraction(1)), white=10)
    found = reduced_metadata(metadata, 4, 8)
    assert found.resolution == Resolution(Fraction(75, 2), Fraction(1, 8))
    assert (reduced_depth(4, metadata), found.white) == (8, 170)
    assert reduced_depth(12, metadata) == 12
    calibrated = Metadata(text=(Calibration(2.0).text(),), white=10)
    assert reduced_depth(4, calibrated) == 4
    assert reduced_metadata(calibrated, 4, 2).white == 10


def test_parts_are_those_of_the_whole_in_bands(monkeypatch):
    monkeypatch.setattr("mmpcodec.codec.tiles.reduction.BAND_SAMPLES", 300)
    samples = np.random.default_rng(1).integers(0, 256, (101, 67, 3)).astype(np.uint8)
    most = []

    def read(rows, columns):
        part = samples[rows, columns]
        most.append(part.size)
        return part

    reader = ReducedReader(read, samples.shape, 8, Metadata(), 4)
    whole = reduced(samples, 4, 8, 8)
    assert (reader.shape, reader.depth) == (whole.shape, 8)
    np.testing.assert_array_equal(reader.read(slice(None), slice(None)), whole)
    np.testing.assert_array_equal(reader.read(slice(3, 26), slice(5, 17)), whole[3:, 5:])
    assert max(most) <= 67 * 3 * 4  # a row of squares
