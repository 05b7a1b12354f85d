"""What a lambda will come to, guessed from the picture alone, before anything is encoded.

Each cosine of an 8x8 block is taken for a Gaussian source of its own energy e. At distortion
lambda it costs log2(1 + e / lambda) / 2 bits and keeps an error of e lambda / (e + lambda).
Repeats, as text has them, are not seen, so the guess is a place to start from and no more.
"""

import numpy as np

from mmpcodec.codec.points import Point
from mmpcodec.codec.transform import basis

SIDE = 8
HEADER = 40
"""Bytes of a file without its payload, about."""
MOST_BLOCKS = 4096
"""More do not make the guess better."""


class Forecast:
    """Guessed points of a picture.

    Parameters
    ----------
    samples : (H, W) uint8 array
    """

    def __init__(self, samples: np.ndarray):
        height, width = samples.shape
        padded = np.pad(samples, ((0, -height % SIDE), (0, -width % SIDE)), mode="edge")
        rows, columns = padded.shape[0] // SIDE, padded.shape[1] // SIDE
        blocks = padded.reshape(rows, SIDE, columns, SIDE).swapaxes(1, 2).reshape(-1, SIDE, SIDE)
        chosen = blocks[:: -(-len(blocks) // MOST_BLOCKS)]
        cosines = basis(SIDE, False) / 4096
        coefficients = cosines @ chosen.astype(np.float64) @ cosines.T
        # Means are coded by their differences.
        coefficients[:, 0, 0] = np.diff(coefficients[:, 0, 0], prepend=coefficients[0, 0, 0])
        self._energy = np.square(coefficients)
        self._share = len(blocks) / len(chosen)

    def at(self, lam: float) -> Point:
        """The point of a lambda above 0."""
        energy = self._energy
        bits = self._share * float(np.log2(1 + energy / lam).sum()) / 2
        error = self._share * float((energy * lam / (energy + lam)).sum())
        return Point(lam, HEADER + round(bits / 8), round(error))
