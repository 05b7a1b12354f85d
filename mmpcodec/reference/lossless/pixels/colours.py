"""Whole pixels as colours, with margins that give every pixel all its neighbours.

Source: section "Repeating pixels", "Colours", of ``docs/format/format.md``.
"""

from collections.abc import Sequence

import numpy as np

ABOVE, BESIDE = 4, 16
"""Rows above and columns on each side that the margins have."""


def folded(colour: int) -> int:
    """Return what hashes see of a colour, below 2**32."""
    return ((colour & 0xFFFFFFFF) + (colour >> 32) * 2654435761) & 0xFFFFFFFF


class ColourShape:
    """How the samples of a pixel make a colour: the first plane has the lowest bits.

    Parameters
    ----------
    most : sequence of int
        Largest sample of each plane.
    """

    def __init__(self, most: Sequence[int]):
        self.most = list(most)
        self.bits = [value.bit_length() for value in most]
        self.shift = [sum(self.bits[:k]) for k in range(len(most))]
        self.coarser = [max(0, bits - 8) for bits in self.bits]
        self.planes = range(len(most))

    def sample(self, colour: int, plane: int) -> int:
        """Return the sample of a plane."""
        return colour >> self.shift[plane] & ((1 << self.bits[plane]) - 1)

    def part(self, sample: int, plane: int) -> int:
        """Return the part of a colour that a sample makes."""
        return sample << self.shift[plane]

    def packed(self, planes: np.ndarray) -> np.ndarray:
        """Return the colours of (C, H, W) samples, an (H, W) uint64 array."""
        found = np.zeros(planes.shape[1:], np.uint64)
        for plane, shift in zip(planes, self.shift, strict=True):
            found |= plane.astype(np.uint64) << np.uint64(shift)
        return found


class PixelRows:
    """The colours of a picture, row by row."""

    def __init__(self, height: int, width: int):
        self.width = width
        self.rows = [[0] * (width + 2 * BESIDE) for _ in range(height + ABOVE)]

    def at(self, row: int, column: int) -> int:
        """Return a colour; the margins may be read."""
        return self.rows[row + ABOVE][column + BESIDE]

    def set(self, row: int, column: int, colour: int) -> None:
        """Set the colour of a pixel."""
        self.rows[row + ABOVE][column + BESIDE] = colour

    def begin_row(self, row: int) -> None:
        """Fill the margin left of a row with the first colour of the row above."""
        self.rows[row + ABOVE][:BESIDE] = [self.at(row - 1, 0)] * BESIDE

    def end_row(self, row: int) -> None:
        """Fill the margin right of a row with its last colour."""
        self.rows[row + ABOVE][self.width + BESIDE :] = [self.at(row, self.width - 1)] * BESIDE


class ColoursAround:
    """Colours around a pixel, by names of directions and by offsets."""

    def __init__(self, rows: PixelRows, row: int, column: int):
        self.rows, self.row, self.column = rows, row, column
        self.w, self.ww = self.at(0, -1), self.at(0, -2)
        self.n, self.nn = self.at(1, 0), self.at(2, 0)
        self.nw, self.ne = self.at(1, -1), self.at(1, 1)

    def at(self, up: int, right: int) -> int:
        """Return the colour some rows above and some columns to the right."""
        return self.rows.at(self.row - up, self.column + right)
