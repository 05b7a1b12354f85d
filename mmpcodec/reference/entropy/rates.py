"""Rates of symbols: a table of logarithms in fixed point.

*Encoder only*. Rates steer searches and statistics; no decoded sample depends on them. The limit
of a model's total comes from section "Models" of ``docs/format/format.md``.
"""

from typing import Protocol

import numpy as np

MAX_TOTAL = 1 << 17
"""Limit of a model's total; above it the frequencies are halved. Totals stay below 2**18."""
RATE_FRACTION_BITS = 12
"""Rates are integers in 1/4096 bit."""


class SymbolCoder(Protocol):
    """Encoder or decoder of symbols, as adaptive models use it."""

    def code(self, syntax: str, frequencies: np.ndarray, symbol: int | None) -> int:
        """Code one symbol of an alphabet and return it.

        Parameters
        ----------
        syntax : str
            Name of the syntax element: "flag", "class" or "element".
        frequencies : (K,) int64 array
            Frequency of each of the K symbols; 0 for a symbol that cannot occur.
        symbol : int or None
            The symbol to encode; None decodes.

        Returns
        -------
        int
            0 to K - 1.
        """


def rate_table() -> np.ndarray:
    """Compute log2 of every total that a model can have, rounded to 1/4096 bit.

    The mantissa is squared repeatedly in 1.31 fixed point, so that every machine and language
    computes equal integers.

    Returns
    -------
    (2**18,) int64 array
        Entry i is log2(i), in 1/4096 bit; entry 0 is 0 and not used.
    """
    table = np.zeros(2 * MAX_TOTAL, np.int64)
    table[MAX_TOTAL:] = _logarithms(np.arange(MAX_TOTAL, 2 * MAX_TOTAL, dtype=np.uint64))
    # Halving a number subtracts 1 from its logarithm, so that the upper half holds all others.
    first = MAX_TOTAL
    while first > 1:
        table[first // 2 : first] = table[first : 2 * first : 2] - (1 << RATE_FRACTION_BITS)
        first //= 2
    return table


def _logarithms(values: np.ndarray) -> np.ndarray:
    """Return log2 of positive uint64 integers below 2**31, rounded to 1/4096 bit."""
    exponent = np.frexp(values.astype(np.float64))[1].astype(np.uint64) - np.uint64(1)
    mantissa = values << (np.uint64(31) - exponent)
    result = exponent
    for _ in range(RATE_FRACTION_BITS + 1):
        mantissa *= mantissa
        mantissa >>= np.uint64(31)
        above_two = mantissa >> np.uint64(32)
        mantissa >>= above_two
        result <<= np.uint64(1)
        result |= above_two
    return ((result + np.uint64(1)) >> np.uint64(1)).astype(np.int64)


def log2_rate(value: int) -> int:
    """Return log2 of a positive integer below 2**31, rounded, as the table has it."""
    if value < 2 * MAX_TOTAL:
        return int(LOG2[value])
    return int(_logarithms(np.array([value], np.uint64))[0])


LOG2 = rate_table()
"""The table that ``rate_table`` computes."""
BIT_RATES = (12 << RATE_FRACTION_BITS) - LOG2[: 1 << 12]
"""Coarse rate of a bit by its probability in 1/4096, in 1/4096 bit; entry 0 is 12 bits."""
