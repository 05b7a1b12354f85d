"""Cutting a plane into fragments.

Source: section "Fragments" of ``docs/format/format.md``.
"""

from collections.abc import Iterator

import numpy as np

from mmpcodec.reference.trees.scales import FRAGMENT_SIZE


def fragment_count(length: int) -> int:
    """Fragments along an axis of ``length`` samples."""
    return -(-length // FRAGMENT_SIZE)


def fragments_in(shape: tuple[int, int]) -> int:
    """Fragments of a plane of this height and width."""
    height, width = shape
    return fragment_count(height) * fragment_count(width)


def padded_shape(shape: tuple[int, int], size: int = FRAGMENT_SIZE) -> tuple[int, int]:
    """Height and width in samples of whole fragments, or of whole squares of another size."""
    height, width = shape
    return height + -height % size, width + -width % size


def pad(plane: np.ndarray, size: int = FRAGMENT_SIZE) -> np.ndarray:
    """The plane with its last row and column repeated up to whole fragments.

    Parameters
    ----------
    plane : (H, W) uint8 array, at least 1x1
    size : int
        Of the squares to fill.

    Returns
    -------
    (H', W') uint8 array
        H' and W' are the next multiples of ``size``.
    """
    missing = [(0, -length % size) for length in plane.shape]
    return np.pad(plane, missing, mode="edge")


def fragment_origins(
    height: int, width: int, size: int = FRAGMENT_SIZE
) -> Iterator[tuple[int, int]]:
    """Row and column of the first sample of each fragment of a size, in coding order."""
    for row in range(0, height, size):
        for column in range(0, width, size):
            yield row, column
