"""Prediction of a block from earlier planes: values, and what it reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import deepened, natural, text_like

from mmpcodec.reference.blocks.partition import CROSS_COMPONENT, WIDE_CROSS_COMPONENT, BlockPlace
from mmpcodec.reference.blocks.planes import REACH, predict_from_planes

HEIGHT, WIDTH = 44, 52


def planes_of(depth=8):
    rng = np.random.default_rng(depth)
    return [
        deepened(rng, content(rng, HEIGHT, WIDTH), depth).astype(np.int64)
        for content in (natural, text_like)
    ]


@st.composite
def places(draw, least=0):
    """A block of the picture that is not its first one."""
    a, b = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    row = draw(st.integers(0, (HEIGHT >> a) - 1)) << a
    column = draw(st.integers(0, (WIDTH >> b) - 1)) << b
    if row == column == 0:
        column = 1 << b
    return BlockPlace(row, column, a, b)


@given(places(), st.sampled_from([CROSS_COMPONENT, WIDE_CROSS_COMPONENT]), st.integers(1, 2))
def test_a_line_through_the_planes_is_found(place, mode, count):
    """Up to what rounding, and the addition to the diagonal in flat areas, leave."""
    luma, other = planes_of()
    planes = [luma, other][:count]
    own = 40 + luma // 2 if count == 1 else 20 + luma // 2 + other // 4
    found = predict_from_planes(mode, own, planes, place)
    error = np.abs(found - own[place.slices])
    rows, columns = place.slices
    window = np.s_[max(0, rows.start - REACH) : rows.stop, max(0, columns.start - REACH) :]
    spread = min(np.ptp(plane[window][:, : place.width + REACH]) for plane in planes)
    assert error.mean() <= 2 or spread < 60 or max(place.height, place.width) > 8


@pytest.mark.parametrize("mode", [CROSS_COMPONENT, WIDE_CROSS_COMPONENT])
def test_flat_planes_predict_the_mean(mode):
    own = natural(np.random.default_rng(1), HEIGHT, WIDTH).astype(np.int64)
    place = BlockPlace(16, 24, 3, 4)
    found = predict_from_planes(mode, own, [np.full((HEIGHT, WIDTH), 77)], place)
    rows, columns = np.mgrid[12:24, 20:40]
    around = own[12:24, 20:40][(rows < 16) | (columns < 24)]
    assert np.ptp(found) == 0
    assert abs(found[0, 0] - around.mean()) <= 0.51


def test_values_of_a_small_block():
    """By hand: N = 4, and S of two columns."""
    luma = np.array([[10, 30, 20, 40]] * 4).repeat(2, axis=1)
    own = np.array([[100, 140, 0, 0]] * 4).repeat(2, axis=1)
    found = predict_from_planes(CROSS_COMPONENT, own, [luma], BlockPlace(0, 4, 2, 2))
    # 16 samples; v0 is -118 or -98, v1 is -28 or 12: covariances 100 and 200 times 16.
    weight = int((256 * 3200 << 12) / (256 * (1600 + 256)))
    start = int((4096 * -8 * 16 - weight * -108 * 16) / 16)
    expected = [((weight * (value - 128) + start + 2048) >> 12) + 128 for value in (20, 40)]
    np.testing.assert_array_equal(found, [np.repeat(expected, 2)] * 4)


def test_wide_planes_find_a_line_that_bends_at_the_mean():
    luma = np.random.default_rng(3).integers(0, 201, (HEIGHT, WIDTH))
    place = BlockPlace(16, 24, 3, 4)
    rows, columns = np.mgrid[12:24, 20:40]
    mean = luma[12:24, 20:40][(rows < 16) | (columns < 24)].sum() // (4 * 20 + 8 * 4)
    own = 60 + abs(luma - mean)
    found = predict_from_planes(WIDE_CROSS_COMPONENT, own, [luma], place)
    assert np.abs(found - own[place.slices]).max() <= 3


@given(
    places(),
    st.sampled_from([CROSS_COMPONENT, WIDE_CROSS_COMPONENT]),
    st.integers(1, 2),
    st.sampled_from([8, 9, 12, 16]),
    st.integers(0, 2**32 - 1),
)
def test_only_decoded_samples_are_read_and_results_are_samples(place, mode, count, depth, seed):
    rng = np.random.default_rng(seed)
    most = (1 << depth) - 1
    own, *planes = (most * rng.integers(0, 2, (HEIGHT, WIDTH)) for _ in range(count + 1))
    found = predict_from_planes(mode, own, planes, place, depth)
    assert found.min() >= 0
    assert found.max() <= most
    poisoned = own.copy()
    poisoned[place.row :, place.column :] = 12345
    poisoned[place.row + place.height :] = 12345
    poisoned[:, place.column + place.width :] = 12345
    again = predict_from_planes(mode, poisoned, planes, place, depth)
    np.testing.assert_array_equal(found, again)


@pytest.mark.parametrize("mode", [CROSS_COMPONENT, WIDE_CROSS_COMPONENT])
def test_more_bits_give_finer_predictions(mode):
    """The prediction of shifted samples is about the shifted prediction."""
    planes = planes_of()
    own = 30 + planes[0] // 2 + planes[1] // 3
    place = BlockPlace(16, 16, 4, 4)
    byte = predict_from_planes(mode, own, planes, place)
    deep = predict_from_planes(mode, own << 8, [plane << 8 for plane in planes], place, 16)
    assert np.abs(deep / 256 - byte).max() <= 1
