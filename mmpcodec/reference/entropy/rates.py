"""Rates of symbols: a table of logarithms in fixed point."""

from typing import Protocol

import numpy as np

MAX_TOTAL = 1 << 17
"""A model is halved when its total passes this. Totals stay below 2**18, see the format."""
RATE_FRACTION_BITS = 12
"""Rates are integers in 2**-12 bit."""


class SymbolCoder(Protocol):
    """Either direction of the range coder, as the models see it."""

    def code(self, syntax: str, frequencies: np.ndarray, symbol: int | None) -> int:
        """Code one symbol of an alphabet and return it.

        Parameters
        ----------
        syntax : str
            Name of the syntax element: "flag", "class" or "element".
        frequencies : (K,) int64 array
            Zero for symbols that cannot occur.
        symbol : int or None
            The symbol when encoding, None when decoding.
        """


def rate_table() -> np.ndarray:
    """log2 of every total that a model can have, rounded to 2**-12 bit.

    Computed by repeated squaring of the mantissa in 1.31 fixed point, so that every machine and
    language gets the same integers.

    Returns
    -------
    (2**18,) int64 array
        Entry i is log2(i); entry 0 is 0 and not used.
    """
    values = np.arange(2 * MAX_TOTAL, dtype=np.uint64)
    values[0] = 1
    exponent = np.frexp(values.astype(np.float64))[1].astype(np.uint64) - np.uint64(1)
    mantissa = values << (np.uint64(31) - exponent)
    result = exponent
    for _ in range(RATE_FRACTION_BITS + 1):
        mantissa = (mantissa * mantissa) >> np.uint64(31)
        above_two = mantissa >> np.uint64(32)
        mantissa >>= above_two
        result = (result << np.uint64(1)) | above_two
    return ((result + np.uint64(1)) >> np.uint64(1)).astype(np.int64)


LOG2 = rate_table()
