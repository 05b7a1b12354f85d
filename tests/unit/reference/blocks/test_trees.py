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
from mmpcodec.reference.trees.copy_search import CopySearch
from mmpcodec.reference.trees.scales import LEAF, ROWS, Scale
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


def test_trees_are_found_below_their_bounds_only():
    trees = trees_of((16, 16))
    source = np.zeros((16, 16), np.int64)
    source[:8], source[8:] = 10, 20
    place = BlockPlace(0, 0, 4, 4)
    copies = CopySearch(trees.models, trees.dictionaries, trees.copies)
    found = find_trees(source, trees, copies, {place: 1 << 40}, LAMBDA, "adaptive")[place]
    assert found.nodes == split(place, ROWS)
    assert find_trees(source, trees, copies, {place: found.cost}, LAMBDA, "adaptive") == {}
    again = find_trees(source, trees, copies, {place: found.cost + 1}, LAMBDA, "adaptive")
    assert again == {place: found}
    # Three flags, and two leaves of the 255 elements of one class of two, in 1/16 squared error.
    bits = 3 * np.log2(3) + 2 * (1 + np.log2(255))
    assert found.cost == pytest.approx(16 * 40 * bits, abs=4)
    lower = BlockPlace(8, 0, 3, 4)
    alone = find_trees(source, trees, copies, {lower: 1 << 40}, LAMBDA, "log2")[lower]
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
