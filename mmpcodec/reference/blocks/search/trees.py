"""Search for the cheapest tree of each block that may be a tree.

*Encoder only*. The cost of a tree does not depend on the other blocks of its fragment, so the trees
are found before the blocks.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.trees import BlockTrees
from mmpcodec.reference.entropy.rates import LOG2
from mmpcodec.reference.trees.copies import Copies, copy_index, copy_place
from mmpcodec.reference.trees.costs import (
    COST_FRACTION_BITS,
    cost_map,
    index_costs,
    lagrangian,
    map_region,
    segments_of,
)
from mmpcodec.reference.trees.dictionary import DISPLACED_CLASS, Dictionary
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, Scale
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


class CopySearch:
    """The distinct copies of each scale, and the search for the cheapest one.

    Parameters
    ----------
    trees : BlockTrees
    """

    def __init__(self, trees: BlockTrees):
        self.models = trees.models
        self.copies = trees.copies
        self.found: dict[Scale, FoundCopies] = {}
        if self.copies:
            taken = filter(self.copies.takes, trees.dictionaries)
            self.found = {scale: FoundCopies(scale, self.copies) for scale in taken}

    def improve(
        self,
        fragment: np.ndarray,
        trees: BlockTrees,
        lambda_fixed: int,
        rate_model: str,
        cost: np.ndarray,
        index: np.ndarray,
    ) -> None:
        """Put copies that cost less than the cheapest elements into a cost map.

        Parameters
        ----------
        fragment : (16, 16) uint8 array
        trees : BlockTrees
        lambda_fixed : int
            lambda in 1/65536 squared error per bit.
        rate_model : {"adaptive", "log2"}
        cost, index : (31, 31) int64 arrays
            From ``cost_map``; changed in place.
        """
        for scale, found in self.found.items():
            found.catch_up()
            if not len(found):
                continue
            rate = LOG2[found.copies.area_count]
            if rate_model != "log2":
                frequencies = self.models.class_frequencies(trees.dictionaries[scale], found.copies)
                rate += LOG2[frequencies.sum()] - LOG2[frequencies[DISPLACED_CLASS]]
            own = lagrangian(rate, lambda_fixed) + lagrangian(
                LOG2[np.array(found.places)], lambda_fixed
            )
            found.improve(fragment, own, cost[map_region(scale)], index[map_region(scale)])


class FoundCopies:
    """The copies of a scale that are not redundant.

    Parameters
    ----------
    scale : Scale
    copies : Copies

    Attributes
    ----------
    indices : list of int
        Indices of the copies.
    places : list of int
        Number of places in the area of each copy.
    """

    def __init__(self, scale: Scale, copies: Copies):
        self.scale = scale
        self.copies = copies
        self.known = Dictionary(scale, copies.tools)
        self.indices: list[int] = []
        self.places: list[int] = []
        self._areas = 0

    def __len__(self) -> int:
        return len(self.indices)

    def catch_up(self) -> None:
        """Take the copies of the areas that are new."""
        for area in range(self._areas, len(self.copies.areas)):
            places = self.copies.places(self.scale, area)
            for place in places:
                index = copy_index(area, place)
                samples = self.copies.block(self.scale, index).ravel()
                number = self.known.insert(samples, None)
                if number is None:
                    continue
                element = number - self.known.start
                self.indices[element : element + 1] = [index]
                self.places[element : element + 1] = [len(places)]
        self._areas = len(self.copies.areas)

    def improve(
        self, fragment: np.ndarray, own: np.ndarray, cost: np.ndarray, index: np.ndarray
    ) -> None:
        """Put copies that cost less than the cheapest elements into the part of a cost map.

        Parameters
        ----------
        fragment : (16, 16) uint8 array
        own : (N,) int64 array
            Cost lambda * R of each copy.
        cost, index : (rows, columns) int64 arrays
            Least costs of the segments of the scale, and their indices; changed in place.
        """
        segments = segments_of(fragment, self.scale).astype(np.int64)
        elements = self.known.samples[self.known.start :].astype(np.int64)
        energy = (segments * segments).sum(axis=1)[:, None] + (elements * elements).sum(axis=1)
        distortion = energy - 2 * (segments @ elements.T)
        total = (distortion << COST_FRACTION_BITS) + own
        newest = len(self.copies.areas) - 1
        for number, best in enumerate(total.argmin(axis=1)):
            segment = np.unravel_index(number, cost.shape)
            reached = newest - copy_place(self.indices[best])[0] < self.copies.area_count
            if total[number, best] < cost[segment] and reached:
                cost[segment] = total[number, best]
                index[segment] = self.indices[best]


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
        copies.improve(samples, trees, lambda_fixed, rate_model, cost, index)
        optimal = OptimalTrees(cost, index, trees.models, trees.neighbours(area), lambda_fixed)
        for place in places:
            total = int(optimal.total[place.segment.address])
            if total < bounds[place]:
                found[place] = FoundTree(total, optimal.nodes(place.segment))
    return found
