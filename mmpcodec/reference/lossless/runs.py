"""Runs: several equal samples that one decision codes, where all neighbours are equal.

Source: part "Runs" of section "Lossless samples" of ``docs/format/format.md``; after M. Weinberger,
G. Seroussi and G. Sapiro, "The LOCO-I lossless image compression algorithm", 2000.
"""

from collections.abc import Sequence

from mmpcodec.reference.lossless.context import activity_class, look_around
from mmpcodec.reference.lossless.hashes import summed
from mmpcodec.reference.lossless.plane import ABOVE, BESIDE, Plane

LENGTHS = (32, 16, 8)
"""Lengths of a run, in samples."""
REACH = 3
"""Rows above and columns on each side of a sample of a run that hold equal samples."""
FARTHEST = 1023
"""Largest distance in columns that a context tells."""


class Runs:
    """Where runs can be in a plane, and the contexts of the bit that breaks them.

    Parameters
    ----------
    plane : Plane
        The plane to code.
    before : sequence of Plane
        The earlier planes, the last one first.

    Attributes
    ----------
    after : int
        Column after the last sample of the row outside of runs.
    breaks, breaks_above : int
        Broken runs of the row and of the row above.
    """

    def __init__(self, plane: Plane, before: Sequence[Plane]):
        self.plane, self.before = plane, before
        self.after = self.breaks = self.breaks_above = 0

    def begin_row(self) -> None:
        """Begin a row."""
        self.after, self.breaks_above, self.breaks = 0, self.breaks, 0

    def length(self, row: int, column: int, end: int) -> int:
        """Return the length of the run that can begin at a sample and ends before a column.

        It is 0 if no run can begin.
        """
        left = end - column
        return next((n for n in LENGTHS if n <= left and self._equal(row, column, n)), 0)

    def _equal(self, row: int, column: int, length: int) -> bool:
        """Return whether all neighbours of the samples of a run are equal."""
        r, c = row + ABOVE, column + BESIDE
        samples, end = self.plane.samples, c + length
        w = samples[r, c - 1]
        return (
            bool((samples[r, c - REACH : c] == w).all())
            and bool((samples[r - REACH : r, c - REACH : end + REACH] == w).all())
            and all(
                bool((other.samples[r, c:end] == other.samples[r, c - 1]).all())
                for other in self.before
            )
        )

    def contexts(self, row: int, column: int, length: int) -> tuple[int, ...]:
        """Return the contexts of the 24 models."""
        n = LENGTHS[::-1].index(length)
        w = int(self.plane.around(row, column, ((0, -1),))[0])
        others = [int(other.inner[row, column]) for other in self.before]
        active, gap, own, above = self._near(row, column)
        return (
            summed((w, *others)),
            4 * min(column - self.after, FARTHEST) + n,
            4 * (4 * (gap // 2) + own) + n,
            4 * (4 * above + own) + n,
            32 * n + active,
            4 * activity_class(self.plane.width - column) + n,
            16 * min(self.breaks, 15) + min(self.breaks_above, 15),
            16 * (4 * above + own) + gap // 2,
            *[n] * 16,
        )

    def rows(self, row: int, column: int, length: int) -> tuple[int, int, int, int]:
        """Return the rows of the four sets of weights."""
        n = LENGTHS[::-1].index(length)
        active, gap, own, above = self._near(row, column)
        return active, 3 * n + min(own, 2), 4 * gap + n, 4 * above + own

    def _near(self, row: int, column: int) -> tuple[int, int, int, int]:
        """Return act, gap, and the breaks of the row and of the row above, at most 3 of each."""
        active = look_around(self.plane, self.before, row, column, 0).active
        gap = activity_class(column - self.after)
        return active, gap, min(self.breaks, 3), min(self.breaks_above, 3)
