"""Progress of long work, and its cancellation."""

from collections.abc import Callable, Iterator, Sequence

from mmpcodec.errors import Cancelled

Progress = Callable[[int, int], bool]
"""``progress(done, total)`` gets numbers of 16x16 fragments; returning False cancels."""


def in_turn(progress: Progress | None, shares: Sequence[int]) -> Iterator[Progress]:
    """Yield the progress of the parts of a work that run one after the other.

    Parameters
    ----------
    progress : Progress or None
        Progress of the whole work.
    shares : sequence of int
        Number of fragments of each part.

    Yields
    ------
    Progress
        For each part.
    """

    def part(before: int, own: int) -> Progress:
        def advance(done: int, total: int) -> bool:
            return progress is None or progress(before + own * done // total, sum(shares))

        return advance

    for number, own in enumerate(shares):
        yield part(sum(shares[:number]), own)


class OpenProgress:
    """Progress of work that has an unknown number of parts, which run one after the other.

    Each part takes the same fraction of what is left, so the work never seems done too early.

    Parameters
    ----------
    progress : Progress or None
        Progress of the whole work.
    """

    FRACTION = 8
    """A part takes one FRACTION-th of what is left."""
    TOTAL = 1 << 20

    def __init__(self, progress: Progress | None):
        self._progress, self._done = progress, 0

    def part(self) -> Progress:
        """Return the progress of the next part."""
        before, own = self._done, (self.TOTAL - self._done) // self.FRACTION
        self._done += own

        def advance(done: int, total: int) -> bool:
            now = before + own * done // total
            return self._progress is None or self._progress(now, self.TOTAL)

        return advance

    def end(self) -> None:
        """Report that the work is done.

        Raises
        ------
        Cancelled
            When the callback returns False.
        """
        report_progress(self._progress, self.TOTAL, self.TOTAL)


def report_progress(progress: Progress | None, done: int, total: int) -> None:
    """Call a progress callback.

    Raises
    ------
    Cancelled
        When the callback returns False.
    """
    if progress is not None and progress(done, total) is False:
        raise Cancelled(f"stopped by the caller after {done} of {total} fragments")
