"""Work that goes on side by side, and its progress as one."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Lock
from typing import Any

from mmpcodec.runtime.machine import processors
from mmpcodec.runtime.progress import Progress


@dataclass(frozen=True)
class Task:
    """A piece of work.

    Parameters
    ----------
    run : callable
        ``run(threads, progress)``; what it gives is its result.
    share : int
        Fragments that it works on.
    aside : bool
        Whether it may run in a thread of its own: a device is that of the calling thread, and
        threads do nothing for Python.
    """

    run: Callable[[int | None, Progress], Any]
    share: int
    aside: bool


class SharedProgress:
    """Progress of several tasks, which may run side by side.

    Parameters
    ----------
    progress : Progress or None
        Told of all of them as one.
    shares : sequence of int
        Fragments of each.
    """

    def __init__(self, progress: Progress | None, shares: Sequence[int]):
        self._progress = progress
        self._shares = shares
        self._done = [0] * len(shares)
        self._stopped = False
        self._lock = Lock()

    def of(self, number: int) -> Progress:
        """Progress of one of them."""

        def advance(done: int, total: int) -> bool:
            with self._lock:
                self._done[number] = self._shares[number] * done // total
                if self._progress and not self._stopped:
                    self._stopped = self._progress(sum(self._done), sum(self._shares)) is False
                return not self._stopped

        return advance

    def stop(self) -> None:
        """Cancel those that still run."""
        self._stopped = True


def side_by_side(
    function: Callable[[Any], Any], items: Sequence[Any], threads: int | None
) -> list[Any]:
    """What a function that leaves Python alone most of the time makes of each item."""
    if len(items) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads or processors()) as pool:
        return list(pool.map(function, items))


def run_all(tasks: Sequence[Task], threads: int | None, progress: Progress | None) -> list[Any]:
    """The results of tasks, in their order.

    Parameters
    ----------
    tasks : sequence of Task
    threads : int or None
        To use in all; None takes what the machine has.
    progress : callable or None
    """
    shared = SharedProgress(progress, [task.share for task in tasks])
    if len(tasks) == 1:
        return [tasks[0].run(threads, shared.of(0))]  # in this thread, which Ctrl-C stops at once
    aside = [number for number, task in enumerate(tasks) if task.aside]
    available = threads or processors()
    at_once = min(available, max(len(aside), 1))
    each = max(available // at_once, 1)

    def one(number: int) -> Any:
        return tasks[number].run(each, shared.of(number))

    with ThreadPoolExecutor(at_once) as pool:
        try:
            waiting = {number: pool.submit(one, number) for number in aside}
            return [
                _result(waiting[number]) if number in waiting else one(number)
                for number in range(len(tasks))
            ]
        except BaseException:
            shared.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _result(waiting: Future) -> Any:
    """What comes of it; a wait without end could not be interrupted everywhere."""
    while not waiting.done():
        wait([waiting], timeout=0.1)
    return waiting.result()
