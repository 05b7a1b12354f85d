"""MS-SSIM: structural similarity at five scales."""

import math

import numpy as np

from mmpcodec.bench.metrics.libraries import library
from mmpcodec.bench.metrics.ssim import SIGMA, SSIM_SIDE

MS_SSIM_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""Exponents of the five scales, finest first."""

MS_SSIM_SIDE = SSIM_SIDE << (len(MS_SSIM_WEIGHTS) - 1)
"""Smallest side of a picture for MS-SSIM, 176 samples: the coarsest scale must hold a window."""

_K1, _K2 = 0.01, 0.03


def ms_ssim(original: np.ndarray, decoded: np.ndarray, *, white: int) -> float | None:
    """Return the multi-scale structural similarity; None if a side has fewer than 176 samples.

    Contrast and structure are compared at five scales, luminance at the last scale. Means of 2x2
    samples halve a scale, without an odd last row or column. A negative mean counts as 0.

    Source: Wang, Simoncelli, Bovik, "Multiscale structural similarity for image quality
    assessment", Asilomar Conference on Signals, Systems and Computers, 2003.
    """
    if min(original.shape[:2]) < MS_SSIM_SIDE:
        return None
    if original.ndim == 3:
        channels = range(original.shape[2])
        values = [ms_ssim(original[..., c], decoded[..., c], white=white) for c in channels]
        return float(np.mean([value for value in values if value is not None]))
    x, y = original.astype(np.float64), decoded.astype(np.float64)
    product = 1.0
    for scale, weight in enumerate(MS_SSIM_WEIGHTS, start=1):
        luminance, contrast_structure = _similarities(x, y, white)
        last = scale == len(MS_SSIM_WEIGHTS)
        mean = float((luminance * contrast_structure if last else contrast_structure).mean())
        product *= math.pow(max(mean, 0.0), weight)
        x, y = _halved(x), _halved(y)
    return product


def _similarities(x: np.ndarray, y: np.ndarray, white: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the luminance term, and the product of contrast and structure terms, as arrays.

    The arrays have one value for each window that lies inside the picture.
    """
    gaussian_filter = library("scipy.ndimage").gaussian_filter

    def smooth(values: np.ndarray) -> np.ndarray:
        radius = SSIM_SIDE // 2
        return gaussian_filter(values, SIGMA, radius=radius)[radius:-radius, radius:-radius]

    c1, c2 = (_K1 * white) ** 2, (_K2 * white) ** 2
    mean_x, mean_y = smooth(x), smooth(y)
    variances = smooth(x * x) - mean_x**2 + smooth(y * y) - mean_y**2
    covariance = smooth(x * y) - mean_x * mean_y
    luminance = (2 * mean_x * mean_y + c1) / (mean_x**2 + mean_y**2 + c1)
    return luminance, (2 * covariance + c2) / (variances + c2)


def _halved(x: np.ndarray) -> np.ndarray:
    """Return the means of 2x2 samples."""
    rows, columns = x.shape[0] // 2 * 2, x.shape[1] // 2 * 2
    x = x[:rows, :columns]
    return (x[::2, ::2] + x[1::2, ::2] + x[::2, 1::2] + x[1::2, 1::2]) / 4
