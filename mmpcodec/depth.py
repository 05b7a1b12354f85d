"""Depth: the bits of a sample, and what follows from them.

Samples with loss have 8 to 16 bits. All that people set, and much that blocks are predicted by,
is in units of 8-bit samples; the bits beyond those are the extra ones.
"""

import numpy as np

BYTE = 8
"""Depth of samples that are bytes."""


def extra_bits(depth: int) -> int:
    """Bits beyond 8."""
    return depth - BYTE


def coded_depth(depth: int) -> int:
    """Bits of the samples of a layer that is not exact samples of a whole picture."""
    return max(depth, BYTE)


def middle(depth: int) -> int:
    """The sample in the middle of the range."""
    return 1 << (depth - 1)


def most(depth: int) -> int:
    """The largest sample."""
    return (1 << depth) - 1


def sample_type(depth: int) -> type[np.unsignedinteger]:
    """What samples are stored as."""
    return np.uint8 if depth <= BYTE else np.uint16
