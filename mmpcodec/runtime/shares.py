"""Shares of work for several devices, and the threads of the devices, which take shares."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from heapq import heapify, heapreplace
from threading import Lock
from typing import Any

from mmpcodec.errors import Cancelled
from mmpcodec.runtime.progress import Progress
from mmpcodec.runtime.tasks import SharedProgress, result_of


@dataclass(frozen=True)
class Share:
    """Items that one device works on together.

    Parameters
    ----------
    items : tuple of int
        Numbers of the items, in ascending order.
    size : int
        Number of 16x16 fragments.
    place : int or None
        Place of the device in the list of devices, if only this one may do the work.
    """

    items: tuple[int, ...]
    size: int
    place: int | None = None


def shares_of(
    sizes: Sequence[int], homes: Sequence[int | None], places: int, most: int
) -> list[Share]:
    """Divide items into shares of nearly equal size.

    The items that any device may take make a multiple of ``places`` shares, if there are as many
    items. So equally fast devices finish at the same time, and faster ones take more shares.
    The largest items are given away first, each to the smallest share (Graham's LPT rule).

    Parameters
    ----------
    sizes : sequence of int
        Number of fragments of each item.
    homes : sequence of int or None
        Place of the device that must work on each item; None for any device.
    places : int
        Number of devices.
    most : int
        Fragments that a share should not exceed by far.

    Returns
    -------
    list of Share

    Examples
    --------
    >>> from mmpcodec.runtime.shares import shares_of
    >>> [share.items for share in shares_of([9, 1, 4, 5, 1], [None] * 5, 2, 100)]
    [(0, 1), (2, 3, 4)]
    """
    shares = []
    for home in (None, *range(places)):
        items = [number for number, own in enumerate(homes) if own == home]
        total = sum(sizes[number] for number in items)
        at_once = places if home is None else 1
        count = min(at_once * -(-total // (at_once * most)), len(items))
        parts: list[tuple[int, int, list[int]]] = [(0, part, []) for part in range(count)]
        heapify(parts)
        for number in sorted(items, key=lambda number: -sizes[number]):
            size, part, taken = parts[0]
            heapreplace(parts, (size + sizes[number], part, [*taken, number]))
        shares += [
            Share(tuple(sorted(taken)), size, home)
            for size, _, taken in sorted(parts, key=lambda part: part[1])
        ]
    return shares


def run_shares(
    run: Callable[[int, Share, Progress], Any],
    shares: Sequence[Share],
    places: int,
    progress: Progress | None,
    lanes: int = 1,
) -> list[Any]:
    """Run shares on devices, in threads of each device, and return their results in order.

    A device that is free takes the largest share that waits for it alone, then the largest that
    waits for any device. A single share runs in the calling thread.

    Parameters
    ----------
    run : callable
        ``run(place, share, progress)`` returns the result of a share on a device.
    shares : sequence of Share
    places : int
        Number of devices.
    progress : callable or None
        Gets the fragments of all shares. It is called from several threads, by one at a time.
    lanes : int
        Number of threads for each device.

    Raises
    ------
    Exception
        The first error of a share, which cancels the others.
    """
    shared = SharedProgress(progress, [share.size for share in shares])
    if len(shares) == 1:
        return [run(shares[0].place or 0, shares[0], shared.of(0))]
    waiting = sorted(range(len(shares)), key=lambda number: -shares[number].size)
    results: dict[int, Any] = {}
    errors: list[BaseException] = []
    lock = Lock()

    def take(place: int) -> int | None:
        with lock:
            for home in (place, None):
                for number in waiting:
                    if shares[number].place == home and not shared.stopped:
                        waiting.remove(number)
                        return number
        return None

    def work(place: int) -> None:
        while (number := take(place)) is not None:
            try:
                results[number] = run(place, shares[number], shared.of(number))
            except BaseException as error:
                errors.append(error)  # before the others stop, so that the cause is the first
                shared.stop()

    threads = places * lanes
    with ThreadPoolExecutor(threads) as pool:
        try:
            for thread in [pool.submit(work, number % places) for number in range(threads)]:
                result_of(thread)
        except BaseException:
            shared.stop()
            raise
    if errors:
        raise errors[0]
    if len(results) < len(shares):
        raise Cancelled("stopped by the caller")
    return [results[number] for number in range(len(shares))]
