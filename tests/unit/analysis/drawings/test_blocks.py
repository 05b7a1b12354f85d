"""The drawing of a picture in blocks: outlines, tints and marks, by value."""

import numpy as np
import pytest

from mmpcodec.analysis.drawings.blocks import (
    KINDS,
    MARKS,
    PALETTE,
    PALETTE_OPACITY,
    TINT_OPACITY,
    draw_blocks,
    mark_coverage,
    tint_palette,
)
from mmpcodec.analysis.drawings.trees import FRAGMENT_LINE, LEAF_LINE, LINE_OPACITY
from mmpcodec.reference.blocks.partition import FIRST_ANGLE, KIND_NAMES, MODE_NAMES, MODES

LEVEL = 100


def two_blocks():
    """An 8x8 block of mode 1 and kind 1, and right of it one of mode 0 and kind 0."""
    units = np.zeros((2, 4, 4), np.uint8)
    units[:, :2] = 3, 3, 1, 1
    units[:, 2:] = 3, 3, 0, 0
    return units


def blended(below, colour, opacity):
    return np.rint(below + opacity * (np.array(colour) - below)).astype(int).tolist()


def test_every_kind_and_mode_has_its_line():
    assert tuple(KINDS) == KIND_NAMES
    assert list(MARKS) == list(MODE_NAMES.values())
    assert len({colour.rgb for colour in (*KINDS.values(), PALETTE)}) == len(KINDS) + 1


def test_pixels_of_a_palette_are_tinted():
    picture = np.full((9, 13, 3), LEVEL, np.uint8)
    tint_palette(picture, np.array([[True, False, False], [False, False, True]]), 4)
    tinted = blended(LEVEL, PALETTE.rgb, PALETTE_OPACITY)
    assert (picture[:4, :4] == tinted).all()
    assert (picture[4:8, 8:12] == tinted).all()
    assert (picture == LEVEL).all(axis=2).sum() == 9 * 13 - 32


def test_blocks_are_outlined_tinted_and_marked():
    drawn = draw_blocks(np.full((8, 16), LEVEL, np.uint8), two_blocks(), 16, zoom=8)
    assert drawn.shape == (65, 129, 3)
    assert drawn[0, 40].tolist() == blended(LEVEL, FRAGMENT_LINE, LINE_OPACITY)
    assert drawn[30, 64].tolist() == blended(LEVEL, LEAF_LINE, LINE_OPACITY)
    transformed, bare = (
        blended(LEVEL, KINDS[kind].rgb, TINT_OPACITY) for kind in ("transformed", "bare")
    )
    assert drawn[1, 1].tolist() == drawn[63, 63].tolist() == transformed
    assert drawn[1, 65].tolist() == drawn[63, 127].tolist() == bare
    assert drawn[32, 32].tolist() == [255] * 3  # the dot of the average
    assert drawn[32, 96].tolist() == bare  # within the square of the constant
    assert drawn[1:64, 65:128].min(axis=2).max() > 150  # which is white enough


def test_trees_have_a_tint_and_no_mark():
    units = np.zeros((2, 2, 4), np.uint8)
    units[:] = 3, 3, 0, KIND_NAMES.index("tree")
    drawn = draw_blocks(np.full((8, 8), LEVEL, np.uint8), units, 16, zoom=8)
    assert (drawn[1:64, 1:64] == blended(LEVEL, KINDS["tree"].rgb, TINT_OPACITY)).all()


def test_what_is_padded_is_cut_off():
    units = np.zeros((2, 2, 4), np.uint8)
    units[:] = 3, 3, 2, 0
    whole = draw_blocks(np.full((8, 8), LEVEL, np.uint8), units, 16, zoom=5)
    cut = draw_blocks(np.full((7, 5), LEVEL, np.uint8), units, 16, zoom=5)
    assert cut.shape == (36, 26, 3)
    np.testing.assert_array_equal(cut[:-1, :-1], whole[:35, :25])


@pytest.mark.parametrize(("side", "zoom"), [(4, 128), (200, 3), (600, 3)])
def test_small_pictures_are_enlarged(side, zoom):
    units = np.zeros((side // 4, side // 4, 4), np.uint8)
    units[:] = 2, 2, 1, 0
    drawn = draw_blocks(np.zeros((side, side), np.uint8), units, 64)
    assert drawn.shape == (zoom * side + 1, zoom * side + 1, 3)


@pytest.mark.parametrize(
    ("angle", "down", "right"),
    [
        (0, 1, -1),
        (8, 0, 1),
        (16, 1, 1),
        (24, 1, 0),
        (32, 1, -1),
        (20, 32, 13),
        (28, 32, -13),
        (12, 13, 32),
        (4, -13, 32),
    ],
)
def test_angles_are_lines_along_the_prediction(angle, down, right):
    """Angle 16 copies the samples above left down right, 32 those above right down left."""
    ink, outline = mark_coverage(FIRST_ANGLE + angle, 81, 81, 8)
    rows, columns = np.nonzero(ink > 0.5)
    length = np.hypot(down, right)
    across = (rows - 40) * right - (columns - 40) * down
    along = (rows - 40) * down + (columns - 40) * right
    assert np.abs(across / length).max() < 1.2
    assert along.max() / length == pytest.approx(3 / 8 * 81, abs=1.5)
    assert along.min() / length == pytest.approx(-3 / 8 * 81, abs=1.5)
    assert (outline >= ink).all()
    assert (outline > 0.5).sum() > (ink > 0.5).sum()


def test_marks_differ_and_stay_inside():
    for height, width in ((11, 11), (11, 191)):
        drawn = [mark_coverage(mode, height, width, 3) for mode in range(MODES)]
        shapes = {ink.tobytes() for ink, _ in drawn}
        assert len(shapes) == MODES - 1  # the first angle and the last are one direction
        for ink, _ in drawn:
            assert ink.shape == (height, width)
            assert not ink[[0, -1]].any()
            assert not ink[:, [0, -1]].any()
