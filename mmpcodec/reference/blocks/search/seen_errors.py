"""Errors as the eye sees them: those of high frequencies count less. *Encoder only*."""

import numpy as np

from mmpcodec.reference.blocks.quantisation_matrix import PLAIN, weights
from mmpcodec.reference.blocks.transform import COEFFICIENT_BITS, COLUMN_SHIFT, basis
from mmpcodec.runtime.arrays import bands

SIDE = 16
"""Height and width of the blocks whose frequencies are weighted."""
BAND_BLOCKS = 1 << 9
"""Number of blocks that are transformed at once."""


def seen_errors(source: np.ndarray, samples: np.ndarray, strength: int) -> np.ndarray:
    """Return the squared errors of blocks, those of high frequencies divided by their weights.

    Parameters
    ----------
    source, samples : (H, W) uint8 or uint16 arrays
        Samples of the source, and decoded ones.
    strength : int
        That of the quantisation matrix, 0 to 15.

    Returns
    -------
    (ceil(H / 16), ceil(W / 16)) int64 array
        In 1/64 of a squared unit of the samples.
    """
    rows, columns = (-(-length // SIDE) for length in source.shape)
    found = np.empty((rows, columns), np.int64)
    for first, last in bands((rows, columns), BAND_BLOCKS):
        inside = slice(first * SIDE, last * SIDE)
        found[first:last] = _of_band(source[inside].astype(np.float64) - samples[inside], strength)
    return found


def _of_band(difference: np.ndarray, strength: int) -> np.ndarray:
    """Return the errors of rows of blocks.

    All numbers are integers below 2**53, which float64 holds exactly, and faster than int64.
    """
    height, width = difference.shape
    whole = np.pad(difference, ((0, -height % SIDE), (0, -width % SIDE)))
    rows, columns = whole.shape[0] // SIDE, whole.shape[1] // SIDE
    cosines = basis(SIDE, False).astype(np.float64)
    across = (whole.reshape(-1, SIDE) @ cosines.T).reshape(rows, SIDE, columns * SIDE)
    found = np.matmul(cosines, across).reshape(rows, SIDE, columns, SIDE)
    found = np.floor(found * 2.0 ** (COEFFICIENT_BITS - 2 * COLUMN_SHIFT), out=found)
    found *= PLAIN
    found /= weights(SIDE, SIDE, strength)[:, None]
    found = np.floor(found, out=found)
    return np.einsum("rick,rick->rc", found, found).astype(np.int64)
