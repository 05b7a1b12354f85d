"""The encoder's search for trees among predicted blocks: the cheapest tree of each block.

The encoder's, not the format's. What a tree costs does not depend on the blocks around it, so the
trees of a fragment are found before its blocks.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.trees import BlockTrees
from mmpcodec.reference.trees.costs import cost_map, index_costs
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE
from mmpcodec.reference.trees.segments import Node
from mmpcodec.reference.trees.tree import OptimalTrees


@dataclass(frozen=True)
class FoundTree:
    """The tree of least cost of a block.

    Parameters
    ----------
    cost : int
        D + lambda R of its flags and indices.
    nodes : list of Node
        In coding order.
    """

    cost: int
    nodes: list[Node]


def find_trees(
    source: np.ndarray,
    trees: BlockTrees,
    bounds: dict[BlockPlace, int],
    lambda_fixed: int,
    rate_model: str,
) -> dict[BlockPlace, FoundTree]:
    """The trees of blocks that cost less than their bounds.

    Parameters
    ----------
    source : (H, W) int64 array
        The padded picture.
    trees : BlockTrees
    bounds : dict of BlockPlace to int
        The blocks, which may be trees, and what a tree must cost less than.
    lambda_fixed : int
        Squared error per bit, in 2**-16.
    rate_model : {"adaptive", "log2"}
    """
    costs = {
        scale: index_costs(trees.models, dictionary, lambda_fixed, rate_model)
        for scale, dictionary in trees.dictionaries.items()
    }
    by_area: dict[tuple[int, int], list[BlockPlace]] = defaultdict(list)
    for place in bounds:
        by_area[place.area].append(place)
    found = {}
    for area, places in by_area.items():
        row, column = area
        samples = np.zeros((FRAGMENT_SIZE, FRAGMENT_SIZE), np.uint8)
        shown = source[row : row + FRAGMENT_SIZE, column : column + FRAGMENT_SIZE]
        samples[: shown.shape[0], : shown.shape[1]] = shown
        cost, index = cost_map(samples, trees.dictionaries, costs)
        optimal = OptimalTrees(cost, index, trees.models, trees.neighbours(area), lambda_fixed)
        for place in places:
            total = int(optimal.total[place.segment.address])
            if total < bounds[place]:
                found[place] = FoundTree(total, optimal.nodes(place.segment))
    return found
