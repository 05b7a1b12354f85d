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
    metrics = library("skimage.metrics")
    if min(original.shape[:2]) < SSIM_SIDE:
        return None
    return float(
        metrics.structural_similarity(
            original,
            decoded,
            data_range=white,
            gaussian_weights=True,
            sigma=SIGMA,
            use_sample_covariance=False,
            channel_axis=2 if original.ndim == 3 else None,
        )
    )
