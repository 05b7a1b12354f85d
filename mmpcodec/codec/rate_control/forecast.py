"""Prediction of bytes and distortion at a lambda, without encoding the picture.

Each DCT coefficient of an 8x8 block is modelled as a Gaussian source of its own energy e. At
distortion lambda it costs log2(1 + e / lambda) / 2 bits and keeps an error of e lambda /
(e + lambda). The model sees no repeats, such as those of text, so it only starts the search.
"""

import math
from collections.abc import Sequence

import numpy as np

from mmpcodec.codec.distortion import Point
from mmpcodec.depth import BYTE, extra_bits
from mmpcodec.reference.blocks.transform import basis

SIDE = 8
HEADER = 40
"""Approximate bytes of a file without its payload."""
MOST_BLOCKS = 4096
"""Most blocks that are analysed; more do not improve the prediction."""


class Forecast:
    """Predicted points of a picture.

    Parameters
    ----------
    planes : sequence of (H, W) arrays of uint8 or uint16
        Planes of the layers of the picture.
    weights : sequence of float
        Squared error of the picture for an error of 1 in each plane.
    depth : int
        Bits per sample of the planes, at least 8.
    """

    def __init__(self, planes: Sequence[np.ndarray], weights: Sequence[float], depth: int = BYTE):
        energies = [_energy(plane, depth) for plane in planes]
        self._planes = list(zip(energies, weights, strict=True))

    def at(self, lam: float) -> Point:
        """Return the point of a lambda above 0."""
        bits = error = 0.0
        for (energy, share), weight in self._planes:
            own = lam / weight
            bits += share * float(np.log2(1 + energy / own).sum()) / 2
            error += weight * share * float((energy * own / (energy + own)).sum())
        return Point(lam, HEADER + round(bits / 8), math.ceil(error))


def _energy(samples: np.ndarray, depth: int) -> tuple[np.ndarray, float]:
    """Return the DCT energies of some blocks, and the number of blocks that each stands for."""
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
