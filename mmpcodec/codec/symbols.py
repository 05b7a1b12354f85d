"""Symbols between the models and the range coder, with a tally of their ideal code length."""

import numpy as np

from mmpcodec.codec.models import LOG2, RATE_FRACTION_BITS
from mmpcodec.codec.rangecoder import RangeDecoder, RangeEncoder

SYNTAX = ("flag", "class", "element")


class Tally:
    """Ideal code length of the symbols of each syntax element, in 2**-12 bit."""

    def __init__(self):
        self.rate = dict.fromkeys(SYNTAX, 0)

    def add(self, syntax: str, frequency: int, total: int) -> None:
        self.rate[syntax] += int(LOG2[total] - LOG2[frequency])

    def bits(self) -> dict[str, float]:
        """Bits by syntax element."""
        return {syntax: rate / (1 << RATE_FRACTION_BITS) for syntax, rate in self.rate.items()}


class SymbolWriter:
    """Encodes symbols; see ``models.SymbolCoder``."""

    def __init__(self):
        self.coder = RangeEncoder()
        self.tally = Tally()

    def code(self, syntax: str, frequencies: np.ndarray, symbol: int | None) -> int:
        assert symbol is not None
        frequency, total = int(frequencies[symbol]), int(frequencies.sum())
        self.coder.encode(int(frequencies[:symbol].sum()), frequency, total)
        self.tally.add(syntax, frequency, total)
        return symbol

    def finish(self) -> bytes:
        return self.coder.finish()


class SymbolReader:
    """Decodes symbols; see ``models.SymbolCoder``.

    Parameters
    ----------
    payload : bytes
    """

    def __init__(self, payload: bytes):
        self.coder = RangeDecoder(payload)
        self.tally = Tally()

    def code(self, syntax: str, frequencies: np.ndarray, symbol: int | None = None) -> int:
        bounds = np.cumsum(frequencies)
        total = int(bounds[-1])
        symbol = int(np.searchsorted(bounds, self.coder.target(total), side="right"))
        frequency = int(frequencies[symbol])
        self.coder.consume(int(bounds[symbol]) - frequency, frequency)
        self.tally.add(syntax, frequency, total)
        return symbol

    def finish(self) -> None:
        self.coder.finish()
