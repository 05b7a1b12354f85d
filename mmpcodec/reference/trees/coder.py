"""State of a picture while trees code it: dictionaries, models and decoded samples.

Source: section "Fragments" of ``docs/format/format.md``.
"""

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
    """Count the elements of each dictionary.

    Returns
    -------
    (25,) int array
        Number of elements by scale number; 0 for a scale without a dictionary.
    """
    sizes = np.zeros(len(SCALES), int)
    for scale, dictionary in dictionaries.items():
        sizes[scale.number] = len(dictionary)
    return sizes


class PictureState:
    """State that encoder and decoder share while they code a picture by trees.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the plane in samples.
    tools : Tools

    Attributes
    ----------
    models : Models
    dictionaries : dict of Scale to Dictionary
    samples : (H', W') uint8 array
        Decoded samples of the padded picture.
    leaf_scales : (H', W') int8 array
        Scale number of the leaf at each decoded sample, ``OUTSIDE`` at all others.
    row, column : int
        First sample of the current fragment.
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
        """Pad a plane and yield its fragments, (16, 16) uint8 arrays, in coding order."""
        padded = pad(plane)
        for row, column in fragment_origins(*padded.shape):
            yield padded[row : row + FRAGMENT_SIZE, column : column + FRAGMENT_SIZE]

    def walk(self, report: Callable[[int, int], None]):
        """Make each fragment the current one, in coding order, and yield its neighbours.

        Parameters
        ----------
        report : callable
            Called as ``report(done, total)`` before each row of fragments and after the last
            one, with the number of fragments done and the number of all fragments.

        Yields
        ------
        Neighbours
        """
        origins = list(fragment_origins(*self.samples.shape))
        for done, (self.row, self.column) in enumerate(origins):
            if self.column == 0:
                report(done, len(origins))
            yield Neighbours(self.leaf_scales, self.row, self.column)
        report(len(origins), len(origins))

    def finish_fragment(self, nodes: list) -> None:
        """Write the samples of the current fragment, then let the dictionaries learn from it.

        Parameters
        ----------
        nodes : list of Node
            The fragment's tree in coding order.
        """
        coded = rebuild(nodes, self.dictionaries)
        rows = slice(self.row, self.row + FRAGMENT_SIZE)
        columns = slice(self.column, self.column + FRAGMENT_SIZE)
        self.samples[rows, columns] = coded
        mark_leaves(nodes, self.leaf_scales, self.row, self.column)
        learn(self.dictionaries, nodes, coded, self.tools)
        learn_displaced(self.dictionaries, self.samples, self.row, self.column, self.tools)

    def shown(self) -> np.ndarray:
        """Return the decoded samples without the padding, a (H, W) uint8 array."""
        height, width = self.shape
        return self.samples[:height, :width].copy()
