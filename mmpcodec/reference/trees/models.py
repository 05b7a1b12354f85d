"""Adaptive models of trees: frequencies of flags and classes.

Encoder and decoder call the same functions with a ``SymbolCoder`` of their direction. A model
gives it the frequencies of the alphabet and counts the coded symbol.
Source: sections "Models", "Flags" and "Index" of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.reference.entropy.rates import MAX_TOTAL, SymbolCoder
from mmpcodec.reference.trees.copies import Copies
from mmpcodec.reference.trees.dictionary import CLASS_COUNT, DISPLACED_CLASS, Dictionary
from mmpcodec.reference.trees.scales import OUTSIDE, SCALES, Scale, allowed_flags
from mmpcodec.tools import TreeTools

FLAG_CONTEXTS = 8


class Models:
    """Models of the flags and classes of one picture.

    Parameters
    ----------
    tools : TreeTools

    Attributes
    ----------
    flag_frequency : (8, 25, 3) int64 array
        Frequency of each flag, by context and scale number.
    class_frequency : (25, 53) int64 array
        Frequency of each class, by scale number.
    """

    def __init__(self, tools: TreeTools):
        self.tools = tools
        self.flag_frequency = np.ones((FLAG_CONTEXTS, len(SCALES), 3), np.int64)
        self.class_frequency = np.ones((len(SCALES), CLASS_COUNT), np.int64)

    def flag_frequencies(self, scale: Scale, context: int) -> np.ndarray:
        """Return the frequencies of the flags of a node.

        Returns
        -------
        (3,) int64 array
            0 for a flag that the partition does not allow.
        """
        allowed = np.zeros(3, bool)
        allowed[list(allowed_flags(scale, self.tools.partition))] = True
        return np.where(allowed, self.flag_frequency[context, scale.number], 0)

    def class_frequencies(self, dictionary: Dictionary, copies: Copies | None = None) -> np.ndarray:
        """Return the frequencies of the classes that a leaf can have.

        Parameters
        ----------
        dictionary : Dictionary
        copies : Copies or None
            The copies, which have the class of displaced blocks; None if there are none.

        Returns
        -------
        (53,) int64 array
            0 for a class without elements in this dictionary and without copies.
        """
        occupied = np.bincount(dictionary.element_class, minlength=CLASS_COUNT) > 0
        if copies and copies.possible(dictionary.scale):
            occupied[DISPLACED_CLASS] = True
        return np.where(occupied, self.class_frequency[dictionary.scale.number], 0)

    def code_flag(self, coder: SymbolCoder, scale: Scale, context: int, flag: int | None) -> int:
        """Code the flag of a node; if only one flag is allowed, no symbol is coded.

        Parameters
        ----------
        coder : SymbolCoder
        scale : Scale
            Scale of the node.
        context : int
            From ``flag_context``.
        flag : int or None
            The flag to encode; None decodes.

        Returns
        -------
        int
            The flag.
        """
        frequencies = self.flag_frequencies(scale, context)
        if np.count_nonzero(frequencies) == 1:
            return int(np.flatnonzero(frequencies)[0])
        flag = coder.code("flag", frequencies, flag)
        _count(self.flag_frequency[context, scale.number], frequencies, flag)
        return flag

    def code_index(
        self,
        coder: SymbolCoder,
        dictionary: Dictionary,
        index: int | None,
        copies: Copies | None = None,
    ) -> int:
        """Code the index of a leaf: first its class, then the element in the class, or the copy.

        Parameters
        ----------
        coder : SymbolCoder
        dictionary : Dictionary
            Its counts and classes adapt.
        index : int or None
            The index to encode; None decodes.
        copies : Copies or None

        Returns
        -------
        int
            The index; that of a copy is negative.
        """
        element_class = None
        if index is not None:
            element_class = DISPLACED_CLASS if index < 0 else int(dictionary.element_class[index])
        frequencies = self.class_frequencies(dictionary, copies)
        if np.count_nonzero(frequencies) == 1:
            element_class = int(np.flatnonzero(frequencies)[0])
        else:
            element_class = coder.code("class", frequencies, element_class)
            _count(self.class_frequency[dictionary.scale.number], frequencies, element_class)
        if copies and element_class == DISPLACED_CLASS:
            return copies.code(coder, dictionary.scale, index)
        members = dictionary.element_class == element_class
        index = coder.code("element", np.where(members, dictionary.count, 0), index)
        dictionary.use(index)
        return index


def _count(model: np.ndarray, used: np.ndarray, symbol: int) -> None:
    """Count a symbol in a model; ``used`` are the frequencies with which it was coded."""
    model[symbol] += 1
    if used.sum() + 1 > MAX_TOTAL:
        model[:] = (model + 1) // 2


def flag_context(scale: Scale, above: int, left: int, tools: TreeTools) -> int:
    """Return the context of a node's flag, from the scales of two leaves outside the fragment.

    Parameters
    ----------
    scale : Scale
        Scale of the node.
    above : int
        Scale number of the leaf above the fragment in the node's middle column; ``OUTSIDE`` if
        there is no leaf.
    left : int
        Scale number of the leaf left of the fragment in the node's middle row, or ``OUTSIDE``.
    tools : TreeTools

    Returns
    -------
    int
        0 to 7; always 0 if the tool *flag contexts* is off.
    """
    if not tools.flag_contexts:
        return 0
    finer = [0, 0]
    for i, neighbour in enumerate((above, left)):
        if neighbour != OUTSIDE:
            other = SCALES[neighbour]
            finer[i] = (other.n > scale.n) + (other.m > scale.m)
    context = min(sum(finer), 3)
    if OUTSIDE not in (above, left):
        narrower = SCALES[above].m > scale.m
        lower = SCALES[left].n > scale.n
        context += 4 * (narrower and not lower)
    return context
