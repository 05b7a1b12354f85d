"""What a lambda will come to, guessed from the picture alone, before anything is encoded.

Each cosine of an 8x8 block is taken for a Gaussian source of its own energy e. At distortion
lambda it costs log2(1 + e / lambda) / 2 bits and keeps an error of e lambda / (e + lambda).
Repeats, as text has them, are not seen, so the guess is a place to start from and no more.
"""

import math
from collections.abc import Sequence

import numpy as np

from mmpcodec.codec.colour import Plane
from mmpcodec.codec.distortion import Point
from mmpcodec.depth import BYTE, extra_bits
from mmpcodec.reference.blocks.transform import basis

SIDE = 8
HEADER = 40
"""Bytes of a file without its payload, about."""
MOST_BLOCKS = 4096
"""More do not make the guess better."""


class Forecast:
    """Guessed points of a picture.

    Parameters
    ----------
    planes : sequence of Plane
        That its layers would code.
    depth : int
        Bits of their samples, at least 8.
    """

    def __init__(self, planes: Sequence[Plane], depth: int = BYTE):
        self._planes = [(_energy(plane.samples, depth), plane.weight) for plane in planes]

    def at(self, lam: float) -> Point:
        """The point of a lambda above 0."""
        bits = error = 0.0
        for (energy, share), weight in self._planes:
            own = lam / weight
            bits += share * float(np.log2(1 + energy / own).sum()) / 2
            error += weight * share * float((energy * own / (energy + own)).sum())
        return Point(lam, HEADER + round(bits / 8), math.ceil(error))


def _energy(samples: np.ndarray, depth: int) -> tuple[np.ndarray, float]:
    """Energies of the cosines of some blocks, and how many blocks there are for each of these."""
    height, width = samples.shape
    padded = np.pad(samples, ((0, -height % SIDE), (0, -width % SIDE)), mode="edge")
    rows, columns = padded.shape[0] // SIDE, padded.shape[1] // SIDE
    blocks = padded.reshape(rows, SIDE, columns, SIDE).swapaxes(1, 2).reshape(-1, SIDE, SIDE)
    chosen = blocks[:: -(-len(blocks) // MOST_BLOCKS)]
    cosines = basis(SIDE, False) / 4096
    coefficients = cosines @ (chosen / 2.0 ** extra_bits(depth)) @ cosines.T
    # Means are coded by their differences.
    coefficients[:, 0, 0] = np.diff(coefficients[:, 0, 0], prepend=coefficients[0, 0, 0])
    return np.square(coefficients), len(blocks) / len(chosen)
