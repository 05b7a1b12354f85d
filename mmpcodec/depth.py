"""Bits of a sample, and the values that follow from them.

Lossy layers have 8 to 16 bits. Lambda, the quantisation step and most constants of prediction are
in units of 8-bit samples; the bits beyond 8 are called the extra bits.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

BYTE = 8
"""Bits of a sample that is stored as a byte."""

MAX_DEPTH = 16
"""Most bits of a sample."""


def extra_bits(depth: int) -> int:
    """Return the number of bits beyond 8."""
    return depth - BYTE


def coded_depth(depth: int) -> int:
    """Return the bits of a sample in a layer, for all layers but lossless samples of all planes."""
    return max(depth, BYTE)


def middle(depth: int) -> int:
    """Return the sample in the middle of the range."""
    return 1 << (depth - 1)


def most(depth: int) -> int:
    """Return the largest sample."""
    return (1 << depth) - 1


def sample_type(depth: int) -> "type[np.unsignedinteger]":
    """Return the NumPy type of samples: uint8 up to 8 bits, else uint16."""
    import numpy as np  # the command line reads this module before it needs NumPy

    return np.uint8 if depth <= BYTE else np.uint16
