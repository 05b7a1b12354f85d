"""Fitted prediction: weighted least squares over the samples before, near ones with more weight.

Source: section "Fitted prediction" of ``docs/format/format.md``; after B. Meyer and P. Tischer,
"Glicbawls: grey level image compression by adaptive weighted least squares", 2001.
"""

from collections.abc import Sequence

import numpy as np

from mmpcodec.reference.integers import limited, truncated

FRACTION_BITS = 6
"""Fitted predictions are in 1/64."""
WEIGHT_BITS = 14
"""Weights are in 1/16384."""
MOST_WEIGHT = 1 << WEIGHT_BITS + 3
MOST_FACTOR = 1 << 30
MOST_VALUE = 1 << 30
"""Limits that keep all products within 63 bits, even if rounding makes the equations singular."""
PRIOR = (5, 5, -3, 1)
"""Weights of the first four regressors, in 1/8, before any sample is known."""


def faded(sums: np.ndarray) -> np.ndarray:
    """Multiply sums by 11/16, in integers."""
    return sums - (sums >> 2) - (sums >> 4)


class FadedSums:
    """Normal equations of the fit: sums whose terms fade with the distance from the sample.

    Each array has a sum for each pair of regressors and, in its last column, for each pair of a
    regressor and the target. The attributes are Q, R, A and Z of the format.

    Parameters
    ----------
    width : int
        Width of the plane in samples.
    regressors : int
        Number N of regressors.
    """

    def __init__(self, width: int, regressors: int):
        shape = regressors, regressors + 1
        self._down = np.zeros((width, *shape), np.int64)
        self._right = np.zeros((width, *shape), np.int64)
        self._left = self._row = np.zeros(shape, np.int64)

    def begin_row(self) -> None:
        """Prepare the sums for a new row."""
        self._left, self._row = np.zeros((2, *self._left.shape), np.int64)
        self._right[-1] = 0
        for column in range(len(self._down) - 1, 0, -1):
            self._right[column - 1] = faded(self._right[column] + self._down[column])

    def at(self, column: int) -> np.ndarray:
        """Return the sums for the sample in a column, a (N, N + 1) int64 array.

        Columns are visited from left to right, each once in a row.
        """
        self._left = faded(self._left) + self._down[column]
        return faded(self._left + self._right[column]) + self._row

    def add(self, column: int, regressors: np.ndarray, target: int) -> None:
        """Add a coded sample to the sums.

        Parameters
        ----------
        column : int
        regressors : (N,) int array
            Regressors of the sample.
        target : int
            Sample minus its level.
        """
        product = 256 * np.outer(regressors, [*regressors, target])
        self._down[column] = faded(self._down[column]) + product
        self._row = faded(self._row + product)


def fitted_weights(sums: np.ndarray, bits: int) -> list[int]:
    """Solve the normal equations by Gaussian elimination in integers.

    Parameters
    ----------
    sums : (N, N + 1) int64 array
        From ``FadedSums.at``.
    bits : int
        Number of binary digits of the largest sample.

    Returns
    -------
    list of N int
        Weights of the regressors, in 1/16384.
    """
    ridge = max(256, 3 << 2 * bits - 6 if bits > 3 else 0)
    return solved(sums, ridge, [ridge * weight >> 3 for weight in PRIOR])


def solved(sums: np.ndarray, ridge: int, pulls: Sequence[int]) -> list[int]:
    """Solve normal equations with a ridge by Gaussian elimination in integers.

    Parameters
    ----------
    sums : (N, N + 1) int64 array
        Sums of products of regressors, and in the last column with the target.
    ridge : int
        What is added to the diagonal.
    pulls : sequence of int
        What is added to the first entries of the last column: the ridge times prior weights.

    Returns
    -------
    list of N int
        Weights of the regressors, in 1/16384.
    """
    count = len(sums)
    matrix = sums.copy()
    shift = max(0, int(matrix.diagonal().max() + ridge).bit_length() - 29)
    matrix[range(count), range(count)] += ridge
    matrix[: len(pulls), count] += pulls
    rows = [[int(value) for value in row] for row in matrix >> shift]
    for i, pivot in enumerate(rows):
        pivot[i:] = [limited(value, -MOST_VALUE, MOST_VALUE) for value in pivot[i:]]
        pivot[i] = max(pivot[i], 16)
        for r in range(i + 1, count):
            factor = limited(truncated(pivot[r] << 16, pivot[i]), -MOST_FACTOR, MOST_FACTOR)
            for j in range(r, count + 1):
                rows[r][j] -= factor * pivot[j] >> 16
    weights = [0] * count
    for i in reversed(range(count)):
        rest = rows[i][count] << WEIGHT_BITS
        rest -= sum(rows[i][j] * weights[j] for j in range(i + 1, count))
        weights[i] = limited(truncated(rest, rows[i][i]), -MOST_WEIGHT, MOST_WEIGHT)
    return weights


def fitted_prediction(weights: Sequence[int], regressors: np.ndarray, level: int, most: int) -> int:
    """Return the weighted sum of the regressors of a sample, plus its level.

    Parameters
    ----------
    weights : sequence of N int
        From ``fitted_weights``.
    regressors : (N,) int array
        Each minus the level of its plane.
    level : int
        Level of the sample's own plane.
    most : int
        Largest sample.

    Returns
    -------
    int
        In 1/64, 0 to 64 times the largest sample.
    """
    dropped = WEIGHT_BITS - FRACTION_BITS
    drift = sum(a * b for a, b in zip(weights, regressors.tolist(), strict=True))
    fitted = (level << FRACTION_BITS) + ((drift + (1 << dropped - 1)) >> dropped)
    return min(max(fitted, 0), most << FRACTION_BITS)
