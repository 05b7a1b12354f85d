"""Samples as metrics take them: scaled to the range of a metric, or as luma."""

import numpy as np

LUMA = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in the luma of ITU-R BT.601, that of JPEG files."""


def scaled(samples: np.ndarray, white: int, wanted: float) -> np.ndarray:
    """Return samples as float64, with the level of white scaled to ``wanted``.

    Samples keep fractions, and those above white stay above.
    """
    return samples.astype(np.float64) * wanted / white  # 8 and 16 bits give equal values


def luma(samples: np.ndarray, white: int) -> np.ndarray:
    """Return gray, or the luma of RGB, as an (H, W) float64 array with white at 255.

    Luma is not rounded, and has the full range: black is 0.
    """
    values = scaled(samples, white, 255)
    return values if values.ndim == 2 else values @ np.array(LUMA)


def linear_light(samples: np.ndarray, white: int) -> np.ndarray:
    """Return sRGB samples as linear light, (3, H, W) float64, with white at 1.

    Gray gives equal red, green and blue.
    """
    values = scaled(samples, white, 1)
    if values.ndim == 2:
        values = np.broadcast_to(values[..., None], (*values.shape, 3))
    values = np.moveaxis(values, 2, 0)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def halved(planes: np.ndarray) -> np.ndarray:
    """Return the means of 2x2 samples of (N, H, W) planes.

    An odd last row or column counts twice.
    """
    height, width = planes.shape[1:]
    even = np.pad(planes, ((0, 0), (0, height % 2), (0, width % 2)), "edge")
    return (even[:, ::2, ::2] + even[:, 1::2, ::2] + even[:, ::2, 1::2] + even[:, 1::2, 1::2]) / 4


def doubled(plane: np.ndarray) -> np.ndarray:
    """Return an (H, W) plane at twice its size, (2H, 2W), with straight lines between samples.

    A sample is in the middle of its 2x2 samples, and its own value goes on beyond the border. So
    the mean and the range stay.
    """
    for axis in (0, 1):
        lines = np.moveaxis(plane, axis, 0)
        wide = np.pad(lines, ((1, 1), (0, 0)), "edge")
        pairs = np.stack([3 * lines + wide[:-2], 3 * lines + wide[2:]], axis=1) / 4
        plane = np.moveaxis(pairs.reshape(-1, *lines.shape[1:]), 0, axis)
    return plane
