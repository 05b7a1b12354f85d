"""Tasks of a Dask cluster of which only a few are in flight, so that memory stays bounded."""

import contextlib
import math
import time
from asyncio import CancelledError
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import Any, Generic, TypeVar

from mmpcodec.errors import MissingExtra, MmpError, install
from mmpcodec.runtime.machine import processors

Item = TypeVar("Item")
TASKS_AHEAD = 2
"""Tasks in flight for each thread of the workers: one in work, and one that waits."""
WRITERS_SECONDS = 3
"""Most seconds to wait for tasks that write, when their run ends early."""


class WorkersDied(MmpError):
    """The workers that were given a task died one after the other."""


class InFlight(Generic[Item]):
    """Tasks that were sent to a cluster and have not ended; cancelled when the context ends.

    Dask gives the tasks of a worker that dies to other workers.

    Parameters
    ----------
    client : distributed.Client
    writes : bool
        Whether tasks write files. Those that have begun are then awaited when the context ends,
        for ``WRITERS_SECONDS``, because Dask cannot stop them.
    small : bool
        Whether results are small. They are then fetched as tasks end, several at a time, and wait
        here; others wait on the workers until they are asked for.
    """

    def __init__(self, client: Any, *, writes: bool = False, small: bool = False):
        from distributed import as_completed

        self._client, self._writes, self._small = client, writes, small
        self._waiting = as_completed(loop=client.loop, with_results=small, raise_errors=False)
        self._item_of: dict[Any, Item] = {}
        self._threads, self._counted = 1, -math.inf

    def room(self) -> int:
        """Return how many tasks may be sent now.

        Raises
        ------
        MmpError
            If the scheduler is lost.
        """
        if time.monotonic() >= self._counted + 1:  # workers come and go
            with reached():
                self._threads = max(sum(self._client.nthreads().values()), 1)
            self._counted = time.monotonic()
        return max(TASKS_AHEAD * self._threads - len(self._item_of), 0)

    def add(self, item: Item, submit: Callable[[Item], Any]) -> None:
        """Send a task: ``submit(item)`` returns its future.

        Raises
        ------
        MmpError
            If the scheduler is lost.
        """
        with reached():
            future = submit(item)
        self._item_of[future] = item
        self._waiting.add(future)

    def ended(self) -> Iterator[tuple[Item, Any, Exception | None]]:
        """Yield the item, the result and the error of each task as it ends.

        Raises
        ------
        MmpError
            If the scheduler is lost.
        """
        for each in self._waiting:
            future, result = each if self._small else (each, None)
            item = self._item_of.pop(future)
            with reached():
                error = _error_of(future)
                if error is not None:
                    result = None
                elif not self._small:
                    result = future.result()
            yield item, result, error
            future.release()

    def __enter__(self) -> "InFlight[Item]":
        return self

    def __exit__(self, *_: object) -> None:
        keys = {future.key for future in self._item_of}
        with contextlib.suppress(Exception):
            self._client.cancel(list(self._item_of), force=True)
            if keys and self._writes:
                _wait_for(self._client, keys)


def _wait_for(client: Any, keys: set[str]) -> None:
    """Wait until no worker works on tasks, for ``WRITERS_SECONDS`` at most."""

    def works(dask_worker: Any) -> bool:
        return any(task.key in keys for task in dask_worker.state.all_running_tasks)

    end = time.monotonic() + WRITERS_SECONDS
    while any(client.run(works, on_error="ignore").values()) and time.monotonic() < end:
        time.sleep(0.05)


@contextlib.contextmanager
def reached() -> Iterator[None]:
    """Turn what Dask raises without its scheduler into an error that says so.

    Raises
    ------
    MmpError
        If the scheduler is lost.
    """
    try:
        yield
    except MmpError:
        raise
    except (CancelledError, OSError) as error:
        raise MmpError(
            "the scheduler of the cluster is lost; with --manifest, a cache or results of a sweep, "
            "the same command goes on"
        ) from error


def _error_of(future: Any) -> Exception | None:
    """Return the error of a task that ended, or None.

    Raises
    ------
    CancelledError
        If the scheduler is lost.
    """
    from distributed.scheduler import KilledWorker

    if future.status in ("cancelled", "lost"):
        raise CancelledError
    if future.status == "finished":
        return None
    error: Exception = future.exception()
    if isinstance(error, KilledWorker):
        return WorkersDied("the workers that were given it died")
    return error


def _named(error: Exception, item: object) -> Exception:
    if isinstance(error, WorkersDied):
        return MmpError(f"{item}: {error}")
    if isinstance(error, MmpError):
        return error
    return MmpError(f"{item}: {type(error).__name__}: {error}")


def as_they_come(
    client: Any,
    submit: Callable[[Item], Any],
    items: Iterable[Item],
    *,
    named: bool = False,
    writes: bool = False,
) -> Generator[tuple[Item, Any], None, None]:
    """Send a task for each item, a few ahead, and yield items with their results as they come.

    Parameters
    ----------
    client : distributed.Client
    submit : callable
        ``submit(item)`` sends the task and returns its future.
    items : iterable
        Taken as tasks are sent.
    named : bool
        Whether an error of a task becomes an MmpError that names the item; those of mmpcodec name
        their place already.
    writes : bool
        See ``InFlight``.

    Yields
    ------
    (item, result)

    Raises
    ------
    MmpError
        If the workers of a task die one after the other, or the scheduler is lost.
    Exception
        The error of a task.
    """
    rest = iter(items)
    with InFlight[Item](client, writes=writes) as sent:
        for item in islice(rest, sent.room()):
            sent.add(item, submit)
        for item, result, error in sent.ended():
            if error is not None:
                raise _named(error, item) if named else error
            for following in islice(rest, sent.room()):
                sent.add(following, submit)
            yield item, result


def with_callers_dask(items: Iterable[Item], task_of: Callable[[Item], Any]) -> Iterator[Any]:
    """Yield the results of Dask tasks as they come, from the scheduler that the caller has set up.

    On a cluster, a few tasks are in flight. With threads or processes of this machine, groups of
    ``TASKS_AHEAD`` tasks for each processor run one after the other.

    Parameters
    ----------
    items : iterable
        Taken as tasks are started.
    task_of : callable
        ``task_of(item)`` returns a ``dask.delayed.Delayed``.

    Raises
    ------
    Exception
        The error of a task.
    """
    dask = load("dask", "mmpcodec.dask")
    client: Any = getattr(load("dask.base", "mmpcodec.dask").get_scheduler(), "__self__", None)
    if hasattr(client, "compute"):
        sent = as_they_come(client, lambda item: client.compute(task_of(item)), items)
        yield from (result for _, result in sent)
        return
    rest = iter(items)
    while group := list(islice(rest, TASKS_AHEAD * processors())):
        yield from dask.compute(*map(task_of, group))


def load(name: str, needed_by: str) -> Any:
    """Import a package of the extra ``cluster``.

    Parameters
    ----------
    name : str
    needed_by : str
        What needs it, for the message.

    Raises
    ------
    MissingExtra
        If it is not installed.
    """
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"{needed_by}: needs {name}; {install('cluster')}") from error
