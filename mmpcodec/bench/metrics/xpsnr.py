"""XPSNR: PSNR whose blocks weigh less where the original is busy."""

import math

import numpy as np

from mmpcodec.bench.metrics.libraries import library
from mmpcodec.metrics.samples import luma

LARGE = 2048 * 1152
"""Number of samples above which activity is measured at half of the resolution."""

SMALL = 640 * 480
"""Number of samples up to which the weights of blocks are smoothed."""

_ULTRA_HD = 3840 * 2160
_LEAST_ACTIVITY = 4.0  # of 8-bit samples, after a high-pass filter with a gain of 12

_HIGH_PASS = np.array([[-1, -2, -1], [-2, 12, -2], [-1, -2, -1]])
_HIGH_PASS_HALVED = np.array(
    [
        [0, -1, -1, -1, -1, 0],
        [-1, -2, -3, -3, -2, -1],
        [-1, -3, 12, 12, -3, -1],
        [-1, -3, 12, 12, -3, -1],
        [-1, -2, -3, -3, -2, -1],
        [0, -1, -1, -1, -1, 0],
    ]
)


def xpsnr(original: np.ndarray, decoded: np.ndarray, *, white: int) -> float | None:
    """Return XPSNR of luma in dB; None if the pictures are equal.

    It is that of a still picture: activity over time is 0. A picture of fewer than 2025 samples
    has no blocks, and the value is its PSNR.

    Source: Helmrich, Siekmann, Becker, Bosse, Marpe, Wiegand, "XPSNR: a low-complexity extension of
    the perceptually weighted peak signal-to-noise ratio for high-resolution video quality
    assessment", ICASSP, 2020.
    """
    values = luma(original, white)
    errors = np.square(values - luma(decoded, white))
    height, width = values.shape
    share = height * width / _ULTRA_HD
    side = 4 * int(32 * math.sqrt(share) + 0.5)
    if side:
        mean_activity = math.sqrt(16 * 2**7 / math.sqrt(max(1e-5, share)))
        error = mean_activity * float((_block_sums(errors, side) * _weights(values, side)).sum())
    else:
        error = float(errors.sum())
    return 10 * math.log10(height * width * 255**2 / error) if error else None


def _weights(values: np.ndarray, side: int) -> np.ndarray:
    """Return the weight of each block, (rows, columns): 1 divided by its activity.

    Activity is the mean magnitude after a high-pass filter, which leaves out the border.
    """
    height, width = values.shape
    halved = height * width > LARGE
    border = 2 if halved else 1
    activity = np.abs(_high_pass(values, halved))
    inside = np.zeros(values.shape, bool)
    inside[border : height - border, border : width - border] = True
    sums, counts = (_block_sums(each, side) for each in (activity * inside, inside))
    known = counts > 0
    means = np.divide(sums, counts, out=np.ones_like(sums), where=known)
    weights = 1 / np.where(known, np.maximum(means, _LEAST_ACTIVITY), 1)
    return _smoothed(weights) if height * width <= SMALL else weights


def _high_pass(values: np.ndarray, halved: bool) -> np.ndarray:
    """Return the high frequencies, with a gain of 12; ``halved`` those of means of 2x2 samples.

    Means are at every other row and column, with four times the gain, and 0 is between them.
    """
    correlate = library("scipy.ndimage").correlate
    if not halved:
        return correlate(values, _HIGH_PASS, mode="nearest")
    found = correlate(values, _HIGH_PASS_HALVED, mode="nearest", origin=-1)
    found[1::2] = found[:, 1::2] = 0
    return found


def _block_sums(values: np.ndarray, side: int) -> np.ndarray:
    """Return the sum of each block of ``side`` samples, (rows, columns); the last are smaller."""
    for axis in (0, 1):
        starts = np.arange(0, values.shape[axis], side)
        values = np.add.reduceat(values, starts, axis, dtype=np.float64)
    return values


def _smoothed(weights: np.ndarray) -> np.ndarray:
    """Return weights of which none is above those of its left, right and upper neighbour.

    Blocks follow each other in rows, and those before are smoothed already.
    """
    found = weights.copy()
    rows, columns = found.shape
    for row, column in np.ndindex(rows, columns):
        places = [(row, column - 1), (row, column + 1), (row - 1, column)]
        near = [found[y, x] for y, x in places if y >= 0 and 0 <= x < columns]
        if near:
            found[row, column] = min(found[row, column], max(near))
    return found
