"""Fitted prediction: a blend of one to three predictors, each a weighted sum of regressors.

Source: section "Fitted prediction" of ``docs/format/format.md``. ``prediction`` solves for the
weights; the predictors differ in their regressors and in the samples that they learn from.
"""

from collections.abc import Sequence

import numpy as np

from mmpcodec.reference.lossless.plane import ABOVE, BESIDE, Counts, Plane, regressors
from mmpcodec.reference.lossless.prediction import (
    FRACTION_BITS,
    FadedSums,
    fitted_prediction,
    fitted_weights,
)

NEAR = 1
"""Columns for which near sums give the same weights."""
NARROW_COUNTS: tuple[Counts, ...] = (18, 0, 0), (6, 9, 0), (6, 9, 6)
WIDE_COUNTS: tuple[Counts, ...] = (18, 0, 0), (10, 20, 0), (10, 20, 9)
NEAR_COUNTS: tuple[Counts, ...] = (6, 0, 0), (4, 3, 0), (4, 2, 2)
"""Numbers of regressors, by the number of earlier planes."""
FAST_PREDICTORS = ((32, NARROW_COUNTS),)
ONE_PREDICTOR = ((32, WIDE_COUNTS),)
THREE_PREDICTORS = (8, NARROW_COUNTS), (NEAR, NEAR_COUNTS), (32, WIDE_COUNTS)
"""Predictors of the fast mode, and of the other forms: columns of a strip, or ``NEAR``, and numbers
of regressors."""
MOST_PREDICTORS = 3
LEAST_LOGARITHM, SPREAD_STEP, MOST_SPREAD = 88, 5, 31
"""Classes of the cost of a predictor: logarithm of class 0, step of a class, last class."""
WIDEST_OF_256 = 16
"""Columns of the widest strip whose products count 256; those of wider ones count 128, so that the
sums of 8-bit samples stay below 2**31."""
LEAST_COST = 64
COSTS = {
    **dict.fromkeys(((0, -1), (-1, 0)), 4),
    **dict.fromkeys(((-1, -1), (-1, 1)), 3),
    **dict.fromkeys(((0, -2), (-2, 0)), 2),
    **dict.fromkeys(((-1, -2), (-1, 2), (-2, -1), (-2, 1), (0, -3), (-3, 0)), 1),
}
"""Factor of the squared error at each row and column offset."""
QUARTERS = (65536, 55109, 46341, 38968)
"""2 to the power of -i/4, in 1/65536."""
FARTHEST = 64
"""Largest distance, in quarters of a doubling of the cost, at which a predictor counts."""


