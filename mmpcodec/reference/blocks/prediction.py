"""Prediction of a block from the decoded samples around it.

Source: section "Prediction" of ``docs/format/format.md``.
"""

from dataclasses import dataclass

import numpy as np

from mmpcodec.depth import BYTE, extra_bits, middle, most
from mmpcodec.reference.blocks.partition import (
    AVERAGE,
    CONSTANT,
    FIRST_ANGLE,
    LEAST_SQUARES,
    PLANAR,
    UNIT,
    BlockPlace,
    Units,
)
from mmpcodec.reference.integers import limited, truncated

_STEEP = (32, 26, 21, 17, 13, 9, 5, 2)
_HALF_TURN = (*_STEEP, 0, *(-slope for slope in reversed(_STEEP)))
SLOPES = (*_HALF_TURN, *reversed(_HALF_TURN[:-1]))
"""Samples along the line for 32 rows away from it, by angle."""
FIRST_FROM_ABOVE = 16
STRAIGHT = (8, 24)
"""Angles along the rows and along the columns."""
SMOOTHED_FROM = 20
"""Height plus width of the blocks whose references are smoothed."""

NEIGHBOURS = ((0, -1), (-1, 0), (-1, -1), (-1, 1), (0, -2), (-2, 0))
"""Rows and columns, counted from a sample, of those that least squares predict it from."""
LEAST_SQUARES_MARGIN = 8
"""First row and column of a block that mode 36 needs."""
TRAINED = 6
"""Rows and columns around a block that the weights are fitted to."""
MOST_WEIGHT = 1 << 14
MOST_FACTOR = 1 << 30
MOST_VALUE = 1 << 32
"""Rounding can leave equations without a solution: limits keep all products within 63 bits."""


def _interpolation() -> np.ndarray:
    """Weights in 2**-6 of four samples in a row, by 1/32 of the way between the middle two."""
    f = np.arange(32)
    c0 = (-1024 * f + 64 * f**2 - f**3 + 512) >> 10
    c1 = (65536 - 160 * f**2 + 3 * f**3 + 512) >> 10
    c3 = (-32 * f**2 + f**3 + 512) >> 10
    return np.stack([c0, c1, 64 - c0 - c1 - c3, c3], axis=1)


INTERPOLATION = _interpolation()


@dataclass(frozen=True)
class References:
    """The decoded samples next to a block.

    Parameters
    ----------
    above : (w + h,) int array
        From the block's first column on; the last is repeated where there are no more.
    left : (w + h,) int array
        From the block's first row on, likewise.
    corner : int
        That above the one and left of the other.
    """

    above: np.ndarray
    left: np.ndarray
    corner: int

    def transposed(self) -> "References":
        return References(self.left, self.above, self.corner)

    def smoothed(self) -> "References":
        """All smoothed with the weights 1, 2, 1."""

        def smooth(line: np.ndarray) -> np.ndarray:
            around = np.concatenate([[self.corner], line, line[-1:]])
            return (around[:-2] + 2 * line + around[2:] + 2) >> 2

        corner = (int(self.above[0]) + 2 * self.corner + int(self.left[0]) + 2) >> 2
        return References(smooth(self.above), smooth(self.left), corner)


