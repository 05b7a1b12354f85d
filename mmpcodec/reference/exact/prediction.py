"""Predicting a sample by weights that fit the samples around it, the near ones more.

Source: section "Fitted prediction" of ``docs/format/format.md``; after B. Meyer and P. Tischer,
"Glicbawls: grey level image compression by adaptive weighted least squares", 2001.
"""

import numpy as np

from mmpcodec.reference.integers import limited, truncated

WEIGHT_BITS = 14
MOST_WEIGHT = 1 << WEIGHT_BITS + 3
MOST_FACTOR = 1 << 30
MOST_VALUE = 1 << 31
"""Rounding can leave equations without a solution: limits keep all products within 63 bits."""
PRIOR = (5, 5, -3, 1)
"""Weights, in 1/8, of the first regressors where nothing is known."""


def faded(sums: np.ndarray) -> np.ndarray:
    """13/16 of the sums, as integers."""
    return sums - (sums >> 3) - (sums >> 4)


class FadedSums:
    """Sums of products of regressors, of regressors and target, faded with the distance.

    Parameters
    ----------
    width : int
        Of the plane.
    regressors : int
        Their number N.
    """

    def __init__(self, width: int, regressors: int):
        shape = regressors, regressors + 1
        self._down = np.zeros((width, *shape), np.int64)
        self._right = np.zeros((width, *shape), np.int64)
        self._left = self._row = np.zeros(shape, np.int64)

    def begin_row(self) -> None:
        """Before the first sample of a row."""
        self._left, self._row = np.zeros((2, *self._left.shape), np.int64)
        self._right[-1] = 0
        for column in range(len(self._down) - 1, 0, -1):
            self._right[column - 1] = faded(self._right[column] + self._down[column])

    def at(self, column: int) -> np.ndarray:
        """(N, N + 1) int64 sums for the next sample, which is in this column."""
        self._left = faded(self._left) + self._down[column]
        return faded(self._left + self._right[column]) + self._row

    def add(self, column: int, regressors: np.ndarray, target: int) -> None:
        """Take in what came of this sample."""
        product = 256 * np.outer(regressors, [*regressors, target])
        self._down[column] = faded(self._down[column]) + product
        self._row = faded(self._row + product)


def fitted_weights(sums: np.ndarray, bits: int) -> list[int]:
    """Weights of the regressors in 2**-14.

    Parameters
    ----------
    sums : (N, N + 1) int64 array
        Of ``FadedSums``.
    bits : int
        That the largest sample has.
    """
    count = len(sums)
    ridge = max(256, 3 << 2 * bits - 7 if bits > 3 else 0)
    matrix = sums.copy()
    shift = max(0, int(matrix.diagonal().max() + ridge).bit_length() - 30)
    matrix[range(count), range(count)] += ridge
    for i, weight in enumerate(PRIOR):
        matrix[i, count] += ridge * weight >> 3
    rows = [[int(value) for value in row] for row in matrix >> shift]
    for i, pivot in enumerate(rows):
        pivot[i:] = [limited(value, MOST_VALUE) for value in pivot[i:]]
        pivot[i] = max(pivot[i], 16)
        for r in range(i + 1, count):
            factor = limited(truncated(pivot[r] << 16, pivot[i]), MOST_FACTOR)
            for j in range(r, count + 1):
                rows[r][j] -= factor * pivot[j] >> 16
    weights = [0] * count
    for i in reversed(range(count)):
        rest = rows[i][count] << WEIGHT_BITS
        rest -= sum(rows[i][j] * weights[j] for j in range(i + 1, count))
        weights[i] = limited(truncated(rest, rows[i][i]), MOST_WEIGHT)
    return weights
