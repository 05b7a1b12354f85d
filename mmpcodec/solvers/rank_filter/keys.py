"""float32 numbers as integers of the same order, and back.

The sign bit is turned round for positive numbers, all bits for negative ones; -0.0 comes just
before 0.0.
"""

from typing import Any

import numpy as np

SIGN = np.int32(-(1 << 31))


def keys_of(numbers: Any) -> Any:
    """Keys of an array of float32 without NaN, as uint32."""
    flips = numbers.view(np.int32) >> 31  # all bits of negative numbers, by their sign
    flips |= SIGN
    flips ^= numbers.view(np.int32)
    return flips.view(np.uint32)


def floats_of(keys: Any) -> Any:
    """The numbers of an array of keys."""
    flips = keys.view(np.int32) >> 31
    flips ^= np.int32(-1)
    flips |= SIGN
    flips ^= keys.view(np.int32)
    return flips.view(np.float32)
