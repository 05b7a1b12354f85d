"""Integer transform of a block's residual, and its dequantisation.

The inverse and the dequantisation belong to the format, see section "Transform" of
``docs/format/format.md``; the forward transform is the encoder's, in integers all the same.
"""

from functools import cache

import numpy as np

from mmpcodec.depth import BYTE, extra_bits

MOST_COEFFICIENT = 32767
MOST_FREQUENCIES = 32
"""Rows and columns of coefficients at most."""
COEFFICIENT_BITS = 3
COLUMN_SHIFT, ROW_SHIFT = 12, 15
"""Bits that the inverse transform of 8-bit samples drops after the columns and after the rows."""
MOST_SEEN_BITS = 7
"""Extra bits of a residual that the forward transform sees, so that its sums fit 32 bits."""


@cache
def basis(side: int, sine: bool) -> np.ndarray:
    """Integer basis of a side: frequency k of sample i at [k, i], rows of norm near 4096.

    Parameters
    ----------
    side : int
        4 to 64.
    sine : bool

    Returns
    -------
    (side, side) int64 array
    """
    k, i = np.arange(side)[:, None], np.arange(side)
    if sine:
        exact = (
            8192 / np.sqrt(2 * side + 1) * np.sin(np.pi * (2 * k + 1) * (i + 1) / (2 * side + 1))
        )
    else:
        exact = 4096 * np.sqrt((2 - (k == 0)) / side) * np.cos(np.pi * k * (2 * i + 1) / (2 * side))
    return np.rint(exact).astype(np.int64)


def coefficient_shape(height: int, width: int) -> tuple[int, int]:
    """Rows and columns of coefficients of a block."""
    return min(height, MOST_FREQUENCIES), min(width, MOST_FREQUENCIES)


def dequantised(levels: np.ndarray, step: int) -> np.ndarray:
    """Coefficients in 1/8 from levels of a step in 1/16."""
    size = np.minimum((np.abs(levels.astype(np.int64)) * step + 1) >> 1, MOST_COEFFICIENT)
    return np.sign(levels) * size


def forward(residual: np.ndarray, sine: bool, depth: int = BYTE) -> np.ndarray:
    """Coefficients of a block's residual: first its columns, then its rows.

    Parameters
    ----------
    residual : (h, w) int array
        Of samples of this depth.
    sine : bool
    depth : int

    Returns
    -------
    (R, Q) int64 array
        In 1/8 of an 8-bit sample's unit, -32767 to 32767.
    """
    height, width = residual.shape
    rows, columns = coefficient_shape(height, width)
    seen_bits = min(extra_bits(depth), MOST_SEEN_BITS)
    seen = residual >> (extra_bits(depth) - seen_bits)
    shift = COLUMN_SHIFT - COEFFICIENT_BITS + seen_bits
    half = (basis(height, sine)[:rows] @ seen + (1 << (shift - 1))) >> shift
    half = np.clip(half, -MOST_COEFFICIENT, MOST_COEFFICIENT)
    whole = (half @ basis(width, sine)[:columns].T + (1 << (COLUMN_SHIFT - 1))) >> COLUMN_SHIFT
    return np.clip(whole, -MOST_COEFFICIENT, MOST_COEFFICIENT)


def inverse(
    coefficients: np.ndarray, height: int, width: int, sine: bool, depth: int = BYTE
) -> np.ndarray:
    """Residual of a block: first its columns, then its rows.

    Parameters
    ----------
    coefficients : (R, Q) int array
        -32767 to 32767.
    height, width : int
    sine : bool
    depth : int

    Returns
    -------
    (h, w) int64 array
        In units of samples of this depth.
    """
    rows, columns = coefficients.shape
    half = (basis(height, sine)[:rows].T @ coefficients + (1 << (COLUMN_SHIFT - 1))) >> COLUMN_SHIFT
    half = np.clip(half, -MOST_COEFFICIENT, MOST_COEFFICIENT)
    shift = ROW_SHIFT - extra_bits(depth)
    return (half @ basis(width, sine)[:columns] + (1 << (shift - 1))) >> shift
