"""Metrics of a decoded picture: PSNR, SSIM, MS-SSIM and the largest error.

The caller gives the level of white, because the type of the array does not determine it.
"""

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from mmpcodec.errors import MissingExtra, install

SSIM_SIDE = 11
"""Side of the window of SSIM in samples: a Gaussian of sigma 1.5, truncated at 5 samples."""

MS_SSIM_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""Exponents of the five scales, finest first."""

MS_SSIM_SIDE = SSIM_SIDE << (len(MS_SSIM_WEIGHTS) - 1)
"""Smallest side of a picture for MS-SSIM, 176 samples: the coarsest scale must hold a window."""

_SIGMA = 1.5
_K1, _K2 = 0.01, 0.03


@dataclass(frozen=True)
class Quality:
    """Metrics of a decoded picture.

    Parameters
    ----------
    psnr : float or None
        In dB; None if the pictures are equal.
    ssim, ms_ssim : float or None
        At most 1; None if a side has fewer than 11 samples for SSIM, 176 for MS-SSIM.
    max_error : int
        Largest absolute difference of two samples.
    """

    psnr: float | None
    ssim: float | None
    ms_ssim: float | None
    max_error: int


def measure(original: np.ndarray, decoded: np.ndarray, *, white: int = 255) -> Quality:
    """Compute all metrics of two pictures.

    Parameters
    ----------
    original, decoded : (H, W) or (H, W, 3) integer arrays
        Arrays of equal shape. For colour, mean squared error, SSIM and MS-SSIM are averaged over
        the three planes.
    white : int
        Level of white, the data range of the metrics.

    Raises
    ------
    ValueError
        When the shapes differ.
    MissingExtra
        If scikit-image is not installed.
    """
    if original.shape != decoded.shape:
        raise ValueError(f"shapes differ: {original.shape} and {decoded.shape}")
    return Quality(
        psnr(original, decoded, white=white),
        ssim(original, decoded, white=white),
        ms_ssim(original, decoded, white=white),
        max_error(original, decoded),
    )


def max_error(original: np.ndarray, decoded: np.ndarray) -> int:
    """Return the largest absolute difference of two samples."""
    return int(np.abs(original.astype(np.int64) - decoded).max())


def check_library() -> None:
    """Check that metrics can be measured.

    Raises
    ------
    MissingExtra
        If scikit-image or SciPy is not installed.
    """
    for module in ("skimage.metrics", "scipy.ndimage"):
        _library(module)


def psnr(original: np.ndarray, decoded: np.ndarray, *, white: int) -> float | None:
    """Return the peak signal-to-noise ratio in dB; None if the pictures are equal."""
    metrics = _library("skimage.metrics")
    if np.array_equal(original, decoded):
        return None
    return float(metrics.peak_signal_noise_ratio(original, decoded, data_range=white))


def ssim(original: np.ndarray, decoded: np.ndarray, *, white: int) -> float | None:
    """Return the mean structural similarity; None if a side has fewer than 11 samples.

    Source: Wang, Bovik, Sheikh, Simoncelli, "Image quality assessment: from error visibility to
    structural similarity", IEEE Transactions on Image Processing 13, 2004; computed by scikit-image
    with the settings that its documentation gives for this paper.
    """
    metrics = _library("skimage.metrics")
    if min(original.shape[:2]) < SSIM_SIDE:
        return None
    return float(
        metrics.structural_similarity(
            original,
            decoded,
            data_range=white,
            gaussian_weights=True,
            sigma=_SIGMA,
            use_sample_covariance=False,
            channel_axis=2 if original.ndim == 3 else None,
        )
    )


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


def _library(module: str) -> Any:
    """Import a module of scikit-image or SciPy.

    Raises
    ------
    MissingExtra
        If it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(f"PSNR and SSIM need scikit-image; {install('measure')}") from error


def _similarities(x: np.ndarray, y: np.ndarray, white: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the luminance term, and the product of contrast and structure terms, as arrays.

    The arrays have one value for each window that lies inside the picture.
    """
    gaussian_filter = _library("scipy.ndimage").gaussian_filter

    def smooth(values: np.ndarray) -> np.ndarray:
        radius = SSIM_SIDE // 2
        return gaussian_filter(values, _SIGMA, radius=radius)[radius:-radius, radius:-radius]

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
