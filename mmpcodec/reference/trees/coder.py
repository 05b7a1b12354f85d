"""Encoder and decoder of a whole plane by trees, and the state that they share.

Source: sections "Fragments" and "Tree" of ``docs/format/format.md``.
"""

from collections.abc import Callable, Iterator

import numpy as np

from mmpcodec.reference.entropy.cell_rates import CellRates
from mmpcodec.reference.entropy.rates import SymbolCoder
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.trees.copies import Copies, are_copies
from mmpcodec.reference.trees.copy_search import CopySearch
from mmpcodec.reference.trees.costs import cost_map, index_costs
from mmpcodec.reference.trees.dictionary import Dictionary, make_dictionaries
from mmpcodec.reference.trees.fragments import fragment_origins, pad, padded_shape
from mmpcodec.reference.trees.learning import learn, learn_copies
from mmpcodec.reference.trees.models import Models
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, OUTSIDE, SCALES, Scale
from mmpcodec.reference.trees.segments import Node
from mmpcodec.reference.trees.tree import (
    Neighbours,
    code_tree,
    mark_leaves,
    optimal_tree,
    rebuild,
)
from mmpcodec.tools import TreeTools

Report = Callable[[int, int], None]
"""``report(done, total)`` is called with numbers of fragments."""


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
    tools : TreeTools

    Attributes
    ----------
    models : Models
    dictionaries : dict of Scale to Dictionary
    copies : Copies or None
        What leaves can be copies of; None if the tools allow no copies.
    samples : (H', W') uint8 array
        Decoded samples of the padded picture.
    leaf_scales : (H', W') int8 array
        Scale number of the leaf at each decoded sample, ``OUTSIDE`` at all others.
    row, column : int
        First sample of the current fragment.
    """

    def __init__(self, shape: tuple[int, int], tools: TreeTools):
        self.shape = shape
        self.tools = tools
        self.models = Models(tools)
        self.dictionaries = make_dictionaries(tools)
        padded = padded_shape(shape)
        self.copies = Copies(padded, tools) if are_copies(tools) else None
        self.samples = np.zeros(padded, np.uint8)
        self.leaf_scales = np.full(padded, OUTSIDE, np.int8)
        self.row = self.column = 0

    def fragments_of(self, plane: np.ndarray) -> Iterator[np.ndarray]:
        """Pad a plane and yield its fragments, (16, 16) uint8 arrays, in coding order."""
        padded = pad(plane)
        for row, column in fragment_origins(*padded.shape):
            yield padded[row : row + FRAGMENT_SIZE, column : column + FRAGMENT_SIZE]

    def walk(self, report: Report) -> Iterator[Neighbours]:
        """Make each fragment the current one, in coding order, and yield its neighbours.

        Parameters
        ----------
        report : Report
            Called before each row of fragments and after the last one.

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

    def code(
        self, coder: SymbolCoder, neighbours: Neighbours, nodes: list[Node] | None
    ) -> list[Node]:
        """Code the tree of a fragment; without ``nodes``, decode it."""
        return code_tree(
            coder, self.models, self.dictionaries, neighbours, nodes, copies=self.copies
        )

    def finish_fragment(self, nodes: list) -> None:
        """Write the samples of the current fragment, then let the dictionaries learn from it.

        Parameters
        ----------
        nodes : list of Node
            The fragment's tree in coding order.
        """
        coded = rebuild(nodes, self.dictionaries, self.copies)
        rows = slice(self.row, self.row + FRAGMENT_SIZE)
        columns = slice(self.column, self.column + FRAGMENT_SIZE)
        self.samples[rows, columns] = coded
        mark_leaves(nodes, self.leaf_scales, self.row, self.column)
        learn(self.dictionaries, nodes, coded, self.tools)
        if self.copies:
            place = self.row, self.column
            learn_copies(self.dictionaries, self.copies, nodes, *place, self.samples)

    def shown(self) -> np.ndarray:
        """Return the decoded samples without the padding, a (H, W) uint8 array."""
        height, width = self.shape
        return self.samples[:height, :width].copy()


def encode_trees(
    plane: np.ndarray, tools: TreeTools, lambda_fixed: int, report: Report, rate_model: str
) -> tuple[bytes, dict[str, float], np.ndarray, PictureState]:
    """Encode a plane by trees.

    Parameters
    ----------
    plane : (H, W) uint8 array
    tools : TreeTools
    lambda_fixed : int
        lambda in 1/65536 squared error per bit.
    report : Report
    rate_model : {"adaptive", "log2"}
        How the rates of indices are computed; see ``index_costs``.

    Returns
    -------
    payload : bytes
    bits, cell_rates, state
        As ``decode_trees`` returns them for this payload.
    """
    state, writer = PictureState(plane.shape, tools), SymbolWriter()
    cells = CellRates(plane.shape, writer.tally)
    copies = CopySearch(state.models, state.dictionaries, state.copies)
    for neighbours, fragment in zip(state.walk(report), state.fragments_of(plane), strict=True):
        costs = {
            scale: index_costs(state.models, dictionary, lambda_fixed, rate_model, state.copies)
            for scale, dictionary in state.dictionaries.items()
        }
        cost, index = cost_map(fragment, state.dictionaries, costs)
        copies.improve(fragment, lambda_fixed, rate_model, cost, index)
        nodes = optimal_tree(cost, index, state.models, neighbours, lambda_fixed)
        state.code(writer, neighbours, nodes)
        cells.add(state.row, state.column, FRAGMENT_SIZE, FRAGMENT_SIZE)
        state.finish_fragment(nodes)
    return writer.finish(), writer.tally.bits(), cells.rates, state


def decode_trees(
    payload: bytes, shape: tuple[int, int], tools: TreeTools, report: Report
) -> tuple[dict[str, float], np.ndarray, PictureState]:
    """Decode a payload of trees.

    Parameters
    ----------
    payload : bytes
    shape : (int, int)
        Height and width of the plane in samples.
    tools : TreeTools
    report : Report

    Returns
    -------
    bits : dict of str to float
        Ideal code length of each syntax element, in bits.
    cell_rates : (R, C) int64 array
        Rate of each cell; see ``CellRates``.
    state : PictureState
        State after the last fragment.

    Raises
    ------
    TruncatedStream, CorruptStream
        If the payload breaks a rule of the format.
    """
    state, reader = PictureState(shape, tools), SymbolReader(payload)
    cells = CellRates(shape, reader.tally)
    for neighbours in state.walk(report):
        nodes = state.code(reader, neighbours, None)
        cells.add(state.row, state.column, FRAGMENT_SIZE, FRAGMENT_SIZE)
        state.finish_fragment(nodes)
    reader.finish()
    return reader.tally.bits(), cells.rates, state
