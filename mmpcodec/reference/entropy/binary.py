"""Adaptive models of binary decisions."""

from typing import Protocol

import numpy as np

from mmpcodec.reference.entropy.rates import SymbolCoder

ONE = 1 << 16


LEAST, MOST = 192, 65344
"""Range of a probability, in 2**-16."""


MOST_USES = 64


class BitCoder(SymbolCoder, Protocol):
    """Either direction of the range coder, as the models of blocks see it."""

    def bit(self, syntax: str, probability: int, bit: int | None) -> int:
        """Code one bit and return it.

        Parameters
        ----------
        syntax : str
            Name of the syntax element.
        probability : int
            That of a 1, in 2**-16.
        bit : int or None
            0 or 1 when encoding, None when decoding.
        """

    def plain(self, syntax: str, bits: int, number: int | None) -> int:
        """Code a number of equally likely bits and return it.

        Parameters
        ----------
        syntax : str
            Name of the syntax element.
        bits : int
            0 to 17.
        number : int or None
            Below 2**bits when encoding, None when decoding.
        """


def moved(mean: int, value: int, uses: int) -> int:
    """A mean after one more value, which counts the less the more it has seen."""
    return mean + ((value - mean) * (2 * ONE // (2 * uses + 3)) >> 16)


class BinaryModels:
    """Binary models of one syntax element, one for each of its contexts.

    Parameters
    ----------
    syntax : str
    shape : tuple of int
        Of the contexts.
    probability : int or array of that shape
        Of a 1 at the start, in 2**-16.
    uses : int
        Those that the start counts for.

    Attributes
    ----------
    probability : int32 array
        Of a 1, in 2**-16.
    uses : int32 array
        Bits coded, at most 64.
    """

    def __init__(self, syntax: str, shape: tuple[int, ...], probability=ONE // 2, uses: int = 0):
        self.syntax = syntax
        self.probability = np.empty(shape, np.int32)
        self.probability[...] = probability
        self.uses = np.full(shape, uses, np.int32)

    def code(self, coder: BitCoder, context: tuple[int, ...], bit: int | None) -> int:
        """Code a bit with the model of a context and learn from it."""
        bit = coder.bit(self.syntax, int(self.probability[context]), bit)
        self.learn(context, bit)
        return bit

    def learn(self, context: tuple[int, ...], bit: int) -> None:
        """Move a model's probability towards the bit, the less the more it has seen."""
        probability, uses = int(self.probability[context]), int(self.uses[context])
        probability = moved(probability, bit * ONE, uses)
        self.probability[context] = min(max(probability, LEAST), MOST)
        self.uses[context] = min(uses + 1, MOST_USES)
