"""Hashes of the context of a sample.

Source: section "Lossless samples" of ``docs/format/format.md``.
"""

from collections.abc import Sequence

SUM_FACTOR, HASH_FACTOR = 65599, 2654435761


def summed(values: Sequence[int]) -> int:
    """Return the sum of the values times powers of 65599, modulo 2**32 (h in the format)."""
    return sum(value * SUM_FACTOR ** (i + 1) for i, value in enumerate(values)) % 2**32


def mixed_hash(number: int) -> int:
    """Return the hash of a number below 2**32 (hash in the format)."""
    return (number ^ number >> 15) * HASH_FACTOR % 2**32


def key_and_line(others: Sequence[int], neighbours: list[int], line_bits: int) -> tuple[int, int]:
    """Return the key of context and the line of a table of earlier samples.

    The line does not depend on the neighbour to the left, so that a decoder can fetch it early.

    Parameters
    ----------
    others : sequence of int
        Samples of P1 and P2 in the same row and column, as far as they exist.
    neighbours : list of int
        Samples at the first places of the own plane.
    line_bits : int
        Binary logarithm of the number of lines.
    """
    first = (*others, 0, 0)[:2]
    rest = summed((*first, 0, *neighbours[1:]))
    return mixed_hash(summed((*first, *neighbours))), mixed_hash(rest) >> 32 - line_bits
