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


def report_progress(progress: Progress | None, done: int, total: int) -> None:
    """Call a progress callback.

    Raises
    ------
    Cancelled
        When the callback returns False.
    """
    if progress is not None and progress(done, total) is False:
        raise Cancelled(f"stopped by the caller after {done} of {total} fragments")
