"""Symbol encoder and decoder: they join models and range coder and tally ideal code lengths.

Source: sections "Models", "Binary models" and "Range coder" of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.reference.entropy.rangecoder import RangeDecoder, RangeEncoder
from mmpcodec.reference.entropy.rates import BIT_RATES, LOG2, RATE_FRACTION_BITS
from mmpcodec.reference.entropy.syntax import TREE_SYNTAX

BIT_TOTAL_LOG2 = 16
"""Binary logarithm of the total of frequencies with which a bit is coded."""


class Tally:
    """Ideal code length of the coded symbols, summed by syntax element.

    Parameters
    ----------
    syntax : tuple of str
        Names of the syntax elements.
    coarse : bool
        Whether the code length of a bit is computed from the upper 12 bits of its probability.

    Attributes
    ----------
    rate : dict of str to int
        Code length of each syntax element, in 1/4096 bit.
    """

    def __init__(self, syntax: tuple[str, ...] = TREE_SYNTAX, *, coarse: bool = False):
        self.rate = dict.fromkeys(syntax, 0)
        self.coarse = coarse

    def add(self, syntax: str, frequency: int, total: int) -> None:
        """Add the ideal code length of a symbol, log2(total / frequency)."""
        self.rate[syntax] += int(LOG2[total] - LOG2[frequency])

    def add_bit(self, syntax: str, frequency: int) -> None:
        """Add the ideal code length of a bit whose value had this probability, in 1/65536."""
        if self.coarse:
            self.rate[syntax] += int(BIT_RATES[frequency >> 4])
        else:
            self.add(syntax, frequency, 1 << BIT_TOTAL_LOG2)

    def sum(self) -> int:
        """Return the code length of all syntax elements, in 1/4096 bit."""
        return sum(self.rate.values())

    def bits(self) -> dict[str, float]:
        """Code length of each syntax element, in bits."""
        return {syntax: rate / (1 << RATE_FRACTION_BITS) for syntax, rate in self.rate.items()}


class SymbolWriter:
    """Encoder of symbols; implements ``BitCoder``, and so ``SymbolCoder``.

    Parameters
    ----------
    syntax : tuple of str
        Names of the syntax elements.
    coarse : bool
        As for ``Tally``.
    """

    def __init__(self, syntax: tuple[str, ...] = TREE_SYNTAX, *, coarse: bool = False):
        self.coder = RangeEncoder()
        self.tally = Tally(syntax, coarse=coarse)

    def code(self, syntax: str, frequencies: np.ndarray, symbol: int | None) -> int:
        """Encode one symbol of an alphabet and return it."""
        assert symbol is not None
        frequency, total = int(frequencies[symbol]), int(frequencies.sum())
        self.coder.encode(int(frequencies[:symbol].sum()), frequency, total)
        self.tally.add(syntax, frequency, total)
        return symbol

    def bit(self, syntax: str, probability: int, bit: int | None) -> int:
        """Encode one bit and return it."""
        assert bit is not None
        total = 1 << BIT_TOTAL_LOG2
        cumulative, frequency = (0, probability) if bit else (probability, total - probability)
        self.coder.encode(cumulative, frequency, total)
        self.tally.add_bit(syntax, frequency)
        return int(bit)

    def plain(self, syntax: str, bits: int, number: int | None) -> int:
        """Encode a number whose values are equally likely, and return it."""
        assert number is not None
        self.coder.encode(number, 1, 1 << bits)
        self.tally.add(syntax, 1, 1 << bits)
        return int(number)

    def finish(self) -> bytes:
        """Return the payload."""
        return self.coder.finish()


class SymbolCounter:
    """Encoder without output, for models that count; implements ``BitCoder``."""

    def code(self, syntax: str, frequencies: np.ndarray, symbol: int | None) -> int:
        """Return the symbol."""
        assert symbol is not None
        return symbol

    def bit(self, syntax: str, probability: int, bit: int | None) -> int:
        """Return the bit."""
        assert bit is not None
        return int(bit)

    def plain(self, syntax: str, bits: int, number: int | None) -> int:
        """Return the number."""
        assert number is not None
        return int(number)


class SymbolReader:
    """Decoder of symbols; implements ``BitCoder``, and so ``SymbolCoder``.

    Parameters
    ----------
    payload : bytes
    syntax : tuple of str
        Names of the syntax elements.
    coarse : bool
        As for ``Tally``.
    """

    def __init__(
        self, payload: bytes, syntax: tuple[str, ...] = TREE_SYNTAX, *, coarse: bool = False
    ):
        self.coder = RangeDecoder(payload)
        self.tally = Tally(syntax, coarse=coarse)

    def code(self, syntax: str, frequencies: np.ndarray, symbol: int | None = None) -> int:
        """Decode one symbol of an alphabet."""
        bounds = np.cumsum(frequencies)
        total = int(bounds[-1])
        symbol = int(np.searchsorted(bounds, self.coder.target(total), side="right"))
        frequency = int(frequencies[symbol])
        self.coder.consume(int(bounds[symbol]) - frequency, frequency)
        self.tally.add(syntax, frequency, total)
        return symbol

    def bit(self, syntax: str, probability: int, bit: int | None = None) -> int:
        """Decode one bit."""
        total = 1 << BIT_TOTAL_LOG2
        bit = int(self.coder.target(total) < probability)
        cumulative, frequency = (0, probability) if bit else (probability, total - probability)
        self.coder.consume(cumulative, frequency)
        self.tally.add_bit(syntax, frequency)
        return bit

    def plain(self, syntax: str, bits: int, number: int | None = None) -> int:
        """Decode a number whose values are equally likely."""
        number = self.coder.target(1 << bits)
        self.coder.consume(number, 1)
        self.tally.add(syntax, 1, 1 << bits)
        return number

    def finish(self) -> None:
        """Check that all bytes of the payload were read.

        Raises
        ------
        CorruptStream
            If bytes are left over.
        """
        self.coder.finish()
