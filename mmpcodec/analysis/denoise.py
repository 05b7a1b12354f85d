"""Filter pictures with a median, which removes specks and keeps edges."""

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.samples import Samples
from mmpcodec.solvers.rank_filter import median_filter

MAX_MEDIAN_RADIUS = 127


def check_median_radius(radius: int, name: str = "radius") -> int:
    """Return the radius of a median filter as an int; ``name`` is what errors call it.

    Raises
    ------
    ParameterError
        If it is not an integer from 1 to 127.
    """
    return check_int(name, radius, 1, MAX_MEDIAN_RADIUS)


def denoise(samples: Samples, radius: int, *, backend: str = "auto") -> Samples:
    """Replace each sample by the median of the square window around it.

    Beyond the border, the picture is mirrored.

    Parameters
    ----------
    samples : (H, W) or (H, W, 2 to 4) array of uint8 or uint16
        Each colour is filtered separately. Alpha, the last of 2 or 4 planes, stays unchanged.
    radius : int
        From 1 to 127. The window has 2 radius + 1 rows and columns.
    backend : {"auto", "cpu", "cuda", "reference"}
        The result does not depend on the backend.

    Returns
    -------
    array of the shape and type of ``samples``

    Raises
    ------
    ParameterError
        If the shape, the type or the radius is not allowed.
    BackendUnavailable
        If the named backend cannot run here.
    """
    radius = check_median_radius(radius)
    samples = np.asarray(samples)
    shaped = samples.ndim == 2 or (samples.ndim == 3 and 2 <= samples.shape[2] <= 4)
    if samples.dtype.name not in ("uint8", "uint16") or not shaped:
        raise ParameterError(
            f"samples of shape {samples.shape} and type {samples.dtype}: must be (height, width) "
            "or (height, width, 2 to 4) of uint8 or uint16"
        )
    size = 2 * radius + 1
    if samples.ndim == 2:
        return median_filter(samples, size, backend=backend)
    filtered = samples.copy()
    for number in range(1 if samples.shape[2] == 2 else 3):
        plane = np.ascontiguousarray(samples[..., number])
        filtered[..., number] = median_filter(plane, size, backend=backend)
    return filtered
