"""Intra prediction of a block from the decoded samples around it.

Source: section "Prediction" of ``docs/format/format.md``; ``templates`` has mode 36, and ``planes``
modes 37 and 38.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from mmpcodec.depth import BYTE, middle, most
from mmpcodec.reference.blocks.partition import (
    AVERAGE,
    CONSTANT,
    FIRST_ANGLE,
    PLANAR,
    UNIT,
    BlockPlace,
    Units,
)

_STEEP = (32, 26, 21, 17, 13, 9, 5, 2)
_HALF_TURN = (*_STEEP, 0, *(-slope for slope in reversed(_STEEP)))
SLOPES = (*_HALF_TURN, *reversed(_HALF_TURN[:-1]))
"""Slope of each angle, in 1/32 of a sample for each row or column."""
FIRST_FROM_ABOVE = 16
"""First angle that predicts from the row above; lower angles predict from the column left."""
STRAIGHT = HORIZONTAL, VERTICAL = 8, 24
"""Angles along the rows and along the columns."""
SMOOTHED_FROM = 20
"""Least height plus width of a block whose references are smoothed."""


def _interpolation() -> np.ndarray:
    """Return the weights of four successive samples, by position between the second and the third.

    Returns
    -------
    (32, 4) int array
        In 1/64; the position is in 1/32 of the distance.
    """
    f = np.arange(32)
    c0 = (-1024 * f + 64 * f**2 - f**3 + 512) >> 10
    c1 = (65536 - 160 * f**2 + 3 * f**3 + 512) >> 10
    c3 = (-32 * f**2 + f**3 + 512) >> 10
    return np.stack([c0, c1, 64 - c0 - c1 - c3, c3], axis=1)


INTERPOLATION = _interpolation()


@dataclass(frozen=True)
class References:
    """Decoded samples next to a block, from which modes 1 to 35 predict it.

    Parameters
    ----------
    above : (w + h,) int array
        Samples of the row above, from the block's first column on (T in the format). Beyond the
        decoded samples the last one is repeated.
    left : (w + h,) int array
        Samples of the column left, from the block's first row on (Z), with the same repetition.
    corner : int
        Sample above and left of the block's first sample (K).
    """

    above: np.ndarray
    left: np.ndarray
    corner: int

    def transposed(self) -> "References":
        """Return the references of the transposed block."""
        return References(self.left, self.above, self.corner)

    def smoothed(self) -> "References":
        """Return the references smoothed by the weights (1, 2, 1) / 4."""

        def smooth(line: np.ndarray) -> np.ndarray:
            around = np.concatenate([[self.corner], line, line[-1:]])
            return (around[:-2] + 2 * line + around[2:] + 2) >> 2

        corner = (int(self.above[0]) + 2 * self.corner + int(self.left[0]) + 2) >> 2
        return References(smooth(self.above), smooth(self.left), corner)


def references(
    samples: np.ndarray, units: Units, place: BlockPlace, depth: int = BYTE
) -> References:
    """Collect the references of a block from the decoded samples.

    Parameters
    ----------
    samples : (H, W) uint8 or uint16 array
        The padded picture; only decoded samples are read.
    units : Units
        Says which samples are decoded.
    place : BlockPlace
    depth : int
        Bits of a sample.
    """
    row, column, length = place.row, place.column, place.height + place.width
    of_above, of_left = decoded_references(units, place)
    above: np.ndarray | None = None
    left: np.ndarray | None = None
    if row > 0:
        above = _line(samples[row - 1, column:], of_above, length)
    if column > 0:
        left = _line(samples[row:, column - 1], of_left, length)
    return surrounding(above, left, int(samples[row - 1, column - 1]), length, depth)


def surrounding(
    above: np.ndarray | None, left: np.ndarray | None, corner: int, length: int, depth: int = BYTE
) -> References:
    """Make references at the borders of the picture, where one or both lines do not exist.

    Parameters
    ----------
    above, left : (length,) int arrays or None
        None for a line beyond the picture.
    corner : int
        Used only if both lines exist.
    length : int
        Height plus width of the block.
    depth : int
        Bits of a sample.
    """
    if above is not None and left is not None:
        return References(above, left, corner)
    found = above if above is not None else left
    first = middle(depth) if found is None else int(found[0])
    missing = np.full(length, first)
    return References(missing if above is None else above, missing if left is None else left, first)


def decoded_references(units: Units, place: BlockPlace) -> tuple[int, int]:
    """Return the numbers of decoded references above and left of a block.

    They end before the first unit that is not decoded.
    """
    row, column, length = place.row // UNIT, place.column // UNIT, place.height + place.width

    def count(decoded: np.ndarray) -> int:
        known = len(decoded) if decoded.all() else int(decoded.argmin())
        return min(UNIT * known, length)

    return (
        count(units.decoded[row - 1, column:]) if row > 0 else 0,
        count(units.decoded[row:, column - 1]) if column > 0 else 0,
    )


def _line(samples: np.ndarray, known: int, length: int) -> np.ndarray:
    """Take the known samples of a line; repeat the last to a length."""
    return samples[np.minimum(np.arange(length), known - 1)].astype(np.int64)


def predict(
    mode: int,
    samples: np.ndarray,
    units: Units,
    place: BlockPlace,
    depth: int = BYTE,
    *,
    pdpc: bool = False,
) -> np.ndarray:
    """Predict a block in any mode but templates.

    Parameters
    ----------
    mode : int
        0 to 35.
    samples : (H, W) uint8 or uint16 array
        The padded picture; only decoded samples are read.
    units : Units
        Says which samples are decoded.
    place : BlockPlace
    depth : int
        Bits of a sample.
    pdpc : bool
        Whether predictions are blended with the references; see ``blended``.

    Returns
    -------
    (h, w) int64 array
        Predicted samples, 0 to ``2**depth - 1``.
    """
    around = references(samples, units, place, depth)
    predicted = predict_from(mode, around, place.height, place.width, depth)
    return blended(mode, predicted, around, depth) if pdpc else predicted


def predict_from(
    mode: int, around: References, height: int, width: int, depth: int = BYTE
) -> np.ndarray:
    """Predict a block of a height and width from its references, in modes 0 to 35.

    Returns
    -------
    (h, w) int64 array
        Predicted samples, 0 to ``2**depth - 1``.
    """
    if mode == CONSTANT:
        return np.full((height, width), middle(depth))
    if mode == AVERAGE:
        total = int(around.above[:width].sum() + around.left[:height].sum())
        return np.full((height, width), (total + (width + height) // 2) // (width + height))
    if mode == PLANAR:
        return planar(around, height, width)
    return angular(mode - FIRST_ANGLE, around, height, width, depth)


def planar(around: References, height: int, width: int) -> np.ndarray:
    """Predict a block by the mean of a linear interpolation along rows and one along columns."""
    i, j = np.arange(height)[:, None], np.arange(width)
    rows = (width - 1 - j) * around.left[:height, None] + (j + 1) * around.above[width]
    columns = (height - 1 - i) * around.above[:width] + (i + 1) * around.left[height]
    return (rows * height + columns * width + height * width) // (2 * height * width)


def angular(
    angle: int, around: References, height: int, width: int, depth: int = BYTE
) -> np.ndarray:
    """Predict each sample by the reference that a line at an angle, 0 to 32, hits from it."""
    if angle not in STRAIGHT and height + width >= SMOOTHED_FROM:
        around = around.smoothed()
    if angle >= FIRST_FROM_ABOVE:
        predicted = _from_above(SLOPES[angle], around, height, width)
    else:
        predicted = _from_above(SLOPES[angle], around.transposed(), width, height).T
    return np.clip(predicted, 0, most(depth))


def _from_above(slope: int, around: References, height: int, width: int) -> np.ndarray:
    """Predict by a slope from the references above; the result may exceed the sample range."""
    away, places, weights = _lines(slope, height, width)
    above = around.above
    line = np.concatenate([around.left[away], [around.corner], above, above[-1:], above[-1:]])
    return ((line[places] * weights).sum(axis=0) + 32) >> 6


@cache
def _lines(slope: int, height: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which references the lines of a slope hit, from each sample of a block.

    Returns
    -------
    away : (h,) or (0,) int array
        The references left that come before the corner in a slope below 0.
    places : (4, h, w) int array
        Four successive references, counted from the first of ``away``.
    weights : (4, h, 1) int array
        In 1/64.
    """
    away = np.arange(0)
    if slope < 0:
        away = (32 * np.arange(height, 0, -1) + -slope // 2) // -slope - 1
        away = np.minimum(away, height + width - 1)
    way = slope * np.arange(1, height + 1)
    first = len(away) + (way >> 5)[:, None] + np.arange(width)
    return away, first + np.arange(4)[:, None, None], INTERPOLATION[way % 32].T[:, :, None]


def blended(mode: int, predicted: np.ndarray, around: References, depth: int = BYTE) -> np.ndarray:
    """Blend a prediction with the references beside it: section "PDPC" of the format.

    A reference counts most for the samples next to it, and nothing further inside. Modes without a
    reference that is better than their own prediction stay as they are: the constant, and angles
    between the rows and the columns.

    Parameters
    ----------
    mode : int
        0 to 35.
    predicted : (h, w) int64 array
        From ``predict_from``.
    around : References
    depth : int
        Bits of a sample.
    """
    height, width = predicted.shape
    i, j = np.arange(height)[:, None], np.arange(width)
    down, right = _weights(i, height, width), _weights(j, height, width)
    smooth = around.smoothed() if height + width >= SMOOTHED_FROM else around
    angle = mode - FIRST_ANGLE
    if mode in (AVERAGE, PLANAR):
        sides = right * smooth.left[:height, None] + down * smooth.above[:width]
        found = (sides + (64 - right - down) * predicted + 32) >> 6
    elif angle == VERTICAL:
        found = predicted + ((right * (around.left[:height, None] - around.corner) + 32) >> 6)
    elif angle == HORIZONTAL:
        found = predicted + ((down * (around.above[:width] - around.corner) + 32) >> 6)
    elif mode != CONSTANT and SLOPES[angle] > 0:
        if angle >= FIRST_FROM_ABOVE:
            found = _with_far_side(SLOPES[angle], predicted, smooth.left, right[None], i, j)
        else:
            found = _with_far_side(
                SLOPES[angle], predicted.T, smooth.above, down.T, j[:, None], i.T
            )
            found = found.T
    else:
        return predicted
    return np.clip(found, 0, most(depth))


def _weights(places: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return the weight, in 1/64, of a reference by the distance from it, counted from 0."""
    log2 = (height * width).bit_length() - 1
    return 32 >> np.minimum(31, 2 * places >> ((log2 - 2) >> 2))


def _with_far_side(
    slope: int,
    predicted: np.ndarray,
    side: np.ndarray,
    weight: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
) -> np.ndarray:
    """Blend a prediction from above with the references left that its lines hit further down."""
    inverse = (16384 + slope // 2) // slope
    place = i + ((inverse * (j + 1) + 256) >> 9)
    far = side[np.minimum(place, len(side) - 1)]
    found = (weight * far + (64 - weight) * predicted + 32) >> 6
    return np.where(place < len(side), found, predicted)
