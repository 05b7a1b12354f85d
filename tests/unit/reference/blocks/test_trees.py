"""Trees among predicted blocks, by value."""

import numpy as np
import pytest
from support.strategies import BASIC, text_like

from mmpcodec import EncodeParams
from mmpcodec.reference.blocks.coder import BlockPicture
from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.search.effort import EFFORTS
from mmpcodec.reference.blocks.search.search import BlockSearch
from mmpcodec.reference.blocks.search.trees import find_trees
from mmpcodec.reference.blocks.trees import BlockTrees
from mmpcodec.reference.trees.scales import COLUMNS, LEAF, OUTSIDE, ROWS, Scale
from mmpcodec.reference.trees.segments import Node, Segment
from mmpcodec.tools import TreeTools

LAMBDA = 40 << 16


def trees_of(shape, fragment_size=16, **options):
    return BlockTrees(shape, TreeTools(**options), fragment_size)


def split(place, flag, first=10, second=20):
    """A tree with two leaves of one level each: 10 and 20."""
    halves = place.segment.children(flag)
    leaves = [Node(half, LEAF, index) for half, index in zip(halves, (first, second), strict=True)]
    return [Node(place.segment, flag), *leaves]


def elements(dictionary, start=256):
    """What was inserted after the start of a picture."""
    return dictionary.samples[start:].tolist()


def test_only_blocks_of_scales_that_occur_may_be_trees():
    flexible, dyadic = (trees_of((64, 64), partition=name) for name in (0, 1))
    for a in range(2, 7):
        for b in range(2, 7):
            place = BlockPlace(0, 0, a, b)
            assert flexible.may_be(place) == (a <= 4 and b <= 4)
            assert dyadic.may_be(place) == (a <= 4 and a - b in (0, 1))


def test_samples_and_leaves_of_a_tree():
    trees = trees_of((32, 32))
    place = BlockPlace(20, 24, 2, 3)
    nodes = split(place, COLUMNS)
    assert trees.samples(place, nodes).tolist() == 4 * [4 * [10] + 4 * [20]]
    trees.mark(place, nodes)
    assert (trees.leaf_scales[place.slices] == Scale(2, 2).number).all()
    assert (trees.leaf_scales != OUTSIDE).sum() == 32


@pytest.mark.parametrize("size", [16, 32, 64])
def test_flags_see_the_leaves_around_the_fragment(size):
    """Not those around the area, which may not be known when its trees are searched."""
    trees = trees_of((128, 120), fragment_size=size)
    trees.leaf_scales[:] = np.arange(128)[:, None] % 23
    trees.leaf_scales[:, ::2] = 24
    row, column = 128 - 16, 120 - 8
    neighbours = trees.neighbours((row, column))
    first_row, first_column = row - row % size, column - column % size
    assert neighbours.above.tolist() == [24, (first_row - 1) % 23] * 4 + 8 * [OUTSIDE]
    assert neighbours.left.tolist() == (np.arange(row, 128) % 23).tolist()
    assert first_column % 2 == 0
    assert (trees.neighbours((0, 0)).left == OUTSIDE).all()


def test_areas_teach_in_raster_order_and_only_their_trees():
    """The block on the right is decoded first; what it teaches comes second."""
    trees = trees_of((16, 32), fragment_size=32, copy_radius=0, displaced_blocks=0)
    fragment = BlockPlace(0, 0, 5, 5)
    samples = np.full((16, 32), 77, np.uint8)
    left, right = BlockPlace(4, 0, 2, 2), BlockPlace(0, 28, 2, 2)
    found = [(right, split(right, ROWS)), (left, split(left, COLUMNS))]
    for place, nodes in found:
        samples[place.slices] = trees.samples(place, nodes)
    trees.learn(fragment, found, samples)
    expected = [4 * [10, 10, 20, 20], 8 * [10] + 8 * [20]]
    assert elements(trees.dictionaries[Scale(2, 2)]) == expected
    assert sum(len(own) for own in trees.dictionaries.values()) == 25 * 256 + 2


