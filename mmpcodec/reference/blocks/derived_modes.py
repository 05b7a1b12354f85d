"""Weights of the angles, derived from the gradients of the decoded samples around a block.

Source: section "Derived modes" of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.reference.blocks.partition import FIRST_ANGLE, LEAST_SQUARES, MODES, BlockPlace, Units
from mmpcodec.reference.blocks.prediction import HORIZONTAL, SLOPES, VERTICAL, decoded_references

LINES = 3
"""Rows above a block, and columns left of it, that the gradients see."""
LIMITS = np.array([2, 7, 14, 22, 30, 38, 47, 58])
"""Least ratios, in 1/64, of the smaller to the larger part of a gradient that turns the angle by 1
to 8 from the straight one."""
NEARBY = np.array([1, 2, 3, 2, 1])
"""Parts of the gradients of an angle, and of its neighbours, in its weight."""
LEAST_WEIGHT, PLAIN_WEIGHT, WEIGHT_BITS = 2, 10, 3
"""Weight of an angle without gradients, weight of the modes that are no angles, and the number of
fraction bits of both."""


def gradients_by_angle(samples: np.ndarray, units: Units, place: BlockPlace) -> np.ndarray:
    """Sum the sizes of the gradients around a block by the angles that run across them.

    Parameters
    ----------
    samples : (H, W) uint8 or uint16 array
        The padded picture; only decoded samples are read.
    units : Units
        Says which samples are decoded.
    place : BlockPlace

    Returns
    -------
    (33,) int64 array
    """
    above, left = decoded_references(units, place)
    found = np.zeros(len(SLOPES), np.int64)
    row, column = place.row, place.column
    if above:
        first = column - LINES if left else column
        _add(samples[row - LINES : row, first : column + above], found)
    if left:
        first = row - LINES + 1 if above else row
        _add(samples[first : row + left, column - LINES : column], found)
    return found


def _add(samples: np.ndarray, found: np.ndarray) -> None:
    """Add the gradients of all samples that have eight neighbours among these samples."""
    s = samples.astype(np.int64)
    across = s[:, 2:] - s[:, :-2]
    down = s[2:] - s[:-2]
    x = across[:-2] + 2 * across[1:-1] + across[2:]
    y = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    large, small = np.maximum(abs(x), abs(y)), np.minimum(abs(x), abs(y))
    turn = (64 * small[..., None] >= LIMITS * large[..., None]).sum(axis=-1)
    turn = np.where((x < 0) != (y < 0), -turn, turn)
    angles = np.where(abs(x) >= abs(y), VERTICAL + turn, HORIZONTAL - turn)
    np.add.at(found, angles, large + small)


def angle_weights(samples: np.ndarray, units: Units, place: BlockPlace) -> np.ndarray:
    """Return the weight of each angle for a block; parameters as in ``gradients_by_angle``.

    Returns
    -------
    (33,) int64 array
        In 1/8.
    """
    by_angle = gradients_by_angle(samples, units, place)
    nearby = np.convolve(by_angle, NEARBY, "same")
    return LEAST_WEIGHT + 32 * nearby // (3 * max(int(by_angle.sum()), 1))


def weighted(frequencies: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Weigh the frequencies of the modes; a frequency above 0 remains at least 1.

    Parameters
    ----------
    frequencies : (38,) int64 array
    angles : (33,) int64 array
        Weights of the angles.
    """
    weights = np.full(MODES, PLAIN_WEIGHT)
    weights[FIRST_ANGLE:LEAST_SQUARES] = angles
    return np.where(frequencies > 0, np.maximum(frequencies * weights >> WEIGHT_BITS, 1), 0)