class StripSums:
    """Normal equations of the fit: sums over the rows above, the same for a strip of columns.

    Each array has a sum for each pair of regressors and, in its last column, for each pair of a
    regressor and the target.

    Parameters
    ----------
    width : int
        Width of the plane in samples.
    regressors : int
        Number N of regressors.
    strip : int
        Columns of a strip.
    """

    def __init__(self, width: int, regressors: int, strip: int):
        self._strip = strip
        self._unit = 128 if strip > WIDEST_OF_256 else 256
        shape = -(-width // strip), regressors, regressors + 1
        self._state = np.zeros(shape, np.int64)
        self._row = np.zeros(shape, np.int64)
        self._sums = np.zeros(shape, np.int64)

    def begin_row(self) -> None:
        """Add the row above to the sums, and spread them to the other strips."""
        state = self._state = self._state - share(self._state) + self._row
        self._row = np.zeros_like(state)
        self._sums = state.copy()
        left = right = np.zeros_like(state[0])
        for k in range(1, len(state)):
            left = share(left + state[k - 1])
            self._sums[k] += left
            right = share(right + state[-k])
            self._sums[-k - 1] += right

    def at(self, column: int) -> np.ndarray:
        """Return the sums for the sample in a column, a (N, N + 1) int64 array."""
        return self._sums[column // self._strip]

    def add(self, column: int, regressors: np.ndarray, target: int) -> None:
        """Add a coded sample, as in ``FadedSums``; the sums change with the next row."""
        product = self._unit * np.outer(regressors, [*regressors, target])
        self._row[column // self._strip] += product


class Predictor:
    """One predictor of a plane.

    Parameters
    ----------
    sums : FadedSums or StripSums
    counts : (int, int, int)
        Numbers of regressors.
    strip : int
        Columns with the same weights.
    most : int
        Largest sample.
    """

    def __init__(self, sums: FadedSums | StripSums, counts: Counts, strip: int, most: int):
        self.sums, self.counts, self.strip, self.most = sums, counts, strip, most
        self._weights: list[int] = []
        self._found = np.zeros(0, np.int64)

    def fit(self, column: int, level: int, parts: Sequence[np.ndarray]) -> int:
        """Return the prediction of a sample, in 1/64.

        Parameters
        ----------
        column : int
            Column of the sample; columns are visited from left to right.
        level : int
        parts : sequence of int64 arrays
            The regressors of the own plane and of each earlier plane, of which the first are used.
        """
        used = [part[:count] for part, count in zip(parts, self.counts, strict=False)]
        self._found = np.concatenate(used)
        if column % self.strip == 0:
            self._weights = fitted_weights(self.sums.at(column), self.most.bit_length())
        return fitted_prediction(self._weights, self._found, level, self.most)

    def learn(self, column: int, target: int) -> None:
        """Add the sample that was predicted last to the sums."""
        self.sums.add(column, self._found, target)


class Blend:
    """The predictors of a plane and their blend.

    Parameters
    ----------
    plane : Plane
        The plane to code.
    before : sequence of Plane
        The earlier planes, the last one first.
    predictors : sequence of (int, tuple)
        The predictors in use.

    Attributes
    ----------
    fits : list of 3 int
        Predictions of the last sample, in 1/64; with one predictor three times the same.
    spreads : list of 3 int
        Classes 0 to 31 of the costs of the predictors; with one predictor 0.
    """

    def __init__(self, plane: Plane, before: Sequence[Plane], predictors: Sequence):
        self.plane, self.before = plane, before
        self.predictors = []
        for strip, by_planes in predictors:
            counts = by_planes[len(before)]
            regressors = sum(counts)
            sums = (
                FadedSums(plane.width, regressors)
                if strip == NEAR
                else StripSums(plane.width, regressors, strip)
            )
            self.predictors.append(Predictor(sums, counts, strip, plane.most))
        counted = [predictor.counts for predictor in self.predictors]
        self.counts: Counts = tuple(map(max, zip(*counted, strict=True)))
        self.squares = np.zeros((len(predictors), *plane.samples.shape), np.int64)
        self._row = self._column = self._level = 0
        self.fits = self.spreads = [0] * MOST_PREDICTORS

    def begin_row(self) -> None:
        """Prepare the sums for a new row."""
        for predictor in self.predictors:
            predictor.sums.begin_row()

    def fit(self, row: int, column: int) -> int:
        """Return the fitted prediction of a sample, in 1/64."""
        self._row, self._column = row, column
        self._level, parts = regressors(self.plane, self.before, row, column, self.counts)
        self.fits = [predictor.fit(column, self._level, parts) for predictor in self.predictors]
        if len(self.fits) == 1:
            self.fits *= MOST_PREDICTORS
            return self.fits[0]
        r, c = row + ABOVE, column + BESIDE
        costs = [
            LEAST_COST + sum(factor * int(own[r + i, c + j]) for (i, j), factor in COSTS.items())
            for own in self.squares
        ]
        self.spreads = [spread(cost) for cost in costs]
        return blended(self.fits, costs)

    def pass_over(self, row: int, column: int) -> None:
        """Learn a sample that needs no prediction."""
        self.fit(row, column)
        self.learn(int(self.plane.inner[row, column]))

    def learn(self, sample: int) -> None:
        """Learn the sample that was predicted last."""
        r, c = self._row + ABOVE, self._column + BESIDE
        for k, predictor in enumerate(self.predictors):
            predictor.learn(self._column, sample - self._level)
            self.squares[k, r, c] = ((sample << FRACTION_BITS) - self.fits[k]) ** 2


def blended(fits: Sequence[int], costs: Sequence[int]) -> int:
    """Return the mean of predictions, weighted by their costs to the power of -2.

    Parameters
    ----------
    fits : sequence of int
        Predictions (p in the format).
    costs : sequence of int
        Faded sums of their squared errors near the sample, at least 64 (T in the format).
    """
    logarithms = [logarithm(cost) for cost in costs]
    weights = [weight(own - min(logarithms)) for own in logarithms]
    total = sum(weights)
    return ((total >> 1) + sum(y * p for y, p in zip(weights, fits, strict=True))) // total


def logarithm(cost: int) -> int:
    """Return the binary logarithm of a cost of at least 64, in 1/8, linear between powers of 2."""
    k = cost.bit_length() - 1
    return 8 * k + (cost >> k - 3) % 8


def spread(cost: int) -> int:
    """Return the class of a cost, from 0 to 31."""
    return min(max((logarithm(cost) - LEAST_LOGARITHM) // SPREAD_STEP, 0), MOST_SPREAD)


def weight(distance: int) -> int:
    """Return the weight of a predictor by the distance of its logarithm from the least one."""
    return 0 if distance > FARTHEST else QUARTERS[distance % 4] >> (distance >> 2)


def share(sums: np.ndarray) -> np.ndarray:
    """Return 3/16 of sums, in integers: what a row drops, and what a strip gives to the next."""
    return (sums >> 3) + (sums >> 4)
