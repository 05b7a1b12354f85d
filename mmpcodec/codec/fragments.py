"""Cutting a plane into fragments, and the residual that the tree codes.

Source: sections "Fragments" and "Residual" of ``docs/format.md``.
"""

from collections.abc import Iterator

import numpy as np

from mmpcodec.codec.scales import FRAGMENT_SIZE

MID_LEVEL = 128
"""Prediction of every sample in the base profile, and the residual of a perfect prediction."""


def fragment_count(length: int) -> int:
    """Fragments along an axis of ``length`` samples."""
    return -(-length // FRAGMENT_SIZE)


def fragments_in(shape: tuple[int, int]) -> int:
    """Fragments of a plane of this height and width."""
    height, width = shape
    return fragment_count(height) * fragment_count(width)


def padded_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Height and width in samples of whole fragments."""
    height, width = shape
    return FRAGMENT_SIZE * fragment_count(height), FRAGMENT_SIZE * fragment_count(width)


def pad(plane: np.ndarray) -> np.ndarray:
    """The plane with its last row and column repeated up to whole fragments.

    Parameters
    ----------
    plane : (H, W) uint8 array, at least 1x1

    Returns
    -------
    (H', W') uint8 array
        H' and W' are the next multiples of ``FRAGMENT_SIZE``.
    """
    missing = [(0, -length % FRAGMENT_SIZE) for length in plane.shape]
    return np.pad(plane, missing, mode="edge")


def fragment_origins(height: int, width: int) -> Iterator[tuple[int, int]]:
    """Row and column of the first sample of each fragment, in coding order."""
    for row in range(0, height, FRAGMENT_SIZE):
        for column in range(0, width, FRAGMENT_SIZE):
            yield row, column


def predict() -> np.ndarray:
    """Prediction of a fragment: in the base profile the middle level everywhere."""
    return np.full((FRAGMENT_SIZE, FRAGMENT_SIZE), MID_LEVEL, np.int32)


def residual(fragment: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """What the tree codes: x - p + 128, within 0 to 255."""
    return np.clip(fragment - prediction + MID_LEVEL, 0, 255).astype(np.uint8)


def reconstruct(coded: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Samples from the coded residual: e + p - 128, within 0 to 255."""
    return np.clip(coded + prediction - MID_LEVEL, 0, 255).astype(np.uint8)
