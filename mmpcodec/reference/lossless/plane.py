"""A plane of lossless samples with its margins, and the places of its regressors.

Source: sections "Lossless samples" and "Fitted prediction" of ``docs/format/format.md``.
"""

from collections.abc import Sequence

import numpy as np

ABOVE, BESIDE, BELOW = 3, 3, 1
"""Rows above, columns on each side and rows below that the margins add to a plane."""
OWN = (
    *((0, -1), (-1, 0), (-1, -1), (-1, 1), (0, -2), (-2, 0), (-1, -2), (-1, 2), (-2, -1), (-2, 1)),
    *((-2, -2), (-2, 2), (0, -3), (-3, 0), (-1, -3), (-1, 3), (-3, -1), (-3, 1), (-2, 3), (-2, -3)),
    *((-3, 2), (-3, -2)),
)
"""Row and column offsets of the regressors in the sample's own plane."""
OTHER = (
    *((0, 0), (0, -1), (-1, 0), (0, 1), (1, 0), (-1, -1), (-2, 0), (0, -2), (0, 2), (-1, 1)),
    *((1, -1), (1, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (-2, -1), (-2, 1), (-2, -2), (-2, 2)),
)
"""Row and column offsets of the regressors in each earlier plane."""
Counts = tuple[int, int, int]
"""Numbers of regressors in the own plane, the last earlier plane and the one before it."""


class Plane:
    """Samples of a plane with margins, and their distances from the fitted predictions.

    Parameters
    ----------
    height, width : int
        Size of the plane in samples, without margins.
    most : int
        Largest sample (M in the format).

    Attributes
    ----------
    samples, errors : (height + 4, width + 6) int64 arrays
        Samples and errors with the margins.
    """

    def __init__(self, height: int, width: int, most: int):
        self.height, self.width, self.most = height, width, most
        shape = height + ABOVE + BELOW, width + 2 * BESIDE
        self.samples = np.zeros(shape, np.int64)
        self.errors = np.zeros(shape, np.int64)
        self.samples[:ABOVE] = self.samples[ABOVE, :BESIDE] = (most + 1) >> 1

    @property
    def inner(self) -> np.ndarray:
        """View of the samples without margins, (height, width)."""
        return self.samples[ABOVE : ABOVE + self.height, BESIDE : BESIDE + self.width]

    def begin_row(self, row: int) -> None:
        """Fill the margin left of a row with the first sample of the row above."""
        if row:
            self.samples[row + ABOVE, :BESIDE] = self.samples[row + ABOVE - 1, BESIDE]

    def end_row(self, row: int) -> None:
        """Fill the margin right of a row with its last sample, and below the last row copy it."""
        own = self.samples[row + ABOVE]
        own[-BESIDE:] = own[-BESIDE - 1]
        if row == self.height - 1:
            self.samples[row + ABOVE + 1] = own

    def around(self, row: int, column: int, offsets: Sequence[tuple[int, int]]) -> np.ndarray:
        """Return the samples at row and column offsets from a position, an int64 array."""
        r, c = row + ABOVE, column + BESIDE
        return np.array([self.samples[r + i, c + j] for i, j in offsets])

    def level(self, row: int, column: int) -> int:
        """Return the rounded mean of the four samples left of and above a position."""
        return (int(self.around(row, column, OWN[:4]).sum()) + 2) >> 2

    def error(self, row: int, column: int) -> int:
        """Return the residual of a sample, in whole samples."""
        return int(self.errors[row + ABOVE, column + BESIDE])

    def set_error(self, row: int, column: int, residual: int) -> None:
        """Keep the residual of a sample, in whole samples."""
        self.errors[row + ABOVE, column + BESIDE] = residual


def is_noisy(samples: np.ndarray) -> int:
    """Return 1 if fewer than half of the samples are equal to the one left of them.

    *Encoder only*.
    """
    equal = int((samples[:, 1:] == samples[:, :-1]).sum())
    return int(2 * equal < samples.size)


def regressors(
    plane: Plane, before: Sequence[Plane], row: int, column: int, counts: Counts
) -> tuple[int, list[np.ndarray]]:
    """Return the level of a sample and its regressors, each minus the level of its plane.

    Parameters
    ----------
    plane : Plane
        The plane of the sample.
    before : sequence of Plane
        The earlier planes, the last one first.
    row, column : int
        Position of the sample.
    counts : (int, int, int)
        Numbers of regressors: see ``Counts``.

    Returns
    -------
    level : int
    found : list of int64 arrays
        The regressors of the own plane, then those of each earlier plane.
    """
    own, *others = counts
    level = plane.level(row, column)
    found = [plane.around(row, column, OWN[:own]) - level]
    for earlier, count in zip(before, others, strict=False):
        found.append(earlier.around(row, column, OTHER[:count]) - earlier.level(row, column))
    return level, found
