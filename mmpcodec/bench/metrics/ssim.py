"""SSIM: the structural similarity of two pictures."""

import numpy as np

from mmpcodec.bench.metrics.libraries import library

SSIM_SIDE = 11
"""Side of the window of SSIM in samples: a Gaussian of ``SIGMA``, truncated at 5 samples."""

SIGMA = 1.5
"""Standard deviation of the window, in samples."""


def ssim(original: np.ndarray, decoded: np.ndarray, *, white: int) -> float | None:
    """Return the mean structural similarity; None if a side has fewer than 11 samples.

    Source: Wang, Bovik, Sheikh, Simoncelli, "Image quality assessment: from error visibility to
    structural similarity", IEEE Transactions on Image Processing 13, 2004; computed by scikit-image
    with the settings that its documentation gives for this paper.
    """
    found = _similarity(original, decoded, white)
    return None if found is None else float(found[0])


def dissimilarity_map(
    original: np.ndarray, decoded: np.ndarray, *, white: int
) -> np.ndarray | None:
    """Return 1 minus the similarity of the window around each pixel: 0 for equal windows, up to 2.

    That of colour is the mean over red, green and blue. The mean of the map without 5 pixels on
    each side, where windows leave the picture, is 1 minus SSIM.

    Parameters
    ----------
    original, decoded : (H, W) or (H, W, 3) integer arrays
    white : int
        Level of white.

    Returns
    -------
    (H, W) array of float64 or None
        None if a side has fewer than 11 samples.
    """
    found = _similarity(original, decoded, white)
    if found is None:
        return None
    similarity = found[1]
    return 1 - (similarity.mean(axis=2) if similarity.ndim == 3 else similarity)


def _similarity(
    original: np.ndarray, decoded: np.ndarray, white: int
) -> tuple[float, np.ndarray] | None:
    """Return the mean similarity, and that of each window, an array of the shape of the samples."""
    metrics = library("skimage.metrics")
    if min(original.shape[:2]) < SSIM_SIDE:
        return None
    mean, windows = metrics.structural_similarity(
        original,
        decoded,
        data_range=white,
        gaussian_weights=True,
        sigma=SIGMA,
        use_sample_covariance=False,
        channel_axis=2 if original.ndim == 3 else None,
        full=True,
    )
    return mean, windows
