"""Smooth colours where pixels are hidden, which cost few bits. *Encoder only*."""

import numpy as np

from mmpcodec.samples import form_of

SMOOTHINGS = 4
"""How often hidden colours are smoothed in each resolution."""


def filled(samples: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return a picture with smooth colours where its pixels are hidden.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        Alpha stays.
    seen : (H, W) bool array
    """
    changed = samples.copy()
    planes = changed[..., None] if samples.ndim == 2 else changed
    for number in range(form_of(samples).colours):
        plane = _filled(planes[..., number].astype(np.int32), seen)
        planes[..., number] = plane.astype(samples.dtype)
    return changed


def _filled(plane: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Fill the hidden samples of a plane from the means of the seen ones around them.

    The plane is halved until all samples are known; then the hidden ones of each resolution take
    the sample of the coarser one and are smoothed.
    """
    if seen.all() or not seen.any():
        return np.where(seen, plane, 0)
    height, width = plane.shape
    if plane.size == 1:
        return plane
    even = (height % 2, width % 2)
    known = np.pad(seen, ((0, even[0]), (0, even[1])))
    sums = np.pad(np.where(seen, plane, 0), ((0, even[0]), (0, even[1])))
    quads = (known.shape[0] // 2, 2, known.shape[1] // 2, 2)
    counts = known.reshape(quads).sum(axis=(1, 3))
    means = (sums.reshape(quads).sum(axis=(1, 3)) + counts // 2) // np.maximum(counts, 1)
    coarse = _filled(means.astype(np.int32), counts > 0)
    found = np.where(seen, plane, coarse.repeat(2, 0).repeat(2, 1)[:height, :width])
    for _ in range(SMOOTHINGS):
        around = np.pad(found, 1, mode="edge")
        total = around[:-2, 1:-1] + around[2:, 1:-1]  # in place below: planes may be large
        total += around[1:-1, :-2]
        total += around[1:-1, 2:]
        total += 2
        total >>= 2
        np.copyto(total, plane, where=seen)
        found = total
    return found
