"""Samples as a peer takes them: of other depths, or as luma and chroma."""

from collections.abc import Sequence

import numpy as np
from PIL import Image

from mmpcodec.depth import most, sample_type

_RED, _BLUE = 0.299, 0.114
"""Weights of red and blue in luma, of ITU-R BT.601."""


def at_depth(samples: np.ndarray, depth: int, wanted: int) -> np.ndarray:
    """Return samples of ``depth`` bits as samples of ``wanted`` bits, white as white, rounded."""
    if depth == wanted == 8 * samples.itemsize:
        return samples
    kept = np.clip(samples, 0, most(depth))
    if depth != wanted:
        kept = np.rint(kept * (most(wanted) / most(depth)))
    return kept.astype(sample_type(wanted))


def scaling(depth: int, wanted: int) -> str:
    """Return what ``at_depth`` does as the end of a codec's settings; empty if it does nothing."""
    return "" if depth == wanted else f", samples scaled to {wanted} bits"


def luma_of(samples: np.ndarray) -> np.ndarray:
    """Return the luma of ITU-R 601 of (H, W, 3) samples, in whole numbers, as Pillow rounds it."""
    weights = np.array([19595, 38470, 7471], np.uint64)
    return ((samples @ weights + 0x8000) >> 16).astype(samples.dtype)


def luma_and_chroma(samples: np.ndarray, depth: int, *, halved: bool) -> list[np.ndarray]:
    """Return luma, blue and red chroma of an RGB picture, in the full range of ``depth``.

    Parameters
    ----------
    samples : (H, W, 3) array
    depth : int
    halved : bool
        Whether chroma has half of the rows and columns, the means of 2x2 samples (4:2:0); H and W
        must be even.
    """
    red, green, blue = np.moveaxis(samples.astype(np.float64), 2, 0)
    luma = _RED * red + (1 - _RED - _BLUE) * green + _BLUE * blue
    chroma = [(blue - luma) / (2 - 2 * _BLUE), (red - luma) / (2 - 2 * _RED)]
    if halved:
        height, width = luma.shape
        chroma = [each.reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3)) for each in chroma]
    middle = 1 << (depth - 1)
    return [_rounded(luma, depth), *(_rounded(each + middle, depth) for each in chroma)]


def rgb_of(planes: Sequence[np.ndarray], depth: int) -> np.ndarray:
    """Return the (H, W, 3) RGB picture of luma and chroma; smaller chroma is interpolated."""
    luma, *chroma = (plane.astype(np.float32) for plane in planes)
    middle = 1 << (depth - 1)
    size = luma.shape[1], luma.shape[0]
    blue, red = (
        np.asarray(Image.fromarray(each - middle).resize(size, Image.Resampling.BILINEAR))
        for each in chroma
    )
    blue, red = luma + (2 - 2 * _BLUE) * blue, luma + (2 - 2 * _RED) * red
    green = (luma - _RED * red - _BLUE * blue) / (1 - _RED - _BLUE)
    return _rounded(np.stack([red, green, blue], axis=2), depth)


def _rounded(values: np.ndarray, depth: int) -> np.ndarray:
    return np.clip(np.rint(values), 0, most(depth)).astype(sample_type(depth))
