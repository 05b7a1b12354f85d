"""PSNR and the largest error."""

import numpy as np

from mmpcodec.bench.metrics.libraries import library


def psnr(original: np.ndarray, decoded: np.ndarray, *, white: int) -> float | None:
    """Return the peak signal-to-noise ratio in dB; None if the pictures are equal.

    The mean squared error is that of all planes together.
    """
    metrics = library("skimage.metrics")
    if np.array_equal(original, decoded):
        return None
    return float(metrics.peak_signal_noise_ratio(original, decoded, data_range=white))


def max_error(original: np.ndarray, decoded: np.ndarray) -> int:
    """Return the largest absolute difference of two samples."""
    return int(np.abs(original.astype(np.int64) - decoded).max())
