"""Blocks of a picture: splits, contexts, the edge of the picture."""

import numpy as np
import pytest

from mmpcodec.reference.blocks.partition import (
    THREE_COLUMNS,
    THREE_ROWS,
    Block,
    BlockPlace,
    Units,
    forced_flag,
    fragment_places,
    is_outside,
    pad,
)
from mmpcodec.reference.trees.scales import COLUMNS, LEAF, ROWS, Scale
from mmpcodec.reference.trees.segments import Node, Segment

TREES = (None, None, [Node(Segment(Scale(2, 2)), LEAF, 0)])


def marked(*blocks):
    """Units of a 32x32 picture in which these places hold blocks of these modes and kinds."""
    units = Units((32, 32))
    for place, mode, kind in blocks:
        units.mark(place, Block(mode, np.ones((4, 4)) if kind else None))
    return units


def test_contexts_tell_residuals_and_trees_apart():
    place = BlockPlace(8, 8, 2, 2)
    for kinds, residuals, trees in (((0, 1), 1, 0), ((2, 1), 1, 1), ((2, 2), 0, 2)):
        units = Units((32, 32))
        beside = BlockPlace(4, 8, 2, 2), BlockPlace(8, 4, 2, 2)
        for neighbour, kind in zip(beside, kinds, strict=True):
            units.mark(
                neighbour, Block(0, np.ones((4, 4)) if kind == 1 else None, tree=TREES[kind])
            )
        assert units.kind_context(place) == residuals
        assert units.tree_context(place) == trees


def test_a_block_is_a_segment_of_its_area():
    place = BlockPlace(24, 36, 3, 2)
    assert place.area == (16, 32)
    assert place.segment == Segment(Scale(1, 2), 1, 1)
    assert [s.start for s in place.segment.slices] == [8, 4]


@pytest.mark.parametrize("flag", [COLUMNS, ROWS, THREE_COLUMNS, THREE_ROWS])
def test_parts_make_up_the_block(flag):
    place = BlockPlace(16, 32, 4, 5)
    cover = np.zeros((64, 96), int)
    for part in place.parts(flag):
        cover[part.slices] += 1
    assert (cover[place.slices] == 1).all()
    assert cover.sum() == place.height * place.width


def test_ternary_parts_are_a_quarter_a_half_and_a_quarter():
    columns = BlockPlace(0, 64, 2, 6).parts(THREE_COLUMNS)
    assert [(part.column, part.width) for part in columns] == [(64, 16), (80, 32), (112, 16)]
    rows = BlockPlace(8, 0, 4, 3).parts(THREE_ROWS)
    assert [(part.row, part.height) for part in rows] == [(8, 4), (12, 8), (20, 4)]
    assert [part.is_aligned for part in rows] == [True, False, True]


def test_flags_that_a_block_may_have():
    assert BlockPlace(0, 0, 2, 2).flags(ternary=True) == (LEAF,)
    assert BlockPlace(0, 0, 3, 2).flags(ternary=True) == (LEAF, ROWS)
    assert BlockPlace(0, 0, 4, 3).flags() == (LEAF, COLUMNS, ROWS)
    assert BlockPlace(0, 0, 4, 3).flags(ternary=True) == (LEAF, COLUMNS, ROWS, THREE_ROWS)


def test_areas_and_sizes():
    logs = range(2, 7)
    for a, b in ((a, b) for a in logs for b in logs):
        place = BlockPlace(0, 0, a, b)
        area = place.height * place.width
        assert place.size == np.log2(area) - 4
        assert place.area_class == np.searchsorted([16, 64, 256], area)
        assert place.may_be_sine == (area <= 256 and max(place.height, place.width) <= 16)


def test_fragments_cover_a_picture_that_is_no_multiple_of_them():
    places = list(fragment_places((36, 68), 32))
    assert [(place.row, place.column) for place in places] == [
        (0, 0), (0, 32), (0, 64), (32, 0), (32, 32), (32, 64)
    ]  # fmt: skip
    assert pad(np.zeros((33, 65), np.uint8)).shape == (36, 68)


@pytest.mark.parametrize(
    ("place", "flag"),
    [
        (BlockPlace(0, 0, 4, 4), None),
        (BlockPlace(0, 16, 4, 4), COLUMNS),
        (BlockPlace(16, 0, 4, 4), ROWS),
        (BlockPlace(16, 16, 4, 4), COLUMNS),
    ],
)
def test_blocks_across_the_edge_are_split_towards_it(place, flag):
    assert forced_flag(place, (20, 24)) == flag
    assert not is_outside(place, (20, 24))


def test_blocks_beyond_the_edge_are_outside():
    assert is_outside(BlockPlace(0, 24, 3, 3), (20, 24))
    assert is_outside(BlockPlace(20, 0, 2, 2), (20, 24))


def test_contexts_at_the_corner_of_the_picture():
    units, place = Units((32, 32)), BlockPlace(0, 0, 4, 4)
    assert units.split_context(place) == 0
    assert units.direction_context(place) == 0
    assert units.kind_context(place) == 0
    assert units.likely_modes(place) == (2, 2)


def test_contexts_come_from_the_blocks_above_and_on_the_left():
    place = BlockPlace(16, 16, 3, 3)
    above, left = BlockPlace(8, 16, 3, 2), BlockPlace(16, 8, 2, 3)
    large = BlockPlace(0, 16, 4, 4), BlockPlace(16, 0, 4, 4)
    both = marked((above, 5, 1), (left, 7, 1))
    assert both.split_context(place) == 2
    assert both.direction_context(place) == 0
    assert both.kind_context(place) == 2
    assert both.likely_modes(place) == (7, 5)
    narrower = marked((above, 5, 1), (large[1], 7, 0))
    assert (narrower.split_context(place), narrower.direction_context(place)) == (1, 1)
    lower = marked((large[0], 5, 0), (left, 7, 0))
    assert (lower.split_context(place), lower.direction_context(place)) == (1, 2)
    assert lower.kind_context(place) == 0


def test_a_missing_neighbour_is_taken_to_be_as_the_other():
    units = marked((BlockPlace(0, 0, 4, 4), 9, 0))
    assert units.likely_modes(BlockPlace(0, 16, 4, 4)) == (9, 9)
    assert units.likely_modes(BlockPlace(16, 0, 4, 4)) == (9, 9)


def test_what_is_forgotten_is_not_decoded():
    place = BlockPlace(8, 8, 3, 3)
    units = marked((place, 36, 1))
    assert units.decoded.sum() == 4
    units.forget(place)
    assert not units.known.any()
