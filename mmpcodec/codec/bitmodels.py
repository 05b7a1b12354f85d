"""Binary models with their probabilities, and the models of modes.

They know nothing of bytes: a ``BitCoder`` is passed in, and encoder and decoder call the same
functions.
Source: sections "Binary models" and "Modes" of ``docs/format.md``.
"""

from collections.abc import Collection
from typing import Protocol

import numpy as np

from mmpcodec.codec.blocks import (
    FIRST_ANGLE,
    LEAST_SQUARES,
    MAX_LOG2,
    MODES,
    SIZES,
)
from mmpcodec.codec.models import SymbolCoder
from mmpcodec.errors import CorruptStream

ONE = 1 << 16
LEAST, MOST = 192, 65344
"""Range of a probability, in 2**-16."""
MOST_USES = 64

MODE_START, MODE_INCREMENT, MODE_LIMIT = 3, 20, 4000
SAME_MODE, FIRST_LIKELY, SECOND_LIKELY = 1, 0, 2
"""Models of whether the mode is a neighbour's: both have it, the left one, the upper one."""


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


class ModeModels:
    """How likely the modes are, by size of the block."""

    def __init__(self):
        self.likely = BinaryModels("mode", (SIZES, 3))
        self.frequency = np.full((SIZES, MODES), MODE_START, np.int64)

    def frequencies(
        self, size: int, likely: tuple[int, int], absent: Collection[int]
    ) -> np.ndarray:
        """(38,) int64 frequencies of the modes that are not likely ones.

        Parameters
        ----------
        size : int
            ``BlockPlace.size``.
        likely : (int, int)
            Modes of the left and of the upper neighbour.
        absent : collection of int
            Modes that are not there.
        """
        factor = np.full(MODES, 2)
        for mode in likely:
            if FIRST_ANGLE <= mode < LEAST_SQUARES:
                for distance, more in ((1, 6), (2, 3)):
                    for angle in (mode - distance, mode + distance):
                        if FIRST_ANGLE <= angle < LEAST_SQUARES:
                            factor[angle] += more
        factor[[*likely, *absent]] = 0
        return self.frequency[size] * factor

    def code(
        self,
        coder: BitCoder,
        size: int,
        likely: tuple[int, int],
        absent: Collection[int],
        mode: int | None,
    ) -> int:
        """Code the mode of a block.

        Raises
        ------
        CorruptStream
            When it is not there.
        """
        mode = self._code(coder, size, likely, absent, mode)
        if mode in absent:
            raise CorruptStream("Modes", f"mode is {mode}, which is not there")
        self.learn(size, mode)
        return mode

    def learn(self, size: int, mode: int) -> None:
        """Count a mode."""
        frequency = self.frequency[size]
        frequency[mode] += MODE_INCREMENT
        if frequency.sum() > MODE_LIMIT:
            frequency[:] = (frequency + 1) >> 1

    def _code(self, coder, size, likely, absent, mode) -> int:
        left, above = likely

        def is_it(guess: int, which: int) -> int:
            return self.likely.code(coder, (size, which), None if mode is None else mode == guess)

        if left == above:
            if is_it(left, SAME_MODE):
                return left
        else:
            if is_it(left, FIRST_LIKELY):
                return left
            if is_it(above, SECOND_LIKELY):
                return above
        return coder.code("mode", self.frequencies(size, likely, absent), mode)


REMAINDER_BITS = 12
"""Bits for the length of a remainder that have models of their own."""


class BlockModels:
    """The models of blocks of one picture; contexts as in section "Blocks" and "Levels"."""

    def __init__(self):
        logs = MAX_LOG2 + 1
        self.split = BinaryModels("split", (logs, logs, 3))
        self.direction = BinaryModels("split", (logs, logs, 3))
        self.mode = ModeModels()
        self.tree = BinaryModels("tree", (SIZES, 3))
        self.kind = BinaryModels("kind", (SIZES, 3))
        self.transform = BinaryModels("level", (4, 4))
        self.last = BinaryModels("level", (SIZES, 10))
        self.last_bit = BinaryModels("level", (11,))
        t, o = np.array([12, 28, 42, 52, 60, 70]), np.array([20, 14, 10, 10])
        zero = _percent(np.minimum(90, o[:, None] * t // 10))
        self.zero = BinaryModels("level", (4, 4, 6), zero, 4)
        one = np.array([20, 25, 35, 45, 55])
        self.one = BinaryModels("level", (2, 3, 5), _percent(one), 4)
        self.two = BinaryModels("level", (2, 3, 5), _percent(one + 10), 4)
        self.remainder = BinaryModels("level", (2, REMAINDER_BITS))


def _percent(percent: np.ndarray) -> np.ndarray:
    return ONE * percent // 100
