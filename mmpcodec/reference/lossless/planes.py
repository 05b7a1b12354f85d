"""The order of planes in lossless samples: green, red, blue, then alpha.

Source: section "Lossless samples" of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.depth import sample_type


def to_planes(array: np.ndarray) -> np.ndarray:
    """Return the planes of a picture in coding order.

    Parameters
    ----------
    array : (H, W) or (H, W, C) array of uint8 or uint16

    Returns
    -------
    (C, H, W) array of uint16
    """
    planes = array[None] if array.ndim == 2 else np.moveaxis(array, 2, 0)
    return np.ascontiguousarray(_swapped(planes), np.uint16)


def from_planes(planes: np.ndarray, depth: int) -> np.ndarray:
    """Return the picture of planes in coding order, the inverse of ``to_planes``.

    Parameters
    ----------
    planes : (C, H, W) array
    depth : int
        Bits of a sample.

    Returns
    -------
    (H, W) or (H, W, C) array of uint8 up to 8 bits, uint16 above
    """
    array = planes[0] if len(planes) == 1 else np.moveaxis(_swapped(planes), 0, 2)
    return np.ascontiguousarray(array, sample_type(depth))


def _swapped(planes: np.ndarray) -> np.ndarray:
    """Exchange red and green, if there are colours."""
    return planes[[1, 0, *range(2, len(planes))]] if len(planes) >= 3 else planes
