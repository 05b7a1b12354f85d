"""Simulate a run of `mmp encode --cluster`: one client, one scheduler, and workers of one thread.

Client, scheduler and workers do one thing at a time, in the order of arrival. The client keeps
``ahead`` tasks for each worker under way, as `mmpcodec.cli.cluster.workers` does. A task takes half
of its scheduler time before it goes to the worker with the fewest tasks, and half when it is done;
the client then receives it and sends the next one. Messages take no time, all workers are there
from the beginning, and no task moves to another worker once it was given to one.
"""

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

AHEAD = 2
"""Tasks under way for each thread, `TASKS_AHEAD` of mmpcodec.dask.in_flight."""
LINEAR = 0.95
"""Share of the ideal speed that counts as linear."""
TASKS_FOR_EACH = 40
"""Tasks for each worker in the search for the most workers."""


class Cost(NamedTuple):
    """Seconds that a process is busy for each task, and for each picture of the task."""

    task: float = 0.0
    picture: float = 0.0

    def of(self, batch: float) -> float:
        """Return the seconds for a task of ``batch`` pictures."""
        return self.task + batch * self.picture


class Costs(NamedTuple):
    """Costs of the three kinds of processes; those of a worker come on top of the encoding."""

    client: Cost = Cost()
    scheduler: Cost = Cost()
    worker: Cost = Cost()


NONE = Costs()
"""No costs."""


class Simulated(NamedTuple):
    """The result of a simulation; shares are those of the time in which a process is busy.

    Parameters
    ----------
    seconds : float
        From the first task that the client sends to the last result that it receives.
    efficiency : float
        Seconds of encoding, divided by seconds times workers.
    scheduler, client : float
    """

    seconds: float
    efficiency: float
    scheduler: float
    client: float


def fitted(batches: Sequence[float], seconds: Sequence[float]) -> Cost:
    """Fit a line to seconds a task by pictures a task, with least squares of relative errors.

    Neither coefficient is negative.
    """
    sizes, values = np.asarray(batches, float), np.asarray(seconds, float)
    slope, task = np.polyfit(sizes, values, 1, w=1 / values)
    if task < 0:
        return Cost(0.0, float((1 / values @ sizes) / ((sizes / values) @ (sizes / values))))
    if slope < 0:
        return Cost(float((1 / values).sum() / (1 / values**2).sum()), 0.0)
    return Cost(float(task), float(slope))


def drawn(times: Sequence[float], pictures: int, batch: int, seed: int = 0) -> np.ndarray:
    """Return the seconds of each task: sums of times that are drawn with replacement.

    Parameters
    ----------
    times : sequence of float
        Seconds of single pictures.
    pictures, batch : int
        Number of pictures, and of pictures in a task; the last task may have fewer.
    seed : int

    Returns
    -------
    (tasks,) array of float64
    """
    chosen = np.random.default_rng(seed).choice(np.asarray(times, float), pictures)
    return np.add.reduceat(chosen, np.arange(0, pictures, batch))


def simulate(
    tasks: Sequence[float] | np.ndarray,
    workers: int,
    costs: Costs = NONE,
    batch: int = 1,
    ahead: int = AHEAD,
) -> Simulated:
    """Simulate a run.

    Parameters
    ----------
    tasks : sequence of float
        Seconds of encoding of each task.
    workers : int
        Number of workers, which have one thread each.
    costs : Costs
    batch : int
        Pictures of a task.
    ahead : int
        Tasks under way for each worker.

    Returns
    -------
    Simulated
    """
    seconds = [float(one) for one in tasks]
    extra = costs.worker.of(batch)
    half_client, half_scheduler = costs.client.of(batch) / 2, costs.scheduler.of(batch) / 2
    client_free = scheduler_free = last = 0.0
    free = [0.0] * workers
    load = [0] * workers
    by_load = [set(range(workers)), *(set[int]() for _ in range(ahead))]
    sent, placed, worked, reported = range(4)
    # Time, number of the event, kind, worker.
    events: list[tuple[float, int, int, int]] = []
    number = begun = given = 0
    while begun < min(ahead * workers, len(seconds)):
        client_free += half_client
        events.append((client_free, number, sent, 0))
        number, begun = number + 1, begun + 1
    heapq.heapify(events)
    while events:
        now, _, kind, worker = heapq.heappop(events)
        if kind in (sent, worked):
            scheduler_free = max(now, scheduler_free) + half_scheduler
            event = (scheduler_free, number, placed if kind == sent else reported, worker)
        elif kind == placed:
            level = next(level for level in range(ahead) if by_load[level])
            worker = by_load[level].pop()
            by_load[level + 1].add(worker)
            load[worker] = level + 1
            free[worker] = max(now, free[worker]) + extra + seconds[given]
            event = (free[worker], number, worked, worker)
            given += 1
        else:
            level = load[worker]
            by_load[level].remove(worker)
            by_load[level - 1].add(worker)
            load[worker] = level - 1
            last = client_free = max(now, client_free) + half_client
            if begun == len(seconds):
                continue
            client_free += half_client
            event = (client_free, number, sent, 0)
            begun += 1
        heapq.heappush(events, event)
        number += 1
    busy = 2 * len(seconds)
    return Simulated(
        last,
        sum(seconds) / (workers * last),
        busy * half_scheduler / last,
        busy * half_client / last,
    )


def limit(cost: Cost, picture: float, batch: int, worker: Cost = NONE.worker) -> float:
    """Return the number of workers that keep a scheduler or client busy all the time.

    Parameters
    ----------
    cost : Cost
        Of the scheduler or the client.
    picture : float
        Mean seconds of encoding a picture.
    batch : int
        Pictures of a task.
    worker : Cost
        Of a worker, on top of the encoding.
    """
    return (batch * picture + worker.of(batch)) / cost.of(batch)


def most_workers(times: Sequence[float], costs: Costs, batch: int, share: float = LINEAR) -> int:
    """Return the most workers whose efficiency is ``share`` of that of one worker, or more.

    A run has ``TASKS_FOR_EACH`` tasks for each worker, so its end, at which workers wait for the
    last task, costs little. 0 if one worker is too many.
    """

    def linear(workers: int) -> bool:
        tasks = drawn(times, workers * TASKS_FOR_EACH * batch, batch)
        alone = tasks.mean() / (tasks.mean() + costs.worker.of(batch))
        return simulate(tasks, workers, costs, batch).efficiency >= share * alone

    good, bad = 0, 1
    while linear(bad):
        good, bad = bad, 2 * bad
    while bad - good > max(1, good // 50):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if linear(middle) else (good, middle)
    return good
