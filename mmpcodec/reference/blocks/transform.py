"""Integer transform of a block's residual, and dequantisation of its levels.

Source: section "Transform" of ``docs/format/format.md``. The forward transform is *encoder only*;
it uses integers too, so that every machine writes equal bytes.
"""

from functools import cache

import numpy as np

from mmpcodec.depth import BYTE, extra_bits
from mmpcodec.reference.blocks.partition import BlockPlace

MOST_COEFFICIENT = 32767
"""Largest absolute value of a coefficient."""
MOST_FREQUENCIES = 32
"""Largest number of rows, and of columns, of coefficients."""
COEFFICIENT_BITS = 3
"""Coefficients are in 1/8 of a unit of 8-bit samples."""
COLUMN_SHIFT, ROW_SHIFT = 12, 15
"""Right shifts of the inverse transform of 8-bit samples, after the columns and after the rows."""
MOST_SEEN_BITS = 7
"""Largest number of extra bits that the forward transform keeps, so that its sums fit 32 bits."""


@cache
def basis(side: int, sine: bool) -> np.ndarray:
    """Return the integer basis of the transform along one side of a block.

    Parameters
    ----------
    side : int
        Number of samples: 4, 8, 16, 32 or 64.
    sine : bool
        True for sines, False for cosines.

    Returns
    -------
    (side, side) int64 array
        Frequency k at sample i is at [k, i]; each row has a Euclidean norm near 4096.
    """
    k, i = np.arange(side)[:, None], np.arange(side)
    if sine:
        exact = (
            8192 / np.sqrt(2 * side + 1) * np.sin(np.pi * (2 * k + 1) * (i + 1) / (2 * side + 1))
        )
    else:
        exact = 4096 * np.sqrt((2 - (k == 0)) / side) * np.cos(np.pi * k * (2 * i + 1) / (2 * side))
    return np.rint(exact).astype(np.int64)


def sine_sides(place: BlockPlace, border_sines: bool) -> tuple[bool, bool]:
    """Return along which sides the sine type of a block has sines: its height and its width.

    With *border sines*, it has cosines along a side that has no decoded samples before it, unless
    that holds for both.
    """
    if not border_sines or place.row == place.column == 0:
        return True, True
    return place.row > 0, place.column > 0


def coefficient_shape(height: int, width: int) -> tuple[int, int]:
    """Return the number of rows and of columns of coefficients of a block of a height and width."""
    return min(height, MOST_FREQUENCIES), min(width, MOST_FREQUENCIES)


def dequantised(levels: np.ndarray, step: int) -> np.ndarray:
    """Return the coefficients of levels.

    Parameters
    ----------
    levels : (R, Q) int array
    step : int
        Quantisation step in 1/16 of a unit of 8-bit samples.

    Returns
    -------
    (R, Q) int64 array
        In 1/8 of a unit of 8-bit samples, -32767 to 32767.
    """
    size = np.minimum((np.abs(levels.astype(np.int64)) * step + 1) >> 1, MOST_COEFFICIENT)
    return np.sign(levels) * size


def forward(
    residual: np.ndarray,
    sine: bool,
    depth: int = BYTE,
    sides: tuple[bool, bool] = (True, True),
) -> np.ndarray:
    """Transform a residual into coefficients: first its columns, then its rows.

    Parameters
    ----------
    residual : (h, w) int array
        Differences of samples of this depth.
    sine : bool
        True for sines as the basis, False for cosines.
    depth : int
        Bits of a sample.
    sides : (bool, bool)
        Whether sines are along the height, and along the width; see ``sine_sides``.

    Returns
    -------
    (R, Q) int64 array
        In 1/8 of a unit of 8-bit samples, -32767 to 32767.
    """
    height, width = residual.shape
    rows, columns = coefficient_shape(height, width)
    seen_bits = min(extra_bits(depth), MOST_SEEN_BITS)
    seen = residual >> (extra_bits(depth) - seen_bits)
    shift = COLUMN_SHIFT - COEFFICIENT_BITS + seen_bits
    half = (basis(height, sine and sides[0])[:rows] @ seen + (1 << (shift - 1))) >> shift
    half = np.clip(half, -MOST_COEFFICIENT, MOST_COEFFICIENT)
    across = basis(width, sine and sides[1])[:columns]
    whole = (half @ across.T + (1 << (COLUMN_SHIFT - 1))) >> COLUMN_SHIFT
    return np.clip(whole, -MOST_COEFFICIENT, MOST_COEFFICIENT)


def inverse(
    coefficients: np.ndarray,
    height: int,
    width: int,
    sine: bool,
    depth: int = BYTE,
    sides: tuple[bool, bool] = (True, True),
) -> np.ndarray:
    """Transform coefficients into a residual: first the columns, then the rows.

    Parameters
    ----------
    coefficients : (R, Q) int array
        In 1/8 of a unit of 8-bit samples, -32767 to 32767.
    height, width : int
        Size of the block in samples.
    sine : bool
        True for sines as the basis, False for cosines.
    depth : int
        Bits of a sample.
    sides : (bool, bool)
        As in ``forward``.

    Returns
    -------
    (h, w) int64 array
        Differences of samples of this depth.
    """
    rows, columns = coefficients.shape
    down = basis(height, sine and sides[0])[:rows]
    half = (down.T @ coefficients + (1 << (COLUMN_SHIFT - 1))) >> COLUMN_SHIFT
    half = np.clip(half, -MOST_COEFFICIENT, MOST_COEFFICIENT)
    shift = ROW_SHIFT - extra_bits(depth)
    across = basis(width, sine and sides[1])[:columns]
    return (half @ across + (1 << (shift - 1))) >> shift


def skip_forward(residual: np.ndarray, depth: int = BYTE) -> np.ndarray:
    """Return the coefficients of a block without a transform: its residual, last sample first.

    Parameters
    ----------
    residual : (h, w) int array
        Differences of samples of this depth.
    depth : int
        Bits of a sample.

    Returns
    -------
    (h, w) int64 array
        In 1/8 of a unit of 8-bit samples, -32767 to 32767.
    """
    seen_bits = min(extra_bits(depth), MOST_SEEN_BITS)
    seen = residual.astype(np.int64) >> (extra_bits(depth) - seen_bits)
    rounded = ((seen << COEFFICIENT_BITS) + (1 << seen_bits >> 1)) >> seen_bits
    return np.clip(rounded[::-1, ::-1], -MOST_COEFFICIENT, MOST_COEFFICIENT)


def skip_inverse(coefficients: np.ndarray, depth: int = BYTE) -> np.ndarray:
    """Return the residual of a block without a transform from its coefficients.

    Parameters
    ----------
    coefficients : (h, w) int array
        In 1/8 of a unit of 8-bit samples, -32767 to 32767.
    depth : int
        Bits of a sample.

    Returns
    -------
    (h, w) int64 array
        Differences of samples of this depth.
    """
    residual = coefficients[::-1, ::-1].astype(np.int64) << extra_bits(depth)
    return (residual + (1 << (COEFFICIENT_BITS - 1))) >> COEFFICIENT_BITS
