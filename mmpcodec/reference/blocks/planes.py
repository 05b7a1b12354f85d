"""Prediction of a block from the planes of its picture that are decoded before its own.

Source: section "Cross-component prediction" of ``docs/format/format.md``.
"""

from collections.abc import Sequence

import numpy as np

from mmpcodec.depth import BYTE, extra_bits, middle, most
from mmpcodec.reference.blocks.partition import WIDE_CROSS_COMPONENT, BlockPlace
from mmpcodec.reference.integers import limited, truncated

REACH = 4
"""Number of rows above a block and of columns left of it whose samples the fit uses."""
DIAGONAL = 256
"""Addition to the diagonal of the equations, which keeps the weights small in flat areas."""
WIDE_FROM_LOG2 = 7
"""Binary logarithm of the least area of a block in mode 38."""
AROUND = ((-1, 0), (0, -1), (0, 1), (1, 0))
"""Row and column offsets of the other samples of the first plane that mode 38 uses."""
MOST_WEIGHT = 1 << 14
MOST_FACTOR = 1 << 30
MOST_VALUE = 1 << 32
"""Limits that keep all products within 63 bits, even if rounding makes the equations singular."""


def predict_from_planes(
    mode: int,
    samples: np.ndarray,
    planes: Sequence[np.ndarray],
    place: BlockPlace,
    depth: int = BYTE,
) -> np.ndarray:
    """Predict a block by a weighted sum of samples of earlier planes (modes 37 and 38).

    The weights solve a least-squares problem over the decoded samples above and left of the block.

    Parameters
    ----------
    mode : int
        37 or 38.
    samples : (H, W) uint8 or uint16 array
        The padded picture; only decoded samples are read.
    planes : sequence of one or two (H, W) int64 arrays
        The padded earlier planes.
    place : BlockPlace
    depth : int
        Bits of a sample.

    Returns
    -------
    (h, w) int64 array
        Predicted samples, 0 to ``2**depth - 1``.
    """
    mid, extra = middle(depth), extra_bits(depth)
    top, left = max(0, place.row - REACH), max(0, place.column - REACH)
    end = place.row + place.height, place.column + place.width
    window = np.s_[top : end[0], left : end[1]]
    before = np.ones((end[0] - top, end[1] - left), bool)
    before[place.row - top :, place.column - left :] = False
    regressors = [each[window].astype(np.int64) for each in _regressors(mode, planes)]
    if mode == WIDE_CROSS_COMPONENT:
        first = regressors[0]
        regressors.append(abs(first - int(first[before].sum()) // int(before.sum())))
    values = np.stack(regressors) - mid
    own = samples[window][before].astype(np.int64) - mid
    terms = np.vstack([values[:, before], own])
    count, sums = terms.shape[1], [int(value) for value in terms.sum(axis=1)]
    equations = [
        [
            truncated(256 * (count * int(product) - sums[p] * sums[q]), count << 2 * extra)
            for q, product in enumerate(row)
        ]
        for p, row in enumerate(terms[:-1] @ terms.T)
    ]
    for p, row in enumerate(equations):
        row[p] += 256 * DIAGONAL
    weights = solved(equations)
    rest = 4096 * sums[-1] - sum(weight * own for weight, own in zip(weights, sums, strict=False))
    start = truncated(rest, count) + 2048
    inside = values[:, place.row - top :, place.column - left :]
    total = np.tensordot(np.array(weights), inside, axes=1) + start
    return np.clip((total >> 12) + mid, 0, most(depth))


def _regressors(mode: int, planes: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the samples of earlier planes from which a mode predicts, each an (H, W) array.

    Mode 38 adds a distance, which depends on the block.
    """
    first, *others = planes
    if mode != WIDE_CROSS_COMPONENT:
        return [*planes]
    height, width = first.shape
    rows, columns = np.arange(height)[:, None], np.arange(width)
    around = [
        first[(rows + down).clip(0, height - 1), (columns + right).clip(0, width - 1)]
        for down, right in AROUND
    ]
    return [first, *around, *others]


def solved(equations: Sequence[Sequence[int]]) -> list[int]:
    """Solve the normal equations of a fit by Gaussian elimination in integers.

    Parameters
    ----------
    equations : sequence of n rows of n + 1 int
        At [p][q] the sum of products of regressors p and q, at [p][n] that of regressor p and the
        sample; all times 256.

    Returns
    -------
    list of n int
        Weights of the regressors, in 1/4096.
    """
    m = [list(row) for row in equations]
    count = len(m)
    for i in range(count):
        m[i][i:] = [limited(value, -MOST_VALUE, MOST_VALUE) for value in m[i][i:]]
        m[i][i] = max(m[i][i], 256)
        for r in range(i + 1, count):
            factor = truncated(limited(m[r][i], -MOST_VALUE, MOST_VALUE) << 16, m[i][i])
            factor = limited(factor, -MOST_FACTOR, MOST_FACTOR)
            for k in range(i, count + 1):
                m[r][k] -= factor * m[i][k] >> 16
    weights = [0] * count
    for i in reversed(range(count)):
        rest = sum(m[i][k] * weights[k] for k in range(i + 1, count))
        weight = truncated((m[i][count] << 12) - rest, m[i][i])
        weights[i] = limited(weight, -MOST_WEIGHT, MOST_WEIGHT)
    return weights