def references(
    samples: np.ndarray, units: Units, place: BlockPlace, depth: int = BYTE
) -> References:
    """The samples around a block, as far as they are decoded.

    Parameters
    ----------
    samples : (H, W) uint8 or uint16 array
        The padded picture; what is not decoded is not used.
    units : Units
    place : BlockPlace
    depth : int
    """
    row, column, length = place.row, place.column, place.height + place.width
    above: np.ndarray | None = None
    left: np.ndarray | None = None
    if row > 0:
        decoded = units.decoded[row // UNIT - 1, column // UNIT :]
        above = _line(samples[row - 1, column:], decoded, length)
    if column > 0:
        decoded = units.decoded[row // UNIT :, column // UNIT - 1]
        left = _line(samples[row:, column - 1], decoded, length)
    return surrounding(above, left, int(samples[row - 1, column - 1]), length, depth)


def surrounding(
    above: np.ndarray | None, left: np.ndarray | None, corner: int, length: int, depth: int = BYTE
) -> References:
    """References of which those above, those on the left or both may be missing."""
    if above is not None and left is not None:
        return References(above, left, corner)
    found = above if above is not None else left
    first = middle(depth) if found is None else int(found[0])
    missing = np.full(length, first)
    return References(missing if above is None else above, missing if left is None else left, first)


def _line(samples: np.ndarray, decoded: np.ndarray, length: int) -> np.ndarray:
    """The samples of the first units that are decoded, the last repeated up to a length."""
    known = UNIT * (len(decoded) if decoded.all() else int(decoded.argmin()))
    return samples[np.minimum(np.arange(length), known - 1)].astype(np.int64)


def predict(
    mode: int, samples: np.ndarray, units: Units, place: BlockPlace, depth: int = BYTE
) -> np.ndarray:
    """Prediction of a block.

    Parameters
    ----------
    mode : int
    samples : (H, W) uint8 or uint16 array
        The padded picture; what is not decoded is not used.
    units : Units
    place : BlockPlace
    depth : int

    Returns
    -------
    (h, w) int64 array
        Samples of this depth.
    """
    if mode == LEAST_SQUARES:
        return least_squares(samples, units, place, depth)
    around = references(samples, units, place, depth)
    return predict_from(mode, around, place.height, place.width, depth)


def predict_from(
    mode: int, around: References, height: int, width: int, depth: int = BYTE
) -> np.ndarray:
    """Prediction of a block in any mode but least squares: (h, w) int64, samples."""
    if mode == CONSTANT:
        return np.full((height, width), middle(depth))
    if mode == AVERAGE:
        total = int(around.above[:width].sum() + around.left[:height].sum())
        return np.full((height, width), (total + (width + height) // 2) // (width + height))
    if mode == PLANAR:
        return planar(around, height, width)
    return angular(mode - FIRST_ANGLE, around, height, width, depth)


def planar(around: References, height: int, width: int) -> np.ndarray:
    """The mean of what is interpolated along the rows and along the columns."""
    i, j = np.arange(height)[:, None], np.arange(width)
    rows = (width - 1 - j) * around.left[:height, None] + (j + 1) * around.above[width]
    columns = (height - 1 - i) * around.above[:width] + (i + 1) * around.left[height]
    return (rows * height + columns * width + height * width) // (2 * height * width)


def angular(
    angle: int, around: References, height: int, width: int, depth: int = BYTE
) -> np.ndarray:
    """Each sample is that where its line at an angle, 0 to 32, meets the references."""
    if angle not in STRAIGHT and height + width >= SMOOTHED_FROM:
        around = around.smoothed()
    if angle >= FIRST_FROM_ABOVE:
        predicted = _from_above(SLOPES[angle], around, height, width)
    else:
        predicted = _from_above(SLOPES[angle], around.transposed(), width, height).T
    return np.clip(predicted, 0, most(depth))


def _from_above(slope: int, around: References, height: int, width: int) -> np.ndarray:
    """Prediction by an angle of the references above, not limited to the range of samples."""
    before: np.ndarray = np.empty(0, np.int64)
    if slope < 0:
        away = (32 * np.arange(height, 0, -1) + -slope // 2) // -slope - 1
        before = around.left[np.minimum(away, height + width - 1)]
    line = np.concatenate([before, [around.corner], around.above, np.repeat(around.above[-1], 2)])
    way = slope * np.arange(1, height + 1)
    first = len(before) + (way >> 5)[:, None] + np.arange(width)
    weights = INTERPOLATION[way % 32]
    total = sum(weights[:, k, None] * line[first + k] for k in range(4))
    return (total + 32) >> 6


def least_squares(
    samples: np.ndarray, units: Units, place: BlockPlace, depth: int = BYTE
) -> np.ndarray:
    """Each sample is a weighted sum of its neighbours, with weights fitted around the block.

    Neighbours within the block are predicted ones, in 1/16.
    """
    weights = solved(training_sums(samples, units, place, depth))
    mid, limit = middle(depth), 16 * middle(depth)
    height, width = place.height, place.width
    # Two rows above and two columns left of the block, and one column right of it.
    top, left = place.row - 2, place.column - 2
    around = 16 * (samples[top : top + height + 2, left : left + width + 3].astype(int) - mid)
    after = (place.column + width) // UNIT
    if after == units.decoded.shape[1]:
        around = np.pad(around, [(0, 0), (0, 1)])
        known = False
    else:
        known = units.decoded[place.row // UNIT - 1, after]
    values = around.tolist()
    if not known:
        values[1][width + 2] = values[1][width + 1]
    for i in range(2, height + 2):
        for j in range(2, width + 2):
            total = sum(
                weight * values[i + down][j + right]
                for weight, (down, right) in zip(weights, NEIGHBOURS, strict=True)
            )
            values[i][j] = min(max((total + 2048) >> 12, -limit), limit - 1)
        values[i][width + 2] = values[i][width + 1]
    filled = np.array(values)[2:, 2 : width + 2]
    return np.minimum(((filled + 8) >> 4) + mid, most(depth))


def training_sums(
    samples: np.ndarray, units: Units, place: BlockPlace, depth: int = BYTE
) -> np.ndarray:
    """Sums of the products of neighbours, and of neighbours and samples, around a block.

    Returns
    -------
    (6, 7) int64 array
        Over the samples above and left of the block that are decoded as their neighbours are.
    """
    rows = np.arange(max(2, place.row - TRAINED), place.row + place.height)[:, None]
    end = min(units.shape[1] - 1, place.column + place.width + TRAINED)
    columns = np.arange(max(2, place.column - TRAINED), end)

    def decoded(down: int, right: int) -> np.ndarray:
        return units.decoded[(rows + down) // UNIT, (columns + right) // UNIT]

    def before(down: int, right: int) -> np.ndarray:
        return (rows + down < place.row) | (columns + right < place.column)

    used = before(0, 0) & before(-1, 1) & decoded(0, 0) & decoded(-1, 1) & decoded(0, -2)
    row, column = np.nonzero(used)
    row, column = row + rows[0, 0], column + columns[0]
    values = np.stack(
        [samples[row + down, column + right] for down, right in (*NEIGHBOURS, (0, 0))]
    )
    # More bits of the samples do not make better weights.
    values = (values >> extra_bits(depth)).astype(np.int64) - middle(BYTE)
    return values[:-1] @ values.T


def solved(sums: np.ndarray) -> list[int]:
    """The weights of the neighbours, in 2**-12, by elimination in integers.

    Parameters
    ----------
    sums : (6, 7) int64 array
    """
    count = len(NEIGHBOURS)
    m = [[256 * int(value) for value in row] for row in sums]
    for i in range(count):
        m[i][i] += 256 * 60  # ridge: weights stay small where samples are alike
    for i in range(count):
        m[i][i:] = [limited(value, MOST_VALUE) for value in m[i][i:]]
        m[i][i] = max(m[i][i], 256)
        for r in range(i + 1, count):
            factor = truncated(limited(m[r][i], MOST_VALUE) << 16, m[i][i])
            factor = limited(factor, MOST_FACTOR)
            for k in range(i, count + 1):
                m[r][k] -= factor * m[i][k] >> 16
    weights = [0] * count
    for i in reversed(range(count)):
        rest = sum(m[i][k] * weights[k] for k in range(i + 1, count))
        weight = truncated((m[i][count] << 12) - rest, m[i][i])
        weights[i] = limited(weight, MOST_WEIGHT)
    return weights
