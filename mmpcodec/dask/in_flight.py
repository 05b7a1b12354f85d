"""Tasks of a Dask cluster of which only a few are in flight, so that memory stays bounded."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from mmpcodec.errors import MissingExtra, MmpError, install

Item = TypeVar("Item")
TASKS_AHEAD = 2
"""Tasks in flight for each thread of the workers: one in work, and one that waits."""


def as_they_come(
    client: Any, submit: Callable[[Item], Any], items: Iterable[Item]
) -> Iterator[tuple[Item, Any]]:
    """Send a task for each item, a few ahead, and yield items with their results as they come.

    Dask gives the tasks of a worker that dies to other workers. What is in flight when the iterator
    is closed is cancelled.

    Parameters
    ----------
    client : distributed.Client
    submit : callable
        ``submit(item)`` sends the task and returns its future.
    items : iterable
        Taken as tasks are sent.

    Yields
    ------
    (item, result)

    Raises
    ------
    MmpError
        The error of a task, if it is one of mmpcodec; otherwise one that names the item. Also if
        the scheduler is lost.
    """
    from distributed import as_completed

    rest = iter(items)
    waiting = as_completed(loop=client.loop)
    item_of: dict[Any, Item] = {}

    def send(count: int) -> None:
        for item in islice(rest, count):
            future = submit(item)
            item_of[future] = item
            waiting.add(future)

    try:
        send(_most_in_flight(client))
        for future in waiting:
            item = item_of.pop(future)
            result = _result(future, item)
            future.release()
            send(max(0, _most_in_flight(client) - len(item_of)))
            yield item, result
    finally:
        with contextlib.suppress(Exception):
            client.cancel(list(item_of), force=True)


def _most_in_flight(client: Any) -> int:
    return TASKS_AHEAD * max(1, sum(client.nthreads().values()))


def _result(future: Any, item: object) -> Any:
    from distributed.scheduler import KilledWorker

    if future.status in ("cancelled", "lost"):
        raise MmpError("the scheduler of the cluster is lost")
    if future.status == "finished":
        return future.result()
    error = future.exception()
    if isinstance(error, MmpError):
        raise error
    if isinstance(error, KilledWorker):
        raise MmpError(f"{item}: the workers that were given it died") from error
    raise MmpError(f"{item}: {type(error).__name__}: {error}") from error


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
