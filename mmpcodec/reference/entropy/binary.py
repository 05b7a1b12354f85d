"""Adaptive models of single bits.

Source: section "Binary models" of ``docs/format/format.md``.
"""

from typing import Protocol

import numpy as np

from mmpcodec.reference.entropy.rates import SymbolCoder

ONE = 1 << 16
"""Probability 1. Probabilities are integers in 1/65536."""

LEAST, MOST = 128, 65408
"""Probabilities that a model approaches with zeros and with ones."""

MOST_USES = 64
"""Bits after which a model adapts at a constant rate."""


class BitCoder(SymbolCoder, Protocol):
    """Encoder or decoder of symbols, single bits and plain numbers."""

    def bit(self, syntax: str, probability: int, bit: int | None) -> int:
        """Code one bit and return it.

        Parameters
        ----------
        syntax : str
            Name of the syntax element.
        probability : int
            Probability of a 1, in 1/65536.
        bit : int or None
            The bit to encode; None decodes.

        Returns
        -------
        int
            0 or 1.
        """

    def plain(self, syntax: str, bits: int, number: int | None) -> int:
        """Code a number whose values are equally likely, and return it.

        Parameters
        ----------
        syntax : str
            Name of the syntax element.
        bits : int
            Binary digits of the number, 0 to 17.
        number : int or None
            The number to encode, below ``2**bits``; None decodes.

        Returns
        -------
        int
            0 to ``2**bits - 1``.
        """


def moved(mean: int, value: int, uses: int) -> int:
    """Return the running mean, moved towards a new value by 1 / (uses + 3/2) of the distance.

    Parameters
    ----------
    mean, value : int
    uses : int
        Number of values that the mean has seen, from 0; a caller limits it to keep adapting.
    """
    return mean + ((value - mean) * (2 * ONE // (2 * uses + 3)) >> 16)


class BinaryModels:
    """Binary models of one syntax element: one model for each context.

    Parameters
    ----------
    syntax : str
        Name of the syntax element.
    shape : tuple of int
        Shape of the array of contexts.
    probability : int or array of this shape
        Initial probability of a 1, in 1/65536.
    uses : int
        Number of bits that the initial probability counts for.

    Attributes
    ----------
    probability : int32 array of this shape
        Probability of a 1, in 1/65536.
    uses : int32 array of this shape
        Number of bits that the probability was learned from, at most 64.
    """

    def __init__(self, syntax: str, shape: tuple[int, ...], probability=ONE // 2, uses: int = 0):
        self.syntax = syntax
        self.probability = np.empty(shape, np.int32)
        self.probability[...] = probability
        self.uses = np.full(shape, uses, np.int32)

    def code(self, coder: BitCoder, context: tuple[int, ...], bit: int | None) -> int:
        """Code a bit with the model of a context, then adapt this model.

        Parameters
        ----------
        coder : BitCoder
        context : tuple of int
            Index of the model.
        bit : int or None
            The bit to encode; None decodes.

        Returns
        -------
        int
            0 or 1.
        """
        bit = coder.bit(self.syntax, int(self.probability[context]), bit)
        self.learn(context, bit)
        return bit

    def code_with(
        self,
        other: "BinaryModels",
        coder: BitCoder,
        contexts: tuple[tuple[int, ...], tuple[int, ...]],
        bit: int | None,
    ) -> int:
        """Code a bit by the mean of a model and a model of another array, then adapt both.

        Parameters
        ----------
        other : BinaryModels
        coder : BitCoder
        contexts : (tuple of int, tuple of int)
            Index of the model, and index of the other model.
        bit : int or None
            The bit to encode; None decodes.

        Returns
        -------
        int
            0 or 1.
        """
        own, others = contexts
        mean = (int(self.probability[own]) + int(other.probability[others])) >> 1
        bit = coder.bit(self.syntax, mean, bit)
        self.learn(own, bit)
        other.learn(others, bit)
        return bit

    def learn(self, context: tuple[int, ...], bit: int) -> None:
        """Move the probability of a context's model towards the bit."""
        probability, uses = int(self.probability[context]), int(self.uses[context])
        self.probability[context] = moved(probability, MOST if bit else LEAST, uses)
        self.uses[context] = min(uses + 1, MOST_USES)
