"""Drawings of a coded picture, checked sample by sample."""

import numpy as np
import pytest

import mmpcodec
from mmpcodec.analysis.drawings.error import CAPTION_SIZE, MARGIN, draw_error, side_by_side
from mmpcodec.analysis.drawings.trees import FRAGMENT_LINE, LEAF_LINE, LINE_OPACITY, draw_tree
from mmpcodec.trace import leaf_edges


def fragment_in_four():
    """A fragment of an 8x16 leaf above an 8x8 one and an 8x8 cut into an 8x1, 8x1, 8x2, 8x4."""
    leaf_scales = np.full((16, 16), 5, np.int8)
    leaf_scales[8:, :8] = 6
    leaf_scales[8:, 8:10] = 9
    leaf_scales[8:, 10:12] = 8
    leaf_scales[8:, 12:] = 7
    return leaf_scales


def blended(below, colour):
    return np.rint(below + LINE_OPACITY * (np.array(colour) - below)).astype(np.uint8)


def test_leaf_edges():
    top, left = leaf_edges(fragment_in_four())
    assert np.flatnonzero(top.all(axis=1)).tolist() == [0, 8]
    assert top.sum() == 32
    assert np.flatnonzero(left[0]).tolist() == [0]
    for row in (8, 15):
        assert np.flatnonzero(left[row]).tolist() == [0, 8, 9, 10, 12]
    assert (top & left).sum() == 6  # one corner a leaf


def test_leaf_edges_agree_with_the_coded_trees():
    picture = (np.indices((40, 56)).sum(axis=0) * 37 % 256).astype(np.uint8)
    trace = mmpcodec.inspect(mmpcodec.encode(picture, 64, preset="plain"), decode=True).trace
    top, left = leaf_edges(trace.leaf_scales)
    assert (top & left).sum() == sum(trace.leaves())


def test_draw_tree_draws_every_line_and_nothing_else():
    samples = np.full((16, 16), 100, np.uint8)
    drawn = draw_tree(samples, leaf_edges(fragment_in_four()), zoom=3)
    assert drawn.shape == (49, 49, 3)
    assert drawn.dtype == np.uint8
    expected = np.full((49, 49, 3), 100, np.uint8)
    expected[24, :48] = blended(100, LEAF_LINE)
    for column in (24, 27, 30, 36):
        expected[24:48, column] = blended(100, LEAF_LINE)
    expected[[0, 48]] = blended(100, FRAGMENT_LINE)
    expected[:, [0, 48]] = blended(100, FRAGMENT_LINE)
    np.testing.assert_array_equal(drawn, expected)


def test_draw_tree_shows_the_picture_between_the_lines():
    samples = np.arange(256, dtype=np.uint8).reshape(16, 16)
    drawn = draw_tree(samples, leaf_edges(np.full((16, 16), 24, np.int8)), zoom=3)
    for offset in ((1, 1), (1, 2), (2, 1), (2, 2)):
        inside = drawn[offset[0] :: 3, offset[1] :: 3]
        np.testing.assert_array_equal(inside, samples[..., None].repeat(3, axis=2))


def test_draw_tree_crops_the_padding_and_leaves_its_arguments():
    samples = np.full((5, 20), 9, np.uint8)
    leaf_scales = np.zeros((16, 32), np.int8)
    drawn = draw_tree(samples, leaf_edges(leaf_scales), zoom=2)
    assert drawn.shape == (11, 41, 3)
    line = blended(9, FRAGMENT_LINE)
    red = (drawn == line).all(axis=2)
    assert np.flatnonzero(red.all(axis=0)).tolist() == [0, 32, 40]
    assert np.flatnonzero(red.all(axis=1)).tolist() == [0, 10]
    assert (samples == 9).all()
    assert not leaf_scales.any()


@pytest.mark.parametrize(
    ("original", "decoded", "gain", "shown"),
    [
        (10, 10, 4, 128),
        (10, 11, 4, 132),
        (11, 10, 4, 124),
        (0, 255, 4, 255),
        (255, 0, 4, 0),
        (10, 13, 0.5, 130),
    ],
)
def test_draw_error(original, decoded, gain, shown):
    picture = draw_error(
        np.full((2, 3), original, np.uint8), np.full((2, 3), decoded, np.uint8), gain=gain
    )
    assert picture.dtype == np.uint8
    np.testing.assert_array_equal(picture, np.full((2, 3), shown))


def test_side_by_side_places_four_panels_under_captions():
    original = np.full((32, 48), 50, np.uint8)
    decoded = np.full((32, 48), 60, np.uint8)
    page = side_by_side(original, decoded, leaf_edges(np.zeros((32, 48), np.int8)), zoom=8, gain=2)
    width, height = 8 * 48 + 1 + MARGIN, 8 * 32 + 1 + 2 * MARGIN + CAPTION_SIZE
    assert page.shape == (2 * height + MARGIN, 2 * width + MARGIN, 3)
    top, left = 2 * MARGIN + CAPTION_SIZE, MARGIN
    middle = [top + 100, left + 100]
    assert page[middle[0], middle[1]].tolist() == [50] * 3
    assert page[middle[0], middle[1] + width].tolist() == [60] * 3
    assert page[middle[0] + height, middle[1]].tolist() == [60] * 3
    assert page[middle[0] + height, middle[1] + width].tolist() == [148] * 3
    assert page[top + height, left + 1].tolist() == blended(60, FRAGMENT_LINE).tolist()
    for y in (MARGIN, MARGIN + height):
        for x in (MARGIN, MARGIN + width):
            caption = page[y : y + CAPTION_SIZE, x : x + 80]
            assert caption.min() < 50  # dark letters ...
            assert (caption == 255).mean() > 0.5  # ... on white


def test_side_by_side_keeps_captions_apart_over_narrow_pictures():
    narrow = np.zeros((600, 1), np.uint8)
    page = side_by_side(narrow, narrow, leaf_edges(np.zeros((608, 16), np.int8)))
    assert page.shape[1] > 2 * 200