def test_displaced_blocks_are_taken_from_predicted_blocks_and_end_in_the_picture():
    """The padded picture ends within the area; each row of 4x4 blocks has its own samples."""
    trees = trees_of((8, 12), fragment_size=16, displaced_blocks=2)
    samples = np.arange(8 * 12, dtype=np.uint8).reshape(8, 12)
    trees.learn(BlockPlace(0, 0, 4, 4), [], samples)
    dictionary = trees.dictionaries[Scale(2, 2)]
    places = [(i, j) for i in range(5) for j in range(9) if i % 4 or j % 4]
    expected = [samples[i : i + 4, j : j + 4].ravel().tolist() for i, j in places]
    assert elements(dictionary) == expected
    wide = trees.dictionaries[Scale(2, 1)]
    assert elements(wide)[0] == samples[:4, 2:10].ravel().tolist()
    assert len(trees.dictionaries[Scale(0, 2)]) == 256


def test_trees_are_found_below_their_bounds_only():
    trees = trees_of((16, 16))
    source = np.zeros((16, 16), np.int64)
    source[:8], source[8:] = 10, 20
    place = BlockPlace(0, 0, 4, 4)
    found = find_trees(source, trees, {place: 1 << 40}, LAMBDA, "adaptive")[place]
    assert found.nodes == split(place, ROWS)
    assert find_trees(source, trees, {place: found.cost}, LAMBDA, "adaptive") == {}
    again = find_trees(source, trees, {place: found.cost + 1}, LAMBDA, "adaptive")
    assert again == {place: found}
    # Three flags, and two leaves of the 255 elements of one class of two, in 1/16 squared error.
    bits = 3 * np.log2(3) + 2 * (1 + np.log2(255))
    assert found.cost == pytest.approx(16 * 40 * bits, abs=4)
    lower = BlockPlace(8, 0, 3, 4)
    alone = find_trees(source, trees, {lower: 1 << 40}, LAMBDA, "log2")[lower]
    assert alone.nodes == [Node(Segment(Scale(1, 0), 1, 0), LEAF, 20)]


def test_the_search_takes_trees_into_its_partition():
    """Flat parts with an edge that no prediction knows: one tree for all is cheapest."""
    picture = np.full((16, 16), 30, np.uint8)
    picture[:, 8:] = 200
    params = EncodeParams.from_options(300, preset="mixed", fragment_size=16, effort=9, **BASIC)
    state = BlockPicture(picture.shape, params.coded_tools)
    search = BlockSearch(picture.astype(np.int64), state, EFFORTS[9])
    fragment = BlockPlace(0, 0, 4, 4)
    costs = BlockCosts(state.models, params.lambda_fixed)
    nodes = search.find(fragment, costs)
    assert [node.flag for node in nodes] == [LEAF]
    assert nodes[0].block.tree == search.rough_search.trees[fragment].nodes
    seen = search.rough_search.seen[fragment]
    assert seen.tree == search.rough_search.trees[fragment].cost + costs.tree[4, 1, 1]
    assert seen.least == seen.whole == seen.tree < seen.predicted


@pytest.mark.parametrize(("effort", "least", "most"), [(1, 8, 100), (9, 0, 6)])
def test_modes_are_not_tried_where_a_tree_is_much_cheaper(monkeypatch, effort, least, most):
    """How much that is, the effort says."""
    picture = text_like(np.random.default_rng(2), 16, 16).astype(np.int64)
    params = EncodeParams.from_options(60, preset="mixed", fragment_size=16, effort=effort, **BASIC)
    state = BlockPicture(picture.shape, params.coded_tools)
    search = BlockSearch(picture, state, EFFORTS[effort])
    tried, attempt = set(), BlockSearch._attempt_modes

    def watched(self, trial, given):
        tried.add(trial.place)
        attempt(self, trial, given)

    monkeypatch.setattr(BlockSearch, "_attempt_modes", watched)
    search.find(BlockPlace(0, 0, 4, 4), BlockCosts(state.models, params.lambda_fixed))
    rough_search = search.rough_search
    spared = {place for place in rough_search.trees if not rough_search.may_be_predicted(place)}
    assert not spared & tried
    assert least <= len(spared) <= most
