"""Fragments: padding a plane and cutting it into squares.

Source: section "Fragments" of ``docs/format/format.md``.
"""

from collections.abc import Iterator

import numpy as np

from mmpcodec.reference.trees.scales import FRAGMENT_SIZE


def fragment_count(length: int) -> int:
    """Return the number of fragments along an axis of ``length`` samples."""
    return -(-length // FRAGMENT_SIZE)


def fragments_in(shape: tuple[int, int]) -> int:
    """Return the number of fragments of a plane of a height and width."""
    height, width = shape
    return fragment_count(height) * fragment_count(width)


def padded_shape(shape: tuple[int, int], size: int = FRAGMENT_SIZE) -> tuple[int, int]:
    """Return the height and width, each rounded up to a multiple of ``size`` samples."""
    height, width = shape
    return height + -height % size, width + -width % size


def pad(plane: np.ndarray, size: int = FRAGMENT_SIZE) -> np.ndarray:
    """Pad a plane to multiples of ``size`` by repeating its last column and its last row.

    Parameters
    ----------
    plane : (H, W) integer array
        At least 1x1 sample.
    size : int
        Side of the squares that the padded plane consists of, in samples.

    Returns
    -------
    (H', W') array
        H' and W' are H and W rounded up to multiples of ``size``; type as the plane.
    """
    missing = [(0, -length % size) for length in plane.shape]
    return np.pad(plane, missing, mode="edge")


def fragment_origins(
    height: int, width: int, size: int = FRAGMENT_SIZE
) -> Iterator[tuple[int, int]]:
    """Yield row and column of the first sample of each fragment, in raster order."""
    for row in range(0, height, size):
        for column in range(0, width, size):
            yield row, column
