"""Search for the cheapest tree of each block that may be a tree.

*Encoder only*. The cost of a tree does not depend on the other blocks of its fragment, so the trees
are found before the blocks.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.trees import BlockTrees
from mmpcodec.reference.trees.copy_search import CopySearch
from mmpcodec.reference.trees.costs import cost_map, index_costs
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE
from mmpcodec.reference.trees.segments import Node
from mmpcodec.reference.trees.tree import OptimalTrees


@dataclass(frozen=True)
class FoundTree:
    """The cheapest tree of a block.

    Parameters
    ----------
    cost : int
        D + lambda * R of its flags and indices, in 1/16 squared error.
    nodes : list of Node
        Nodes of the tree in coding order.
    """

    cost: int
    nodes: list[Node]


def find_trees(
    source: np.ndarray,
    trees: BlockTrees,
    copies: CopySearch,
    bounds: dict[BlockPlace, int],
    lambda_fixed: int,
    rate_model: str,
) -> dict[BlockPlace, FoundTree]:
    """Find the cheapest tree of each block, and keep those that cost less than a bound.

    Parameters
    ----------
    source : (H, W) int64 array
        The padded picture.
    trees : BlockTrees
    copies : CopySearch
    bounds : dict of BlockPlace to int
        Blocks that may be trees, each with its bound in 1/16 squared error.
    lambda_fixed : int
        lambda in 1/65536 squared error per bit.
    rate_model : {"adaptive", "log2"}
        How the rates of indices are computed; see ``index_costs``.

    Returns
    -------
    dict of BlockPlace to FoundTree
        Only the blocks whose tree costs less than the bound.
    """
    costs = {
        scale: index_costs(trees.models, dictionary, lambda_fixed, rate_model, trees.copies)
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
        copies.improve(samples, lambda_fixed, rate_model, cost, index)
        optimal = OptimalTrees(cost, index, trees.models, trees.neighbours(area), lambda_fixed)
        for place in places:
            total = int(optimal.total[place.segment.address])
            if total < bounds[place]:
                found[place] = FoundTree(total, optimal.nodes(place.segment))
    return found
