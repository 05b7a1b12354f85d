"""Trees among predicted blocks: coding them either way, and what the dictionaries learn.

Source: section "Trees among blocks" of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.reference.blocks.partition import CONSTANT, MAX_TREE_LOG2, Block, BlockPlace
from mmpcodec.reference.entropy.rates import SymbolCoder
from mmpcodec.reference.trees.dictionary import learn, make_dictionaries
from mmpcodec.reference.trees.displaced import learn_displaced
from mmpcodec.reference.trees.fragments import fragment_origins
from mmpcodec.reference.trees.models import Models
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, OUTSIDE
from mmpcodec.reference.trees.segments import Node
from mmpcodec.reference.trees.tree import Neighbours, code_tree, mark_leaves, rebuild
from mmpcodec.tools import Tools

TREE_MODE = CONSTANT
"""What the neighbours of a tree take its mode to be."""


def tree_block(nodes: list[Node]) -> Block:
    """A block that is this tree."""
    return Block(TREE_MODE, tree=nodes)


class BlockTrees:
    """What encoder and decoder both hold of the trees of a picture.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the picture, padded to whole units.
    tools : Tools

    Attributes
    ----------
    models : Models
    dictionaries : dict of Scale to Dictionary
    leaf_scales : (H, W) int8 array
        Scale number of the leaf at each sample, ``OUTSIDE`` where no tree is.
    """

    def __init__(self, shape: tuple[int, int], tools: Tools):
        self.tools = tools
        self.models = Models(tools)
        self.dictionaries = make_dictionaries(tools)
        self.leaf_scales = np.full(shape, OUTSIDE, np.int8)

    def may_be(self, place: BlockPlace) -> bool:
        """Whether a block may be a tree."""
        small = max(place.height_log2, place.width_log2) <= MAX_TREE_LOG2
        return small and place.segment.scale in self.dictionaries

    def neighbours(self, area: tuple[int, int]) -> Neighbours:
        """Leaf scales around the fragment, as the 16x16 area that begins here sees them."""
        return Neighbours(self.leaf_scales, *area, self.tools.fragment_size)

    def code(self, coder: SymbolCoder, place: BlockPlace, nodes: list[Node] | None) -> list[Node]:
        """Code the tree of a block and give it; None decodes."""
        neighbours = self.neighbours(place.area)
        return code_tree(
            coder, self.models, self.dictionaries, neighbours, nodes, root=place.segment
        )

    def samples(self, place: BlockPlace, nodes: list[Node]) -> np.ndarray:
        """(h, w) uint8 samples of a block that is a tree."""
        return rebuild(nodes, self.dictionaries)[place.segment.slices]

    def mark(self, place: BlockPlace, nodes: list[Node]) -> None:
        """Note the leaves of a block that is decoded."""
        mark_leaves(nodes, self.leaf_scales, *place.area)

    def learn(
        self, fragment: BlockPlace, trees: list[tuple[BlockPlace, list[Node]]], samples: np.ndarray
    ) -> None:
        """Teach the dictionaries a finished fragment.

        Parameters
        ----------
        fragment : BlockPlace
        trees : list of (BlockPlace, list of Node)
            Its blocks that are trees, in coding order.
        samples : (H, W) uint8 array
            The padded picture, decoded up to and with the fragment.
        """
        for down, right in fragment_origins(fragment.height, fragment.width):
            area = row, column = fragment.row + down, fragment.column + right
            nodes = [node for place, tree in trees if place.area == area for node in tree]
            coded = samples[row : row + FRAGMENT_SIZE, column : column + FRAGMENT_SIZE]
            learn(self.dictionaries, nodes, coded, self.tools)
            learn_displaced(self.dictionaries, samples, row, column, self.tools)
