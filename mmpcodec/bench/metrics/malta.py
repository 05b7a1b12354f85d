"""Malta: how much two planes differ along short lines of 16 directions, as Butteraugli has it."""

import numpy as np

SPARSE = (
    *(((0, 2), (0, 4)), ((2, 0), (4, 0)), ((2, 2), (3, 3)), ((2, -2), (3, -3))),
    *(((2, -1), (4, -1)), ((2, 1), (4, 1)), ((1, 2), (1, 4)), ((-1, 2), (-1, 4))),
    *(((2, 1), (3, 2)), ((2, -1), (3, -2)), ((1, 2), (2, 3)), ((1, -2), (2, -3))),
    *(((1, -2), (2, -4)), ((1, 2), (2, 4)), ((2, 1), (4, 2)), ((2, -1), (4, -2))),
)
"""Lines of every other sample: rows and columns from the middle to one end; the other is opposite.

"""

_STEEP = tuple(((1, 0), (2, side), (3, side), (4, side)) for side in (-1, 1))
_FLAT = tuple(((0, 1), (side, 2), (side, 3), (side, 4)) for side in (-1, 1))

DENSE = (
    *(((0, 1), (0, 2), (0, 3), (0, 4)), ((1, 0), (2, 0), (3, 0), (4, 0))),
    *(((1, 1), (2, 2), (3, 3)), ((1, -1), (2, -2), (3, -3))),
    *(((1, 1), (2, 1), (3, 2)), ((1, -1), (2, -1), (3, -2))),
    *(((1, 1), (1, 2), (2, 3)), ((1, -1), (1, -2), (2, -3))),
    *(2 * _STEEP),
    *(2 * _FLAT),
)
"""Lines of adjacent samples; four of them count twice."""

_REACH = 4
_GAIN = {SPARSE: 0.611612573796, DENSE: 0.39905817637}
_LENGTH = 2 * 3.75 + 1


def malta(
    a: np.ndarray, b: np.ndarray, weight: float, norm: float, lines: tuple = DENSE
) -> np.ndarray:
    """Return the sum of squares of the sums of weighted differences along each line.

    Parameters
    ----------
    a, b : (H, W) arrays of float32
        A band of the original, and of the decoded picture.
    weight, norm : float
        Weight of differences, and the level from which they count less.
    lines : tuple
        ``SPARSE`` or ``DENSE``.
    """
    padded = np.pad(_differences(a, b, weight, norm, _GAIN[lines] / _LENGTH), _REACH)
    height, width = a.shape

    def shifted(row: int, column: int) -> np.ndarray:
        row, column = row + _REACH, column + _REACH
        return padded[row : row + height, column : column + width]

    pairs = {
        (row, column): shifted(row, column) + shifted(-row, -column)
        for row, column in {place for line in lines for place in line}
    }
    middle = shifted(0, 0)
    found = np.zeros_like(a)
    for line in lines:
        total = middle + sum(pairs[place] for place in line)
        found += total * total
    return found


def half_open(a: np.ndarray, b: np.ndarray, least: float, most: float) -> np.ndarray:
    """Return by how much ``b``, seen along ``a``, is below ``least * |a|`` or above ``most * |a|``.

    Amounts below are positive, those above negative.
    """
    size, along = np.abs(a), np.where(a < 0, -b, b)
    return np.maximum(least * size - along, 0) - np.maximum(along - most * size, 0)


def _differences(
    a: np.ndarray, b: np.ndarray, weight: float, norm: float, gain: float
) -> np.ndarray:
    """Return differences that count less where both planes are large, and more if ``b`` strays."""
    level = norm / (norm + (np.abs(a) + np.abs(b)) / 2)
    both, strays = gain * (0.5 * weight) ** 0.5, gain * (0.33 * weight) ** 0.5
    stray = half_open(a, b, 0.55, 1.05)
    return level * (both * (a - b) + strays * np.where(a < 0, -stray, stray))
