"""The time that a decoder takes, estimated from counts, and its price in bits. *Encoder only*.

An encoder that chooses among codings adds the price to the bits of each, so a coding that decodes
slowly has to save bits for it. Estimates and prices are integers, so that every machine chooses
alike. Decision 70 has measurements.
"""

from mmpcodec.tools import BlockTools, LosslessTools, Tools
from mmpcodec.trace import Trace

NANOSECONDS_PER_BIT = 5000
"""Time that costs as much as one bit."""

LOSSLESS_SAMPLE = {1: 40, 2: 50, 3: 450}
"""Nanoseconds for a lossless sample that takes nearly no bits, by form."""
LOSSLESS_BYTE = {1: 100, 2: 1500, 3: 2400}
"""Nanoseconds for a byte of lossless samples, by form."""
REPEATING_BYTE = {1: 9000, 2: 10000, 3: 16000}
"""Nanoseconds for a byte of pixels that repeat, by form."""
MOST_FLAT = 16
"""Bytes of the largest payload of lossless samples whose planes are taken to be filled at once."""
TREES_SAMPLE, TREES_LEAF = 90, 2400
"""Nanoseconds for a sample, and for a leaf, where all is trees."""
BLOCKS_SAMPLE, BLOCKS_BYTE, BLOCK = 1, 130, 360
"""Nanoseconds for a sample, a byte and a block of predicted blocks."""
MIXED_SAMPLE, MIXED_LEAF = 9, 1000
"""The same for a sample and a leaf more, where blocks may be trees."""


def nanoseconds(tools: Tools, size: int, trace: Trace, samples: int) -> int:
    """Estimate the time to decode a layer or palette on one thread, without its filters.

    Parameters
    ----------
    tools : Tools
    size : int
        Bytes of the payload.
    trace : Trace
    samples : int
        Number of samples in all planes.
    """
    if isinstance(tools, LosslessTools):
        form = tools.lossless_form
        own = LOSSLESS_SAMPLE[form] * samples if size > MOST_FLAT else 0
        # Samples of few bytes are pixels that repeat, which cost by their bytes.
        return min(own + LOSSLESS_BYTE[form] * size, REPEATING_BYTE[form] * size)
    leaves = sum(trace.leaves())
    if not isinstance(tools, BlockTools):
        return TREES_SAMPLE * samples + TREES_LEAF * leaves
    blocks = sum(int(counts.sum()) for counts in trace.blocks().values())
    own = BLOCKS_SAMPLE * samples + BLOCKS_BYTE * size + BLOCK * blocks
    return own + (MIXED_SAMPLE * samples + MIXED_LEAF * leaves if tools.trees else 0)


def price_of(time: int) -> int:
    """Return the bits that a time in nanoseconds costs."""
    return time // NANOSECONDS_PER_BIT
