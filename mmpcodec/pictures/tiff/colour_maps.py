"""The colours of palettes, whose entries other formats store in 16 bits."""

import numpy as np


def colours_of(entries: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the colours of a palette and their depth: 8 bits if these are exact, else 16.

    Entries of 8 bits fill 16 bits by themselves twice, or lie in the upper or in the lower byte.

    Parameters
    ----------
    entries : (N, 3) array of uint16
    """
    high = entries >> 8
    if not high.any():
        return entries.astype(np.uint8), 8
    if (entries == high * 257).all() or (entries == high << 8).all():
        return high.astype(np.uint8), 8
    return entries.astype(np.uint16), 16
