"""The window of SSIMULACRA2: a recursive Gaussian with the rounding errors of its program.

The filter neither damps nor amplifies, so rounding errors of float32 add up along a row or column.
They lower a score of 90 by up to 1.5 in gray, which makes them part of the metric in practice. So
the operations are those of the program, in its order, on processors that round a product and a sum
once.

Source: Charalampidis, "Recursive implementation of the Gaussian filter using truncated cosine
functions", IEEE Transactions on Signal Processing 64, 2016.
"""

import numpy as np

RADIUS = 5
"""Radius of the window, in samples: 3.2795 sigma + 0.2546, rounded (equation 57)."""

_SIGMA = 1.5
_FREQUENCIES = np.array([1, 3, 5]) * np.pi / (2 * RADIUS)
_AT_ONCE = 4
"""Columns that the program computes at once, from the two before them."""


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
    columns = _by_columns(np.ascontiguousarray(planes.transpose(2, 0, 1)).reshape(width, -1))
    rows = np.ascontiguousarray(columns.reshape(width, count, height).transpose(2, 1, 0))
    found = _by_rows(rows.reshape(height, -1))
    return found.reshape(height, count, width).transpose(1, 0, 2)


def _by_rows(lines: np.ndarray) -> np.ndarray:
    """Filter float32 lines, (n, length), across the lines: three recursions and their sum.

    Each recursion makes one cosine of the window, from the two lines that enter and leave it and
    its own last two values (equation 35).
    """
    count, length = lines.shape
    found = np.empty_like(lines)
    last, before = np.zeros((2, 3, length), np.float32)
    for number in range(1 - RADIUS, count):
        kept = _fused(_LAST[:, 0], last, -before)
        last, before = _fused(_GAIN[:, 0], _ends(lines, number), kept), last
        if number >= 0:
            found[number] = last[0] + (last[1] + last[2])
    return found


def _by_columns(lines: np.ndarray) -> np.ndarray:
    """Do the same, four lines at once where the window is inside the picture."""
    count, length = lines.shape
    found = np.empty_like(lines)
    last, before = np.zeros((2, 3, 1, length), np.float32)
    number = 1 - RADIUS
    while number < count:
        inside = 2 * _AT_ONCE <= number < count - RADIUS - _AT_ONCE + 2
        many = _AT_ONCE if inside else 1
        values = np.zeros((3, many, length), np.float32)
        for k in range(many):
            ends = _ends(lines, number + k)
            values[:, k:] = _fused(_GAIN[:, : many - k], ends, values[:, k:])
        values = _fused(_LAST[:, :many], last, _fused(_BEFORE[:, :many], before, values))
        if number >= 0:
            found[number : number + many] = values[0] + (values[1] + values[2])
        last, before = values[:, -1:], values[:, -2:-1] if inside else last
        number += many
    return found


def _ends(lines: np.ndarray, number: int) -> np.ndarray:
    """Return the sum of the lines that enter and leave the window; 0 is around the picture."""
    places = (number - RADIUS - 1, number + RADIUS - 1)
    nothing = np.zeros(lines.shape[1], np.float32)
    first, second = (lines[place] if 0 <= place < len(lines) else nothing for place in places)
    return first + second


def _fused(factors: np.ndarray, values: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return float32 products of float64 factors and values, plus more, rounded once."""
    return (factors * values + more).astype(np.float32)


def _factors() -> np.ndarray:
    """Return the factors of the three cosines (equations 37, 44 and 50 to 56)."""
    signs = np.array([1, -1, 1])
    p = signs / np.tan(_FREQUENCIES / 2)
    r = signs * p**2 / np.sin(_FREQUENCIES)
    rho = np.exp(-(_SIGMA**2) * _FREQUENCIES**2 / 2) / RADIUS
    zeta = np.cross(p, r)
    zeta = zeta / zeta[2]
    return np.linalg.solve([p, r, zeta], [1, RADIUS**2 - _SIGMA**2, zeta @ rho])


def _ahead(before: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return the next four values of the recursions, (3, 4, 1), rounded to float32."""
    values = [before, last]
    for _ in range(_AT_ONCE):
        values.append(2 * np.cos(_FREQUENCIES) * values[-1] - values[-2])
    return np.stack(values[2:], axis=1)[..., None].astype(np.float32).astype(np.float64)


_GAIN = _ahead(_factors() * np.cos(_FREQUENCIES * (RADIUS + 1)), np.zeros(3))
_LAST = _ahead(np.zeros(3), np.ones(3))
_BEFORE = _ahead(np.ones(3), np.zeros(3))
"""Share of an input, of the last value and of the one before in the next four (equation 33)."""
