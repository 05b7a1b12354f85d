"""Earlier pixels whose surroundings look like those of a pixel.

Source: part "Places that look alike" of section "Two values" of ``docs/format/format.md``.
"""

from collections.abc import Iterator
from typing import NamedTuple

from mmpcodec.reference.lossless.two_values.bit_rows import FACTORS, HASH_BITS, BitRows, ones

REACH = 12
"""Rows above and columns on each side that the window of a pixel has."""
CORE = 4
"""Rows above and columns on each side whose pixels count twice in a distance."""
DELAY = 6
"""Rows after which the pixels of a row enter the lines of their keys."""
KEYS = ((5, 10, 3, 2, 6), (8, 16, 6, 4, 1), (17, 27, 8, 3, 0))
"""Of each key: columns to the left, columns of rows above, number of these rows, number of the
first factor, number of the factor of the whole."""
ENTRIES = {1: 1, 3: 2, 4: 4, 6: 4}
"""Entries of a line of a key by the most places of a pixel."""
ALWAYS_BY_KEYS = 4
"""Most places of a pixel from which on keys always give candidates."""


class AlikePlace(NamedTuple):
    """An earlier pixel, and the distance of its window from that of the pixel that it is for."""

    row: int
    column: int
    distance: int

    def moved(self, rows: int, columns: int) -> "AlikePlace":
        """Return the place some rows below and columns to the right, with the same distance."""
        return AlikePlace(self.row + rows, self.column + columns, self.distance)


class Places:
    """The places of the pixels of two rows, and the keys that find other ones.

    Parameters
    ----------
    pixels : BitRows
        Its pixels are set as they are coded.
    most : int
        Most places of a pixel: 1, 3, 4 or 6 (P in the format).

    Attributes
    ----------
    followed : list of AlikePlace
        Places of the pixel before, or of an earlier one and moved along (L in the format).
    above, own : list of lists of AlikePlace
        Places of each pixel of the row above, and of the row that is coded.
    mixed : dict of int to list of int
        Columns of the mixed pixels of the rows whose pixels have not entered the lines yet.
    lines : dict of (key number, line) to list of (row, column)
        Entries of the lines; absent lines are empty.
    """

    def __init__(self, pixels: BitRows, most: int):
        self.pixels, self.most = pixels, most
        self.followed: list[AlikePlace] = []
        self.above: list[list[AlikePlace]] = []
        self.own: list[list[AlikePlace]] = [[] for _ in range(pixels.width)]
        self.mixed: dict[int, list[int]] = {}
        self.lines: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def begin_row(self, row: int) -> None:
        """Begin a row: pixels of the sixth row above it enter the lines of their keys."""
        self.followed = []
        self.above, self.own = self.own, [[] for _ in range(self.pixels.width)]
        for column in self.mixed.pop(row - DELAY, []):
            for line in self._lines(row - DELAY, column):
                entries = self.lines.setdefault(line, [])
                entries.insert(0, (row - DELAY, column))
                del entries[ENTRIES[self.most] :]
        self.mixed[row] = []

    def find(self, row: int, column: int, far: int) -> list[AlikePlace]:
        """Find the places of a pixel that is mixed, and return them, the nearest one first.

        Parameters
        ----------
        row, column : int
        far : int
            Pixels of whole groups since the last mixed pixel.
        """
        own = self._window(row, column)
        candidates = dict.fromkeys(
            candidate
            for candidate in self._candidates(row, column, far)
            if 0 <= candidate[1] < self.pixels.width
        )
        places = [AlikePlace(*at, (own ^ self._window(*at)).bit_count()) for at in candidates]
        places.sort(key=lambda place: place.distance)
        self.mixed[row].append(column)
        self._keep(column, places[: self.most])
        return self.followed

    def follow(self, column: int) -> None:
        """Give a certain pixel the places that go along with it."""
        width = self.pixels.width
        places = [place.moved(0, 1) for place in self.followed]
        places = [place for place in places if 0 <= place.column < width]
        self._keep(column, places or [place.moved(1, 0) for place in self._above(column)])

    def skip(self, count: int) -> None:
        """Move the followed places along with pixels that their group gives."""
        self.followed = [place.moved(0, count) for place in self.followed]

    def _keep(self, column: int, places: list[AlikePlace]) -> None:
        """Keep the places of a pixel."""
        self.own[column] = self.followed = places

    def _above(self, column: int) -> list[AlikePlace]:
        """Return the places of a pixel of the row above; none beyond its plane, or this one."""
        return self.above[column] if column < min(self.pixels.width, len(self.above)) else []

    def _candidates(self, row: int, column: int, far: int) -> Iterator[tuple[int, int]]:
        """Yield row and column of the candidates for the places of a pixel."""
        for place in self.followed:
            yield place.row, place.column + 1
        for place in self._above(column):
            yield place.row + 1, place.column
        for place in self._above(column + 1)[:1]:
            yield place.row + 1, place.column - 1
        same = bool(self.followed) and self.followed[0].distance == 0
        if self.most < ALWAYS_BY_KEYS and far == 0 and same:
            return
        for line in reversed(self._lines(row, column)):
            yield from self.lines.get(line, [])

    def _lines(self, row: int, column: int) -> list[tuple[int, int]]:
        """Return the number of each key of a pixel, and its line."""
        shift = HASH_BITS - 1 - self.pixels.line_bits
        return [
            (number, self._key(row, column, *numbers) >> shift)
            for number, numbers in enumerate(KEYS)
        ]

    def _key(
        self, row: int, column: int, reach: int, width: int, rows: int, first: int, last: int
    ) -> int:
        """Return a key of a pixel: a hash of pixels around it, but not of the one to the left.

        Parameters
        ----------
        row, column : int
        reach, width, rows, first, last : int
            Numbers of ``KEYS``.
        """
        bits, start = self.pixels.bits, column - reach
        total = bits(row, start, reach - 1) * FACTORS[first]
        for above in range(1, rows + 1):
            total += bits(row - above, start, width) * FACTORS[first + above]
        return total * FACTORS[last] & ones(HASH_BITS)

    def _window(self, row: int, column: int) -> int:
        """Return the pixels of a window as one number; those that count twice are in it twice."""
        bits = self.pixels.bits
        window = bits(row, column - REACH, REACH)
        window = window << CORE | bits(row, column - CORE, CORE)
        for above in range(1, REACH + 1):
            window = window << 2 * REACH + 1 | bits(row - above, column - REACH, 2 * REACH + 1)
        for above in range(1, CORE + 1):
            window = window << 2 * CORE + 1 | bits(row - above, column - CORE, 2 * CORE + 1)
        return window
