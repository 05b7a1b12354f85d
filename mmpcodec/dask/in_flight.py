"""Tasks of a Dask cluster of which only a few are in flight, so that memory stays bounded."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from mmpcodec.errors import MissingExtra, MmpError, install
from mmpcodec.runtime.machine import processors

Item = TypeVar("Item")
TASKS_AHEAD = 2
"""Tasks in flight for each thread of the workers: one in work, and one that waits."""


def as_they_come(
    client: Any,
    submit: Callable[[Item], Any],
    items: Iterable[Item],
    *,
    wrapped: bool = True,
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
    wrapped : bool
        Whether an error of a task that is not one of mmpcodec becomes one, which names the item.

    Yields
    ------
    (item, result)

    Raises
    ------
    MmpError
        The error of a task. Also if its workers die one after the other, or the scheduler is lost.
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
            result = _result(future, item, wrapped)
            future.release()
            send(max(0, _most_in_flight(client) - len(item_of)))
            yield item, result
    finally:
        with contextlib.suppress(Exception):
            client.cancel(list(item_of), force=True)


def _most_in_flight(client: Any) -> int:
    return TASKS_AHEAD * max(1, sum(client.nthreads().values()))


def _result(future: Any, item: object, wrapped: bool) -> Any:
    from distributed.scheduler import KilledWorker

    if future.status in ("cancelled", "lost"):
        raise MmpError("the scheduler of the cluster is lost")
    if future.status == "finished":
        return future.result()
    error = future.exception()
    if isinstance(error, KilledWorker):
        raise MmpError(f"{item}: the workers that were given it died") from error
    if isinstance(error, MmpError) or not wrapped:
        raise error
    raise MmpError(f"{item}: {type(error).__name__}: {error}") from error


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
        sent = as_they_come(
            client, lambda item: client.compute(task_of(item)), items, wrapped=False
        )
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
