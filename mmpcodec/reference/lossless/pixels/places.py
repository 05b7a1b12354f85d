"""The earlier place that looks most like a pixel.

Source: section "Repeating pixels", "Place", of ``docs/format/format.md``.
"""

from typing import NamedTuple

from mmpcodec.reference.lossless.pixels.colours import PixelRows
from mmpcodec.reference.lossless.pixels.mixing import count_below

NONE = 7
"""Class without a place."""
CLASSES = (1, 2, 4, 7, 12, 19)
"""Least distance of each class from 1 on."""
LINE_BITS = 16


class PixelPlace(NamedTuple):
    """A position in the picture, or none, with its class and colour."""

    at: tuple[int, int] | None = None
    near: int = NONE
    colour: int = 0


class PixelPlaces:
    """Places of the pixels before.

    Attributes
    ----------
    of_column : list of (int, int) or None
        Place of the last pixel of each column.
    last : dict of int to (int, int)
        Last pixel with each hash.
    left : (int, int) or None
        Place of the pixel to the left.
    """

    def __init__(self, rows: PixelRows):
        self.rows = rows
        self.of_column: list[tuple[int, int] | None] = [None] * rows.width
        self.last: dict[int, tuple[int, int]] = {}
        self.left: tuple[int, int] | None = None

    def begin_row(self) -> None:
        """Begin a row."""
        self.left = None

    def skip(self, column: int, count: int) -> None:
        """Forget the places of pixels from a column on."""
        self.of_column[column : column + count] = [None] * count
        self.left = None

    def find(self, row: int, column: int, key: int) -> PixelPlace:
        """Return the place of a pixel, whose neighbours have a hash."""
        line = key >> 32 - LINE_BITS
        above = self.of_column[column]
        tried = (
            self.left and (self.left[0], self.left[1] + 1),
            above and (above[0] + 1, above[1]),
            self.last.get(line),
        )
        best, least = None, 99
        for at in tried:
            if at is None or at[1] >= self.rows.width or at == best:
                continue
            distance = self._distance(row, column, at)
            if distance < least:
                best, least = at, distance
            if distance == 0:
                break
        self.left = self.of_column[column] = best
        self.last[line] = row, column
        if best is None:
            return PixelPlace()
        return PixelPlace(best, count_below(least, CLASSES), self.rows.at(*best))

    def _distance(self, row: int, column: int, at: tuple[int, int]) -> int:
        """Return how many of 40 pixels before two positions differ."""
        window = [(0, -left) for left in range(1, 9)]
        window += [(-up, right) for up in range(1, 5) for right in range(-4, 4)]
        return sum(
            self.rows.at(row + i, column + j) != self.rows.at(at[0] + i, at[1] + j)
            for i, j in window
        )
