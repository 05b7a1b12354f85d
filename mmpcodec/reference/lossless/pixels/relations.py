"""What relates an escaped pixel to earlier ones: lines of colour and shapes of brightness.

Source: section "Repeating pixels", "Lines and shapes", of ``docs/format/format.md``.
"""

from collections import Counter
from typing import NamedTuple

from mmpcodec.reference.integers import limited
from mmpcodec.reference.lossless.pixels.colours import Around, ColourShape, PixelRows, folded
from mmpcodec.reference.lossless.pixels.mixing import chained, count_below

LEAST_CONTRAST, LEAST_RUN, MOST_OFF = 12, 4, 2
MOST_TRUST = 8
LINE_BITS, SHAPE_BITS = 10, 14
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


def on_line(at: int, x: int, y: int, run: int, rise: int) -> int:
    """Return the value at ``at`` of the line from (x, y) on by ``rise`` for each ``run``."""
    if run < 0:
        run, rise = -run, -rise
    return y + (2 * (at - x) * rise + run) // (2 * run)


def background_of(v: Around) -> int:
    """Return the most frequent of four neighbours, the first of equals."""
    near = v.n, v.w, v.ne, v.nw
    counts = Counter(near)
    return max(near, key=lambda colour: counts[colour])


class Line(NamedTuple):
    """A background, the colour of most contrast upon it, and how often others fitted."""

    background: int
    foreground: int
    trust: int


class ColourLines:
    """Lines by the hash of the background."""

    def __init__(self, shape: ColourShape):
        self.shape = shape
        self.lines: dict[int, Line] = {}

    def find(self, background: int) -> Line | None:
        """Return the line of a background."""
        line = self.lines.get(_key(background))
        return line if line and line.background == background else None

    def see(self, background: int, colour: int) -> None:
        """Let the line of a background learn a colour."""
        contrast = self._contrast(background, colour)
        if contrast < LEAST_CONTRAST:
            return
        line, foreground, trust = self.find(background), colour, 1
        if line and self._fits(line, colour):
            trust = min(line.trust + 1, MOST_TRUST)
            if contrast <= self._contrast(background, line.foreground):
                foreground = line.foreground
        elif line and line.trust > 2:
            foreground, trust = line.foreground, line.trust - 2
        self.lines[_key(background)] = Line(background, foreground, trust)

    def _contrast(self, one: int, other: int) -> int:
        sample = self.shape.sample
        return sum(
            abs(sample(one, k) - sample(other, k)) >> self.shape.coarser[k]
            for k in self.shape.planes[:3]
        )

    def _fits(self, line: Line, colour: int) -> bool:
        """Return whether a colour lies on a line."""
        sample, coarser = self.shape.sample, self.shape.coarser
        start = sample(line.background, 0)
        run = sample(line.foreground, 0) - start
        if abs(run) >> coarser[0] < LEAST_RUN:
            return False
        for k in self.shape.planes[1:3]:
            base = sample(line.background, k)
            rise = sample(line.foreground, k) - base
            found = on_line(sample(colour, 0), start, base, run, rise)
            if abs(found - sample(colour, k)) >> coarser[k] > MOST_OFF:
                return False
        return True


def _key(background: int) -> int:
    return chained(folded(background), 7) >> 32 - LINE_BITS


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
        least, found = None, None
        own = _scaled(self.own)
        for at in (at for key in self.keys for at in self.spots.get(key, ())):
            window = self._window(*at)
            if max(window) == min(window):
                continue
            distance = 0
            for i, (one, other) in enumerate(zip(_scaled(window), own, strict=True)):
                distance += abs(one - other) << (i < COARSE)
            if least is None or distance < least:
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
