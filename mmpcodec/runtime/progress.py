"""Progress of long work, and how it is cancelled."""

from collections.abc import Callable, Iterator, Sequence

from mmpcodec.errors import Cancelled

Progress = Callable[[int, int], bool]


def in_turn(progress: Progress | None, shares: Sequence[int]) -> Iterator[Progress]:
    """Progress of parts of a work that come one after the other; shares are their fragments."""

    def part(before: int, own: int) -> Progress:
        def advance(done: int, total: int) -> bool:
            return progress is None or progress(before + own * done // total, sum(shares))

        return advance

    for number, own in enumerate(shares):
        yield part(sum(shares[:number]), own)


def report_progress(progress: Progress | None, done: int, total: int) -> None:
    """Tell the callback how far the work is.

    Raises
    ------
    Cancelled
        When the callback returns False.
    """
    if progress is not None and progress(done, total) is False:
        raise Cancelled(f"stopped by the caller after {done} of {total} fragments")
