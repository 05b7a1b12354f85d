"""A picture while trees code it: dictionaries, models and decoded samples."""

from collections.abc import Callable

import numpy as np

from mmpcodec.reference.trees.dictionary import Dictionary, learn, make_dictionaries
from mmpcodec.reference.trees.displaced import learn_displaced
from mmpcodec.reference.trees.fragments import fragment_origins, pad, padded_shape
from mmpcodec.reference.trees.models import Models
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, OUTSIDE, SCALES, Scale
from mmpcodec.reference.trees.tree import Neighbours, mark_leaves, rebuild
from mmpcodec.tools import Tools


def dictionary_sizes(dictionaries: dict[Scale, Dictionary]) -> np.ndarray:
    """(25,) int array: as ``Trace.dictionary_sizes``."""
    sizes = np.zeros(len(SCALES), int)
    for scale, dictionary in dictionaries.items():
        sizes[scale.number] = len(dictionary)
    return sizes


class PictureState:
    """What encoder and decoder both hold while a picture is coded.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the plane.
    tools : Tools
    """

    def __init__(self, shape: tuple[int, int], tools: Tools):
        self.shape = shape
        self.tools = tools
        self.models = Models(tools)
        self.dictionaries = make_dictionaries(tools)
        padded = padded_shape(shape)
        self.samples = np.zeros(padded, np.uint8)
        self.leaf_scales = np.full(padded, OUTSIDE, np.int8)
        self.row = self.column = 0

    def fragments_of(self, plane: np.ndarray):
        """The padded plane's fragments in coding order."""
        padded = pad(plane)
        for row, column in fragment_origins(*padded.shape):
            yield padded[row : row + FRAGMENT_SIZE, column : column + FRAGMENT_SIZE]

    def walk(self, report: Callable[[int, int], None]):
        """Go through the fragments, yielding the neighbours of each.

        ``report(done, total)`` is called at the beginning of each row and at the end.
        """
        origins = list(fragment_origins(*self.samples.shape))
        for done, (self.row, self.column) in enumerate(origins):
            if self.column == 0:
                report(done, len(origins))
            yield Neighbours(self.leaf_scales, self.row, self.column)
        report(len(origins), len(origins))

    def finish_fragment(self, nodes: list) -> None:
        """Rebuild the current fragment from its coded tree and learn from it."""
        coded = rebuild(nodes, self.dictionaries)
        rows = slice(self.row, self.row + FRAGMENT_SIZE)
        columns = slice(self.column, self.column + FRAGMENT_SIZE)
        self.samples[rows, columns] = coded
        mark_leaves(nodes, self.leaf_scales, self.row, self.column)
        learn(self.dictionaries, nodes, coded, self.tools)
        learn_displaced(self.dictionaries, self.samples, self.row, self.column, self.tools)
