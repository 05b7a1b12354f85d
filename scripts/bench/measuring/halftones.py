"""Halftones of 8-bit pictures, by whole numbers, as printers and old displays make them."""

from collections.abc import Callable

import numpy as np
from PIL import Image

from mmpcodec.bench.codecs.conversion import luma_of

CELL = 6
"""Columns of a cell of a clustered screen."""
FINE = 4
"""Dots of print a pixel, in each direction."""
SCREENS = ((4, 1), (1, 4), (1, 0), (3, 3))
"""Directions of the screens of cyan, magenta, yellow and black."""


def _gray(samples: np.ndarray) -> np.ndarray:
    return luma_of(samples) if samples.ndim == 3 else samples


def diffused(samples: np.ndarray) -> np.ndarray:
    """Return two levels, by the error diffusion of Floyd and Steinberg."""
    return np.asarray(Image.fromarray(_gray(samples)).convert("1"), np.uint8)


def ordered(samples: np.ndarray) -> np.ndarray:
    """Return two levels, by the 8x8 matrix of Bayer."""
    matrix = np.zeros((1, 1), int)
    while len(matrix) < 8:
        matrix = np.block([[4 * matrix, 4 * matrix + 2], [4 * matrix + 3, 4 * matrix + 1]])
    height, width = samples.shape[:2]
    limits = np.tile(4 * matrix + 2, (height // 8 + 1, width // 8 + 1))[:height, :width]
    return (_gray(samples) > limits).astype(np.uint8)


def screened(plane: np.ndarray, across: int, down: int) -> np.ndarray:
    """Return the dots of a plane, 0 or 1, by a clustered screen of a direction."""
    rows, columns = np.indices(plane.shape)
    length = CELL * FINE
    norm = round(1024 * float(np.hypot(across, down)))
    first = (columns * across + rows * down) * 1024 // norm % length
    second = (rows * across - columns * down) * 1024 // norm % length
    far = (2 * first + 1 - length) ** 2 + (2 * second + 1 - length) ** 2
    order = np.argsort(np.argsort(far.ravel(), kind="stable"), kind="stable").reshape(far.shape)
    return (plane.astype(np.int64) * far.size > order * 255).astype(np.uint8)


def _large(plane: np.ndarray) -> np.ndarray:
    return plane.repeat(FINE, 0).repeat(FINE, 1)


def _small(dots: np.ndarray) -> np.ndarray:
    """Return 0 to 255 for the ink of each pixel, blurred by its neighbours as in a scanner."""
    height, width = (side // FINE for side in dots.shape)
    ink = dots.reshape(height, FINE, width, FINE).sum((1, 3), dtype=np.int64)
    for axis in (0, 1):
        padded = np.pad(ink, [(1, 1) if axis == way else (0, 0) for way in (0, 1)], "edge")
        before, after = (
            np.take(padded, np.arange(ink.shape[axis]) + step, axis) for step in (0, 2)
        )
        ink = before + 2 * ink + after
    return (ink * 255 + 8 * FINE**2) // (16 * FINE**2)


def clustered(samples: np.ndarray) -> np.ndarray:
    """Return a gray scan of print with round dots of one ink, at 45 degrees."""
    dots = screened(_large(255 - _gray(samples)), 1, 1)
    return (255 - _small(dots)).astype(np.uint8)


def printed(samples: np.ndarray) -> np.ndarray:
    """Return an RGB scan of print with four inks, each with a screen of another direction."""
    inks = 255 - samples
    black = inks.min(2) // 2
    planes = [*np.moveaxis(inks - black[..., None], 2, 0), black]
    dots = [screened(_large(plane), *way) for plane, way in zip(planes, SCREENS, strict=True)]
    seen = [_small(np.maximum(dot, dots[3])) for dot in dots[:3]]
    return np.stack([250 - 215 * plane // 255 for plane in seen], -1).astype(np.uint8)


def colours(samples: np.ndarray) -> np.ndarray:
    """Return RGB of the 216 colours of old browsers, by error diffusion."""
    return np.asarray(Image.fromarray(samples).convert("P").convert("RGB"))


HALFTONES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "clustered": clustered,
    "colours": colours,
    "diffused": diffused,
    "ordered": ordered,
    "printed": printed,
}
