"""Tasks that run in parallel threads, with one progress."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from mmpcodec.runtime.machine import processors
from mmpcodec.runtime.progress import Progress

if TYPE_CHECKING:
    from concurrent.futures import Future


SHARED = 2
"""Threads for each processor while the last wide tasks run: some wait, or end early."""


@dataclass(frozen=True)
class Task:
    """A piece of work for a thread.

    Parameters
    ----------
    run : callable
        ``run(threads, progress)`` returns the result.
    share : int
        Number of 16x16 fragments.
    aside : bool
        Whether the task may run in a thread of its own. CUDA tasks must stay on the calling thread;
        pure-Python tasks gain nothing from threads.
    wide : bool
        Whether the task uses several threads well, and sleeps where it has no work for them.
    """

    run: Callable[[int | None, Progress], Any]
    share: int
    aside: bool
    wide: bool = False


class SharedProgress:
    """Progress of several tasks that may run in parallel.

    Parameters
    ----------
    progress : Progress or None
        Progress of all tasks together.
    shares : sequence of int
        Number of fragments of each task.
    """

    def __init__(self, progress: Progress | None, shares: Sequence[int]):
        self._progress = progress
        self._shares = shares
        self._done = [0] * len(shares)
        self._stopped = False
        self._lock = Lock()

    def of(self, number: int) -> Progress:
        """Return the progress of the task of this number."""

        def advance(done: int, total: int) -> bool:
            with self._lock:
                self._done[number] = self._shares[number] * done // total
                if self._progress and not self._stopped:
                    self._stopped = self._progress(sum(self._done), sum(self._shares)) is False
                return not self._stopped

        return advance

    @property
    def stopped(self) -> bool:
        """Whether the tasks are cancelled."""
        return self._stopped

    def stop(self) -> None:
        """Cancel the tasks that still run."""
        self._stopped = True


def one_at_a_time(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that any thread may call, and that runs in one thread at a time."""
    lock = Lock()

    def call(*arguments: Any) -> Any:
        with lock:
            return function(*arguments)

    return call


def threads_of_each(threads: int | None, tasks: int) -> int:
    """Return the number of threads for each of several tasks that run side by side."""
    return max((threads or processors()) // max(tasks, 1), 1)


def side_by_side(
    function: Callable[[Any], Any], items: Sequence[Any], threads: int | None
) -> list[Any]:
    """Return a function's results for all items, from threads; it should release the GIL."""
    if len(items) < 2 or threads == 1:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads or processors()) as pool:
        return list(pool.map(function, items))


def in_order(
    function: Callable[[Any], Any], items: Iterable[Any], threads: int | None
) -> Generator[Any, None, None]:
    """Yield a function's results for items that are taken as needed; it should release the GIL.

    Few items wait for their turn, so not all need to be in memory. When the iterator is closed
    early, those that wait are dropped; those in work end by themselves.
    """
    threads = threads or processors()
    if threads == 1:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads)
    waiting: deque[Future] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            del item  # the next one is made without it
            while waiting and (len(waiting) > threads or waiting[0].done()):
                yield result_of(waiting.popleft())
        while waiting:
            yield result_of(waiting.popleft())
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def run_all(tasks: Sequence[Task], threads: int | None, progress: Progress | None) -> list[Any]:
    """Run tasks and return their results in order.

    Parameters
    ----------
    tasks : sequence of Task
    threads : int or None
        Number of threads that work at once; None takes all processors. The last wide tasks have
        more between them, so that all processors are busy to the end.
    progress : callable or None
        Gets the fragments of all tasks.

    Raises
    ------
    Exception
        The first error of a task, which cancels the others.
    """
    shared = SharedProgress(progress, [task.share for task in tasks])
    if len(tasks) == 1:
        return [tasks[0].run(threads, shared.of(0))]  # in this thread, which Ctrl-C stops at once
    # The largest come first, so that no thread is left alone with one of them.
    aside = sorted(
        (number for number, task in enumerate(tasks) if task.aside),
        key=lambda number: -tasks[number].share,
    )
    available = threads or processors()
    at_once = min(available, max(len(aside), 1))
    each = dict.fromkeys(range(len(tasks)), available // at_once)
    for place, number in enumerate(aside):
        if tasks[number].wide:
            left = len(aside) - (place if place >= at_once else 0)
            each[number] = min(-(-SHARED * available // left), available)

    def one(number: int) -> Any:
        return tasks[number].run(each[number], shared.of(number))

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(at_once) as pool:
        try:
            waiting = {number: pool.submit(one, number) for number in aside}
            return [
                result_of(waiting[number]) if number in waiting else one(number)
                for number in range(len(tasks))
            ]
        except BaseException:
            shared.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def result_of(waiting: "Future") -> Any:
    """Return the result of a task, awaited in short steps so that Ctrl-C can interrupt it."""
    from concurrent.futures import wait

    while not waiting.done():
        wait([waiting], timeout=0.1)
    return waiting.result()
