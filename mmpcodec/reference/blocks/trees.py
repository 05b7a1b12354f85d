"""Trees among predicted blocks: coding them, and learning from them.

Source: section "Trees among blocks" of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.reference.blocks.partition import CONSTANT, MAX_TREE_LOG2, Block, BlockPlace
from mmpcodec.reference.entropy.rates import SymbolCoder
from mmpcodec.reference.trees.copies import Copies, are_copies
from mmpcodec.reference.trees.dictionary import make_dictionaries
from mmpcodec.reference.trees.fragments import fragment_origins
from mmpcodec.reference.trees.learning import learn, learn_copies
from mmpcodec.reference.trees.models import Models
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, OUTSIDE
from mmpcodec.reference.trees.segments import Node
from mmpcodec.reference.trees.tree import Neighbours, code_tree, mark_leaves, rebuild
from mmpcodec.tools import TreeTools

TREE_MODE = CONSTANT
"""Mode that a tree has for the context models of its neighbours."""


def tree_block(nodes: list[Node]) -> Block:
    """Make a block that is coded by a tree."""
    return Block(TREE_MODE, tree=nodes)


class BlockTrees:
    """State that encoder and decoder share for the trees among the blocks of a picture.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the padded picture in samples.
    tools : TreeTools
    fragment_size : int
        Side of the fragments of predicted blocks.

    Attributes
    ----------
    models : Models
    dictionaries : dict of Scale to Dictionary
    copies : Copies or None
        What leaves can be copies of; None if the tools allow no copies.
    leaf_scales : (H, W) int8 array
        Scale number of the leaf at each sample; ``OUTSIDE`` at samples that no tree covers.
    """

    def __init__(self, shape: tuple[int, int], tools: TreeTools, fragment_size: int):
        self.tools, self.fragment_size = tools, fragment_size
        self.models = Models(tools)
        self.dictionaries = make_dictionaries(tools)
        self.copies = Copies(shape, tools) if are_copies(tools) else None
        self.leaf_scales = np.full(shape, OUTSIDE, np.int8)

    def may_be(self, place: BlockPlace) -> bool:
        """Return whether a block may be a tree: at most 16x16, aligned, of a scale that occurs."""
        small = max(place.height_log2, place.width_log2) <= MAX_TREE_LOG2
        return small and place.is_aligned and place.segment.scale in self.dictionaries

    def neighbours(self, area: tuple[int, int]) -> Neighbours:
        """Return the leaf scales around the fragment, at the columns and rows of a 16x16 area.

        ``area`` is the row and column of the area's first sample.
        """
        return Neighbours(self.leaf_scales, *area, self.fragment_size)

    def code(self, coder: SymbolCoder, place: BlockPlace, nodes: list[Node] | None) -> list[Node]:
        """Code the tree of a block.

        Parameters
        ----------
        coder : SymbolCoder
        place : BlockPlace
        nodes : list of Node or None
            The tree to encode; None decodes.

        Returns
        -------
        list of Node
            The coded tree in coding order.
        """
        neighbours = self.neighbours(place.area)
        return code_tree(
            coder, self.models, self.dictionaries, neighbours, nodes, place.segment, self.copies
        )

    def samples(self, place: BlockPlace, nodes: list[Node]) -> np.ndarray:
        """Return the samples of a block that is a tree, a (h, w) uint8 array."""
        return rebuild(nodes, self.dictionaries, self.copies)[place.segment.slices]

    def mark(self, place: BlockPlace, nodes: list[Node]) -> None:
        """Record the leaves of a decoded block in ``leaf_scales``."""
        mark_leaves(nodes, self.leaf_scales, *place.area)

    def learn(
        self, fragment: BlockPlace, trees: list[tuple[BlockPlace, list[Node]]], samples: np.ndarray
    ) -> None:
        """Insert the split segments and copies of a fragment into the dictionaries.

        Parameters
        ----------
        fragment : BlockPlace
        trees : list of (BlockPlace, list of Node)
            The fragment's blocks that are trees, in coding order.
        samples : (H, W) uint8 array
            The padded picture, decoded up to and including the fragment.
        """
        for down, right in fragment_origins(fragment.height, fragment.width):
            area = row, column = fragment.row + down, fragment.column + right
            nodes = [node for place, tree in trees if place.area == area for node in tree]
            coded = samples[row : row + FRAGMENT_SIZE, column : column + FRAGMENT_SIZE]
            if not coded.size:  # the area lies outside of the picture
                continue
            learn(self.dictionaries, nodes, coded, self.tools)
            if self.copies:
                learn_copies(self.dictionaries, self.copies, nodes, row, column, samples)
