"""Earlier pixels around which the first plane has the same shape.

Source: section "Repeating pixels", "Shapes", of ``docs/format/format.md``.
"""

from mmpcodec.reference.integers import limited
from mmpcodec.reference.lossless.pixels.colours import ColourShape, PixelRows
from mmpcodec.reference.lossless.pixels.mixing import chained, count_below

SHAPE_BITS = 14
LEAST_RANGE = 16
WINDOW = (
    *((0, -1), (1, 0), (1, 1), (1, -1), (0, -2), (2, 0), (1, 2), (1, -2), (2, 1), (2, -1)),
    *((1, 3), (0, -3), (3, 0), (2, 2), (2, -2), (1, -3)),
)
"""Rows above and columns to the right of the pixels of a shape."""
FINE, COARSE = 14, 6
"""Pixels in the fine key and in the coarse one; the latter count twice in a distance."""
NO_SHAPE = 6
SHAPE_CLASSES = (50, 130, 260, 450, 800)


class Shapes:
    """Positions where the first plane had a shape, in any brightness and contrast."""

    def __init__(self, shape: ColourShape, rows: PixelRows):
        self.shape, self.rows = shape, rows
        self.spots: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.keys: tuple[tuple[int, int], ...] = ()
        self.own: list[int] = []

    def look(self, row: int, column: int) -> None:
        """Find the keys of a pixel; a window without contrast has none."""
        self.keys, self.own = (), self._window(row, column)
        least, reach = min(self.own), max(self.own) - min(self.own)
        if reach < LEAST_RANGE:
            return
        fine, coarse = 5, 9
        for i, value in enumerate(self.own[:FINE]):
            fine = (5 * fine + (value - least) * 1023 // reach // 256) & 0xFFFFFFFF
            if i < COARSE:
                coarse = 7 * coarse + (value - least) * 1791 // reach // 256
        self.keys = tuple(
            (i, chained(key, i) >> 32 - SHAPE_BITS) for i, key in ((1, fine), (2, coarse))
        )

    def match(self) -> tuple[int | None, int]:
        """Return the value that the best spot gives, and the class of its distance."""
        least, found = 0, None
        own = _scaled(self.own)
        for at in (at for key in self.keys for at in self.spots.get(key, ())):
            window = self._window(*at)
            if max(window) == min(window):
                continue
            distance = 0
            for i, (one, other) in enumerate(zip(_scaled(window), own, strict=True)):
                distance += abs(one - other) << (i < COARSE)
            if found is None or distance < least:
                least, found = distance, (at, window)
        if found is None:
            return None, NO_SHAPE
        (at, window), coarser = found, self.shape.coarser[0]
        there = self.shape.sample(self.rows.at(*at), 0) >> coarser
        reach = max(self.own) - min(self.own)
        value = min(self.own) + (there - min(window)) * reach // (max(window) - min(window))
        return limited(value << coarser, 0, self.shape.most[0]), count_below(least, SHAPE_CLASSES)

    def see(self, row: int, column: int) -> None:
        """Enter the pixel whose keys were found last."""
        for key in self.keys:
            self.spots[key] = [(row, column), *self.spots.get(key, ())][:2]

    def _window(self, row: int, column: int) -> list[int]:
        return [
            self.shape.sample(self.rows.at(row - up, column + right), 0) >> self.shape.coarser[0]
            for up, right in WINDOW
        ]


def _scaled(window: list[int]) -> list[int]:
    """Return values between 0 and 255 from the least to the greatest."""
    least, reach = min(window), max(window) - min(window)
    return [(value - least) * 255 // reach if reach else 0 for value in window]
