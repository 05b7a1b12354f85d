"""The border filter in plain NumPy: what it smooths, and what it leaves."""

import numpy as np
import pytest
from support.pairs import every_pair
from support.strategies import deepened, natural

from mmpcodec.reference.filters.border import REACH, BorderFilter

FILTER = BorderFilter()
STEP = 400
"""Border step of most tests; 25 gray levels."""


def two_tiles(left, right, height=20, width=128, kind=np.uint8):
    """Two flat tiles side by side, of 64 columns."""
    picture = np.full((height, width), left, kind)
    picture[:, 64:] = right
    return picture


def test_a_step_between_flat_tiles_becomes_a_slope():
    picture = two_tiles(100, 108)
    FILTER.apply(picture, STEP, 8, 64)
    row = picture[0].astype(int)
    assert (np.diff(row) >= 0).all()
    assert np.diff(row).max() <= 1
    assert (row[: 64 - REACH] == 100).all()
    assert (row[64 + REACH :] == 108).all()
    assert (picture == picture[0]).all()


def test_a_step_far_above_the_border_step_is_an_edge():
    picture = two_tiles(20, 220)
    before = picture.copy()
    FILTER.apply(picture, 16, 8, 64)
    assert abs(picture.astype(int) - before).max() <= 1


def test_a_slope_through_the_border_stays():
    picture = np.tile(np.arange(128, dtype=np.uint8) + 60, (80, 1))
    before = picture.copy()
    FILTER.apply(picture, STEP, 8, 64)
    np.testing.assert_array_equal(picture, before)


def test_rows_and_columns_are_filtered_alike():
    picture = natural(np.random.default_rng(0), 150, 200)
    turned = np.ascontiguousarray(two_tiles(100, 108).T)
    FILTER.apply(turned, STEP, 8, 64)
    flat = two_tiles(100, 108)
    FILTER.apply(flat, STEP, 8, 64)
    np.testing.assert_array_equal(turned.T, flat)
    shown = picture.copy()
    FILTER.apply(shown, STEP, 8, 64)
    far = np.ones(picture.shape, bool)
    for border in (64, 128, 192):
        far[border - REACH : border + REACH] = False
        far[:, border - REACH : border + REACH] = False
    assert (shown != picture).any()
    np.testing.assert_array_equal(shown[far], picture[far])


def test_a_gray_picture_is_filtered_as_its_equal_colours():
    gray = natural(np.random.default_rng(1), 140, 90)
    colours = np.dstack([gray] * 3)
    FILTER.apply(gray, STEP, 8, 64)
    FILTER.apply(colours, STEP, 8, 64)
    np.testing.assert_array_equal(colours, np.dstack([gray] * 3))


def test_lines_with_a_fixed_pixel_stay():
    picture = two_tiles(100, 108)
    fixed = np.zeros(picture.shape, bool)
    fixed[3, 64 - REACH] = fixed[5, 63 + REACH] = True
    fixed[7, 63 - REACH] = fixed[9, 64 + REACH] = True
    before = picture.copy()
    FILTER.apply(picture, STEP, 8, 64, fixed=fixed)
    changed = (picture != before).any(axis=1)
    assert np.flatnonzero(~changed).tolist() == [3, 5]


@pytest.mark.parametrize("planes", [1, 3])
def test_alpha_stays_and_what_it_hides_is_not_read(planes):
    colours = np.dstack([two_tiles(100, 108)] * planes)
    alpha = np.full(colours.shape[:2], 9, np.uint8)
    alpha[:, 64:] = 200
    alpha[4, 70] = 0
    picture = np.dstack([colours, alpha])
    before = picture.copy()
    FILTER.apply(picture, STEP, 8, 64)
    np.testing.assert_array_equal(picture[..., -1], before[..., -1])
    changed = (picture != before).any(axis=(1, 2))
    assert np.flatnonzero(~changed).tolist() == [4]


@every_pair(width=[65, 66, 70, 71, 72, 100], planes=[1, 2, 3, 4], depth=[1, 3, 8, 12, 16])
def test_a_narrow_last_tile(width, planes, depth):
    rng = np.random.default_rng(width)
    kind = np.uint8 if depth <= 8 else np.uint16
    picture = rng.integers(0, 1 << depth, (66, width, planes)).astype(kind)
    FILTER.apply(picture, 65535, depth, 64)
    assert picture.max() < 1 << depth


def test_levels_are_filtered_as_samples_without_the_first():
    levels = deepened(np.random.default_rng(2), natural(np.random.default_rng(3), 90, 90), 10)
    samples = levels + np.uint16(30000)
    FILTER.apply(levels, STEP, 10, 64)
    FILTER.apply(samples, STEP, 10, 64, first=30000)
    np.testing.assert_array_equal(samples - np.uint16(30000), levels)


@every_pair(x=[0, 37, 64, 100], y=[0, 50, 64], planes=[1, 3])
def test_a_part_with_16_samples_around_is_that_of_the_picture(x, y, planes):
    rng = np.random.default_rng(x + y)
    whole = np.dstack([natural(rng, 200, 230) for _ in range(planes)])
    part = np.ascontiguousarray(whole[y:, x:])
    FILTER.apply(whole, STEP, 8, 64)
    FILTER.apply(part, STEP, 8, 64, (x, y))
    own = np.s_[2 * REACH if y else 0 :, 2 * REACH if x else 0 :]
    np.testing.assert_array_equal(part[own], whole[y:, x:][own])
