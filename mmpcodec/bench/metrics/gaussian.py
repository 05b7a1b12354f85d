"""The window of SSIMULACRA2: a recursive Gaussian with the rounding errors of its program.

The filter neither damps nor amplifies, so rounding errors of float32 add up along a row or column.
They lower a score of 90 by up to 1 in gray, which makes them part of the metric in practice. A
product and a sum are rounded once, as processors with fused multiplication do.

Source: Charalampidis, "Recursive implementation of the Gaussian filter using truncated cosine
functions", IEEE Transactions on Signal Processing 64, 2016.
"""

import numpy as np

RADIUS = 5
"""Radius of the window, in samples: 3.2795 sigma + 0.2546, rounded (equation 57)."""

_SIGMA = 1.5
_FREQUENCIES = np.array([1, 3, 5]) * np.pi / (2 * RADIUS)


def smooth(planes: np.ndarray) -> np.ndarray:
    """Return planes under the window; 0 is around them.

    Parameters
    ----------
    planes : (N, H, W) array of float32

    Returns
    -------
    (N, H, W) array of float32
    """
    count, height, width = planes.shape
    columns = np.ascontiguousarray(planes.transpose(2, 0, 1)).reshape(width, -1)
    rows = _filtered(columns).reshape(width, count, height).transpose(2, 1, 0)
    found = _filtered(np.ascontiguousarray(rows).reshape(height, -1))
    return found.reshape(height, count, width).transpose(1, 0, 2)


def _filtered(lines: np.ndarray) -> np.ndarray:
    """Filter float32 lines, (n, length), across the lines: three recursions and their sum.

    Each recursion makes one cosine of the window, from the two lines that enter and leave it and
    its own last two values (equation 35).
    """
    count, length = lines.shape
    found = np.empty_like(lines)
    last, before, wide = np.zeros((3, 3, length))
    narrow = np.empty((3, length), np.float32)
    nothing = np.zeros(length, np.float32)
    for number in range(1 - RADIUS, count):
        out, into = number - RADIUS - 1, number + RADIUS - 1
        ends = lines[into] if into < count else nothing
        if out >= 0:
            ends = ends + lines[out]
        np.multiply(_FEEDBACK, last, out=wide)
        np.subtract(wide, before, out=wide)
        narrow[...] = wide
        np.multiply(_GAIN, ends, out=before)
        np.add(before, narrow, out=before)
        narrow[...] = before
        before[...] = narrow
        last, before = before, last
        if number >= 0:
            np.add(narrow[1], narrow[2], out=found[number])
            found[number] += narrow[0]
    return found


def _factors() -> np.ndarray:
    """Return the factors of the three cosines (equations 37, 44 and 50 to 56)."""
    signs = np.array([1, -1, 1])
    p = signs / np.tan(_FREQUENCIES / 2)
    r = signs * p**2 / np.sin(_FREQUENCIES)
    rho = np.exp(-(_SIGMA**2) * _FREQUENCIES**2 / 2) / RADIUS
    zeta = np.cross(p, r)
    zeta = zeta / zeta[2]
    return np.linalg.solve([p, r, zeta], [1, RADIUS**2 - _SIGMA**2, zeta @ rho])


def _rounded(values: np.ndarray) -> np.ndarray:
    """Return values as float32 has them, one a row, in float64."""
    return values.astype(np.float32).astype(np.float64)[:, None]


_GAIN = _rounded(-_factors() * np.cos(_FREQUENCIES * (RADIUS + 1)))
_FEEDBACK = _rounded(2 * np.cos(_FREQUENCIES))  # equation 33, as are the gains
