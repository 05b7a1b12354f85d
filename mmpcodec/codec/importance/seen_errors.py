"""Errors as the eye sees them: those of high frequencies count less. *Encoder only*."""

import numpy as np

from mmpcodec.reference.blocks.frequency_weights import PLAIN, weights
from mmpcodec.reference.blocks.transform import COEFFICIENT_BITS, COLUMN_SHIFT, basis

SIDE = 16
"""Height and width of the blocks whose frequencies are weighted."""


def seen_errors(difference: np.ndarray, strength: int) -> np.ndarray:
    """Return the squared errors of blocks, those of high frequencies divided by their weights.

    Parameters
    ----------
    difference : (H, W) int array
        Differences of samples.
    strength : int
        That of the frequency weights, 0 to 15.

    Returns
    -------
    (ceil(H / 16), ceil(W / 16)) int64 array
        In 1/64 of a squared unit of the samples.
    """
    height, width = difference.shape
    whole = np.pad(difference.astype(np.int64), ((0, -height % SIDE), (0, -width % SIDE)))
    rows, columns = whole.shape[0] // SIDE, whole.shape[1] // SIDE
    blocks = whole.reshape(rows, SIDE, columns, SIDE).swapaxes(1, 2)
    # Products of integers below 2**53 are exact in float64, and faster.
    cosines = basis(SIDE, False).astype(np.float64)
    products = cosines @ blocks.astype(np.float64) @ cosines.T
    found = products.astype(np.int64) >> (2 * COLUMN_SHIFT - COEFFICIENT_BITS)
    found = found * PLAIN // weights(SIDE, SIDE, strength)
    return (found * found).sum(axis=(2, 3))
