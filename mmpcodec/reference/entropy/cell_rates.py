"""Rates of cells: the code length of what codes each square of 16x16 samples of a plane.

*Statistics only*. No decoded sample depends on them.
"""

from collections.abc import Iterator

import numpy as np

from mmpcodec.reference.entropy.symbols import Tally

CELL = 16
"""Height and width of a cell, in samples. Cells at the right and lower border can be smaller."""


class CellRates:
    """Rates of the cells of a plane, taken from the tally of a coder.

    Parameters
    ----------
    shape : (int, int)
        Height H and width W of the plane in samples.
    tally : Tally
        Rates of the symbols that code the plane.
    steps : (int, int)
        Rows and columns of the plane from one sample of those that are added to the next.

    Attributes
    ----------
    rates : (ceil(H / 16), ceil(W / 16)) int64 array
        Code length of each cell, in 1/4096 bit.
    """

    def __init__(self, shape: tuple[int, int], tally: Tally, steps: tuple[int, int] = (1, 1)):
        self.shape, self.steps = shape, steps
        self.tally = tally
        self.rates = np.zeros([-(-side // CELL) for side in shape], np.int64)
        self.begin()

    def begin(self) -> None:
        """Leave out the rate since the last call."""
        self._taken = self.tally.sum()

    def add(self, row: int, column: int, height: int = 1, width: int = 1) -> None:
        """Spread the rate since the last call over the cells that a block overlaps.

        Each cell gets a share in proportion to its samples that lie in the block and in the plane.
        The shares are integers, and their sum is the rate.

        Parameters
        ----------
        row, column : int
            First sample of the block, which lies in the plane.
        height, width : int
            Size of the block in samples. The block can reach beyond the plane.
        """
        row, column = (
            min(at * step, side - 1)
            for at, step, side in zip((row, column), self.steps, self.shape, strict=True)
        )
        taken = self.tally.sum()
        rate, self._taken = taken - self._taken, taken
        height = min(height, self.shape[0] - row)
        width = min(width, self.shape[1] - column)
        area, before = height * width, 0
        for i, rows in _parts(row, height):
            for j, columns in _parts(column, width):
                after = before + rows * columns
                self.rates[i, j] += rate * after // area - rate * before // area
                before = after


def _parts(first: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield the number of each cell along an axis, and how many of some samples lie in it."""
    last = first + count
    for cell in range(first // CELL, -(-last // CELL)):
        yield cell, min(last, (cell + 1) * CELL) - max(first, cell * CELL)
