"""Segmentation trees: coding a tree, and the encoder's search for the cheapest tree.

Source: section "Tree" of ``docs/format/format.md``. The search, ``OptimalTrees``, is *encoder
only*; its source is the dissertation that ``costs`` cites (ArvoreOtima, SegmentaBloco).
"""

from functools import cache

import numpy as np

from mmpcodec.reference.entropy.rates import SymbolCoder
from mmpcodec.reference.trees.copies import Copies
from mmpcodec.reference.trees.costs import flag_costs
from mmpcodec.reference.trees.dictionary import Dictionary
from mmpcodec.reference.trees.models import Models, flag_context
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, LEAF, OUTSIDE, SCALES, Scale
from mmpcodec.reference.trees.segments import ROOT, Node, Segment


class Neighbours:
    """Scales of the leaves above and left of a fragment, which decide the contexts of its flags.

    Parameters
    ----------
    leaf_scales : (H', W') int8 array
        Scale number of the leaf at each decoded sample of the padded picture, else ``OUTSIDE``.
    row, column : int
        First sample of a 16x16 area: the fragment, or a part of a larger fragment.
    size : int
        Height and width of the fragment in samples.

    Attributes
    ----------
    above, left : (16,) int arrays
        Scale numbers in the row above and in the column left of the fragment, at the columns and
        rows of the area.
    """

    def __init__(self, leaf_scales: np.ndarray, row: int, column: int, size: int = FRAGMENT_SIZE):
        first_row, first_column = row - row % size, column - column % size
        self.above, self.left = np.full((2, FRAGMENT_SIZE), OUTSIDE)
        if first_row:
            above = leaf_scales[first_row - 1, column : column + FRAGMENT_SIZE]
            self.above[: len(above)] = above
        if first_column:
            left = leaf_scales[row : row + FRAGMENT_SIZE, first_column - 1]
            self.left[: len(left)] = left

    def context(self, segment: Segment, models: Models) -> int:
        """Return the context of the flag of a segment; see ``flag_context``."""
        scale = segment.scale
        above = self.above[segment.l * scale.width + scale.width // 2]
        left = self.left[segment.k * scale.height + scale.height // 2]
        return flag_context(scale, int(above), int(left), models.tools)


def optimal_tree(
    cost: np.ndarray,
    index: np.ndarray,
    models: Models,
    neighbours: Neighbours,
    lambda_fixed: int,
) -> list[Node]:
    """Find the cheapest tree of a fragment. The parameters are those of ``OptimalTrees``.

    Returns
    -------
    list of Node
        The nodes in coding order: depth first, a node before its halves.
    """
    return OptimalTrees(cost, index, models, neighbours, lambda_fixed).nodes(ROOT)


class OptimalTrees:
    """The cheapest tree of every segment of a fragment, found from small to large segments.

    Of equal costs a leaf is preferred, then a split into columns, then a split into rows.

    Parameters
    ----------
    cost, index : (31, 31) int64 arrays
        Cost and index of each segment's cheapest element, from ``cost_map``.
    models : Models
    neighbours : Neighbours
    lambda_fixed : int
        lambda in 1/65536 squared error per bit.

    Attributes
    ----------
    total : (31, 31) int64 array
        Cost D + lambda * R of each segment's cheapest tree, in 1/16 squared error.
    choice : (31, 31) int64 array
        Flag of each segment in its cheapest tree.
    """

    def __init__(
        self,
        cost: np.ndarray,
        index: np.ndarray,
        models: Models,
        neighbours: Neighbours,
        lambda_fixed: int,
    ):
        flag_cost = cache(lambda scale, context: flag_costs(models, lambda_fixed, scale, context))
        self.index = index
        self.total = total = np.zeros_like(cost)
        self.choice = np.zeros_like(cost)
        for scale in reversed(SCALES):
            for k in range(1 << scale.n):
                for l in range(1 << scale.m):  # noqa: E741
                    segment = Segment(scale, k, l)
                    context = neighbours.context(segment, models)
                    candidates = []
                    for flag, own in flag_cost(scale, context).items():
                        if flag == LEAF:
                            below = cost[segment.address]
                        else:
                            below = sum(total[child.address] for child in segment.children(flag))
                        candidates.append((own + int(below), flag))
                    total[segment.address], self.choice[segment.address] = min(candidates)

    def nodes(self, segment: Segment) -> list[Node]:
        """Return the nodes of a segment's cheapest tree in coding order: nodes before halves."""
        flag = int(self.choice[segment.address])
        if flag == LEAF:
            return [Node(segment, LEAF, int(self.index[segment.address]))]
        first, second = segment.children(flag)
        return [Node(segment, flag), *self.nodes(first), *self.nodes(second)]


def code_tree(
    coder: SymbolCoder,
    models: Models,
    dictionaries: dict[Scale, Dictionary],
    neighbours: Neighbours,
    nodes: list[Node] | None,
    root: Segment = ROOT,
    copies: Copies | None = None,
) -> list[Node]:
    """Code the flags and indices of a tree, depth first.

    Parameters
    ----------
    coder : SymbolCoder
    models : Models
    dictionaries : dict of Scale to Dictionary
    neighbours : Neighbours
    nodes : list of Node or None
        The tree to encode, in coding order; None decodes.
    root : Segment
        Segment that the tree covers.
    copies : Copies or None
        What leaves can be copies of.

    Returns
    -------
    list of Node
        The coded tree in coding order.
    """
    given = iter(nodes or ())
    coded: list[Node] = []

    def visit(segment: Segment) -> None:
        node = next(given, None)
        context = neighbours.context(segment, models)
        flag = models.code_flag(coder, segment.scale, context, node.flag if node else None)
        if flag == LEAF:
            dictionary = dictionaries[segment.scale]
            given_index = node.index if node else None
            index = models.code_index(coder, dictionary, given_index, copies)
            coded.append(Node(segment, LEAF, index))
            return
        coded.append(Node(segment, flag))
        for child in segment.children(flag):
            visit(child)

    visit(root)
    return coded


def rebuild(
    nodes: list[Node], dictionaries: dict[Scale, Dictionary], copies: Copies | None = None
) -> np.ndarray:
    """Return the samples of the leaves' elements and copies.

    Returns
    -------
    (16, 16) uint8 array
        0 where no leaf is.
    """
    coded = np.zeros((FRAGMENT_SIZE, FRAGMENT_SIZE), np.uint8)
    for node in nodes:
        if node.index is None:
            continue
        scale = node.segment.scale
        if copies and node.index < 0:
            coded[node.segment.slices] = copies.block(scale, node.index)
        else:
            coded[node.segment.slices] = dictionaries[scale].block(node.index)
    return coded


def mark_leaves(nodes: list[Node], leaf_scales: np.ndarray, row: int, column: int) -> None:
    """Write the scale number of each leaf to the samples that it covers.

    Parameters
    ----------
    nodes : list of Node
    leaf_scales : (H', W') int8 array
        Changed in place.
    row, column : int
        First sample of the 16x16 area that holds the tree.
    """
    area = leaf_scales[row : row + FRAGMENT_SIZE, column : column + FRAGMENT_SIZE]
    for node in nodes:
        if node.flag == LEAF:
            area[node.segment.slices] = node.segment.scale.number
