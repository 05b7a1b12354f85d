"""Bright regions of pictures whose answer is known."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmpcodec import MissingExtra, ParameterError
from mmpcodec.analysis import outlines
from mmpcodec.analysis.regions import Limits, Region, find_regions, luminance
from mmpcodec.metadata import Metadata
from mmpcodec.pictures import Picture

FLAT = (200.0, 0.0, 200.0, 200.0)
"""Mean, standard deviation, least and most of a region of level 200."""


def gray(height=40, width=60, level=20):
    return np.full((height, width), level, np.uint8)


def places(found):
    return [(r.left, r.top, r.width, r.height) for r in found.regions]


@settings(max_examples=10)
@given(st.data())
def test_planted_rectangle_is_found_to_the_pixel(data):
    samples = gray()
    left, top = data.draw(st.integers(0, 50)), data.draw(st.integers(0, 30))
    width, height = data.draw(st.integers(1, 60 - left)), data.draw(st.integers(1, 40 - top))
    samples[top : top + height, left : left + width] = 200
    for backend in ("cpu", "reference"):
        found = find_regions(Picture(samples, 8), backend=backend)
        assert found.regions == (Region(1, left, top, width, height, 72.5 * width * height, *FLAT),)
        assert (found.offset, found.scale) == (127.5, 2)
    darkest = find_regions(Picture(255 - samples, 8), dark=True)
    assert places(darkest) == places(found)
    assert darkest.regions[0].sum == found.regions[0].sum


def test_large_planted_rectangle_in_noise():
    rng = np.random.default_rng(0)
    samples = rng.integers(0, 120, (512, 512)).astype(np.uint8)
    samples[245:286, 319:393] = rng.integers(140, 256, (41, 74))
    assert places(find_regions(Picture(samples, 8))) == [(319, 245, 74, 41)]


def test_pictures_without_an_edge_have_defined_answers():
    assert places(find_regions(Picture(gray(level=255), 8))) == [(0, 0, 60, 40)]
    assert places(find_regions(Picture(gray(level=0), 8))) == []
    assert places(find_regions(Picture(gray(level=0), 8), dark=True)) == [(0, 0, 60, 40)]
    for offset in ("mean", "median", "otsu", "p50"):
        assert places(find_regions(Picture(gray(), 8), offset=offset)) == []


def test_colours_weigh_as_the_eye_sees_them():
    samples = np.zeros((10, 30, 3), np.uint8)
    samples[:, :10, 0] = samples[:, 10:20, 1] = samples[:, 20:, 2] = 255
    values, unit = luminance(samples)
    assert values[0, [0, 10, 20]].tolist() == [30 * 255, 59 * 255, 11 * 255]
    assert unit == 100
    found = find_regions(Picture(samples, 8))
    assert places(found) == [(10, 0, 10, 10)]
    assert found.regions[0].sum == pytest.approx(100 * (0.59 * 255 - 127.5))
    same = gray()
    assert find_regions(Picture(same, 8), offset=5).regions == (
        find_regions(Picture(np.stack([same] * 3, 2), 8), offset=5).regions
    )


@pytest.mark.parametrize(
    ("offset", "level"),
    [(0.5, 127.5), ("0.5", 127.5), (1, 255), (40, 40), ("40.5", 40.5), ("p0", 0), ("p100", 90),
     ("mean", 45), ("median", 45), ("p50", 45)],
)  # fmt: skip
def test_offsets(offset, level):
    samples = np.arange(91, dtype=np.uint8)[None]
    assert find_regions(Picture(samples, 8), offset=offset).offset == level


def test_otsu_parts_two_levels():
    samples = gray()
    samples[5:20, 7:30] = 90
    assert places(find_regions(Picture(samples, 8), offset="otsu")) == [(7, 5, 23, 15)]


def test_several_regions_limits_border_and_mask():
    samples = gray()
    samples[2:12, 3:13], samples[20:25, 40:48], samples[:, 59] = 250, 240, 255
    picture = Picture(samples, 8)
    assert places(find_regions(picture, k=3)) == [(3, 2, 10, 10), (59, 0, 1, 40), (40, 20, 8, 5)]
    assert places(find_regions(picture, k=9, border=1)) == [(3, 2, 10, 10), (40, 20, 8, 5)]
    narrow = find_regions(picture, limits=Limits(max_width=4, max_height=3))
    assert [(r.width, r.height) for r in narrow.regions] == [(4, 3)]
    mask = np.ones(samples.shape)
    mask[:, :20] = 0
    assert places(find_regions(picture, mask=mask)) == [(59, 0, 1, 40)]
    assert find_regions(picture, mask=mask, offset="mean").offset == pytest.approx(
        samples[:, 20:].mean(), abs=0.25
    )


def test_deep_pictures_with_and_without_their_white():
    samples = gray().astype(np.uint16) * 10
    samples[3:9, 4:10] = 4000
    assert places(find_regions(Picture(samples, 16))) == []
    found = find_regions(Picture(samples, 16), white=4095)
    assert places(found) == [(4, 3, 6, 6)]
    assert found.offset == 2047.5


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"offset": "bright"}, "offset = 'bright': must be a part of white"),
        ({"offset": "p101"}, "offset = 'p101'"),
        ({"offset": -1}, "offset = -1"),
        ({"offset": 256}, "a level up to 255"),
        ({"offset": "nan"}, "offset = 'nan'"),
        ({"white": 0}, "white = 0: must be a level from 1 to 255"),
        ({"border": 20}, "border = 20: leaves no pixel of a 60x40 picture"),
        ({"mask": np.ones((3, 3))}, r"mask of shape \(3, 3\): must be \(40, 60\)"),
        ({"mask": np.zeros((40, 60))}, "mask: excludes every pixel"),
        ({"k": 0}, "k = 0"),
        ({"limits": Limits(min_width=61)}, "min_width = 61: must be from 1 to 60"),
    ],
)
def test_bad_options_are_named(options, says):
    with pytest.raises(ParameterError, match=says):
        find_regions(Picture(gray(), 8), **options)


def test_drawing_leaves_the_inside_of_regions_alone():
    samples = np.random.default_rng(1).integers(0, 256, (100, 120)).astype(np.uint8)
    picture = Picture(samples, 8)
    region = Region(1, 40, 50, 30, 20, 0, 0, 0, 0, 0)
    drawn = outlines.draw_regions(picture, [region])
    inside = drawn[50:70, 40:70]
    assert (inside == samples[50:70, 40:70, None]).all()
    assert (drawn[48:50, 38:72] == outlines.COLOURS[0]).all()
    assert (drawn[80:] == samples[80:, :, None]).all()
    at_the_edge = outlines.draw_regions(picture, [Region(2, 0, 0, 120, 100, 0, 0, 0, 0, 0)])
    assert (at_the_edge[99] == outlines.COLOURS[1]).all()


def test_deep_pictures_are_drawn_to_their_white():
    picture = Picture(np.array([[0, 2048, 4095, 60000]], np.uint16), 16)
    assert outlines.as_rgb(picture, 4095)[0, :, 0].tolist() == [0, 128, 255, 255]


def test_deep_samples_with_the_white_of_8_bits_are_drawn():
    picture = Picture(np.array([[0, 100, 255, 900]], np.uint16), 10, Metadata(white=255))
    drawn = outlines.as_rgb(picture)
    assert drawn.dtype == np.uint8
    assert drawn[0, :, 0].tolist() == [0, 100, 255, 255]


def test_the_mean_leaves_masked_pixels_out():
    samples = gray(20, 20, 200)
    samples[:, 5] = 255
    mask = np.ones(samples.shape)
    mask[:, 5] = 0
    region = find_regions(Picture(samples, 8), mask=mask, offset=100).regions[0]
    assert (region.area, region.mean, region.sum) == (400, 200, 380 * 100 - 20 * 100)


def test_contact_sheet_holds_all():
    sheets = [
        outlines.contact_sheet([("n" * 80, np.zeros((9, 400, 3), np.uint8))] * n) for n in (1, 5)
    ]
    assert sheets[1].shape[0] > sheets[0].shape[0]
    assert sheets[1].shape[1] > 3 * sheets[0].shape[1]
    assert (sheets[0] == 0).any()


def test_statistics_are_of_the_pixels_that_the_mask_keeps():
    samples = gray()
    samples[10:20, 20:40] = 200
    samples[10:20, 20:30] = 210
    samples[15, 35] = 180
    (whole,) = find_regions(Picture(samples, 8)).regions
    inside = samples[10:20, 20:40].astype(float)
    assert (whole.mean, whole.least, whole.most) == (inside.mean(), 180, 210)
    assert whole.deviation == pytest.approx(inside.std())
    mask = np.ones(samples.shape, bool)
    mask[15, 35] = False
    (kept,) = find_regions(Picture(samples, 8), mask=mask).regions
    assert (kept.least, kept.most) == (200, 210)
    colours = np.dstack([samples] * 3)
    (coloured,) = find_regions(Picture(colours, 8)).regions
    assert (coloured.least, coloured.most) == (180, 210)
    assert coloured.deviation == pytest.approx(whole.deviation)


def test_without_scikit_image_otsu_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.filters", None)
    with pytest.raises(MissingExtra, match=r"offset otsu: needs scikit-image; .*'\.\[measure\]'"):
        find_regions(Picture(gray(), 8), offset="otsu")
    assert find_regions(Picture(gray(), 8), offset="mean").regions == ()
