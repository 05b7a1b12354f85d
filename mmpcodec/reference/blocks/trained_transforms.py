"""Trained transforms of the low frequencies of a block.

Source: section "Trained transforms" of ``docs/format/format.md``. The forward transform is
*encoder only*.
"""

from functools import cache

import numpy as np

from mmpcodec.reference.blocks.partition import FIRST_ANGLE, TEMPLATES, BlockPlace
from mmpcodec.reference.blocks.prediction import FIRST_FROM_ABOVE
from mmpcodec.reference.blocks.transform import MOST_COEFFICIENT
from mmpcodec.runtime import kernels

LOW_SIDE = 6
"""Largest number of rows, and of columns, of low frequencies."""
ENTRY_BITS = 7
"""An entry of a matrix is in 1/128."""
GROUPS = 5
"""Number of groups of modes."""
SIZES = tuple(
    (group, high, wide)
    for group in range(GROUPS)
    for high in (4, LOW_SIDE)
    for wide in (4, LOW_SIDE)
    if group >= 2 or high <= wide
)
"""Group of modes, and rows and columns of low frequencies, of each matrix in the order of the
table. The modes of the first two groups are no angles: where such a block has more rows than
columns, it is turned."""


@cache
def matrices() -> dict[tuple[int, int, int], np.ndarray]:
    """Return the trained matrices, (n, n) int64 arrays of n low frequencies, by ``SIZES``."""
    entries, start, found = kernels.table("trained_transforms", np.int8).astype(np.int64), 0, {}
    for group, high, wide in SIZES:
        count = high * wide
        end = start + count * count
        found[group, high, wide] = entries[start:end].reshape(count, count)
        start = end
    return found


def group_of(mode: int) -> int:
    """Return the group of a mode, 0 to 4.

    0 for modes 0 to 2, 1 for modes 36 to 38; for angles 2 to 4, by the distance from the
    diagonal.
    """
    if not FIRST_ANGLE <= mode < TEMPLATES:
        return int(mode >= TEMPLATES)
    apart = abs(mode - FIRST_ANGLE - FIRST_FROM_ABOVE)
    return 2 + (apart >= 6) + (apart >= 11)


def is_turned(place: BlockPlace, mode: int) -> bool:
    """Return whether a block has the transform of the block with rows and columns swapped."""
    if FIRST_ANGLE <= mode < TEMPLATES:
        return mode < FIRST_ANGLE + FIRST_FROM_ABOVE
    return place.height > place.width


def low_shape(place: BlockPlace, mode: int) -> tuple[int, int]:
    """Return the numbers of rows and of columns of low frequencies, after a turn."""
    high, wide = min(place.height, LOW_SIDE), min(place.width, LOW_SIDE)
    return (wide, high) if is_turned(place, mode) else (high, wide)


def forward_low(coefficients: np.ndarray, place: BlockPlace, mode: int) -> np.ndarray:
    """Transform the low frequencies of the cosine transform of a block.

    Parameters
    ----------
    coefficients : (R, Q) int array
        In 1/8 of a unit of 8-bit samples, -32767 to 32767.
    place : BlockPlace
    mode : int

    Returns
    -------
    (R, Q) int64 array
        The coefficients, of which the low frequencies are transformed.
    """
    return _replaced(coefficients, place, mode, back=False)


def inverse_low(coefficients: np.ndarray, place: BlockPlace, mode: int) -> np.ndarray:
    """Turn what ``forward_low`` returns back into coefficients of the cosine transform."""
    return _replaced(coefficients, place, mode, back=True)


def _replaced(coefficients: np.ndarray, place: BlockPlace, mode: int, *, back: bool) -> np.ndarray:
    """Return coefficients with their low frequencies transformed, forward or back."""
    whole = coefficients.astype(np.int64)
    turned = is_turned(place, mode)
    height, width = (place.width, place.height) if turned else (place.height, place.width)
    high, wide = low_shape(place, mode)
    low = (whole.T if turned else whole)[:high, :wide]
    rows, columns = np.indices(low.shape).reshape(2, -1)
    order = np.argsort(rows * width + columns * height, kind="stable")
    by_row, scanned = (rows, columns), (rows[order], columns[order])
    matrix = matrices()[group_of(mode), high, wide]
    values = matrix.T @ low[scanned] if back else matrix @ low[by_row]
    rounded = (values + (1 << (ENTRY_BITS - 1))) >> ENTRY_BITS
    low[by_row if back else scanned] = np.clip(rounded, -MOST_COEFFICIENT, MOST_COEFFICIENT)
    return whole
