"""Costs of the processes of a cluster, the workers at which one of them limits, and GPU hours."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from devices import batch_of, rows
from speedup import LAMBDA, SETTINGS
from usage import Row, rows_of

from mmpcodec import backends
from mmpcodec.runtime.machine import processors

PICTURES = 10**6
BATCHES = (1, 4, 16, 64)
_, *SQUARES = SETTINGS
DEVICE_NAMES = {"plain": "plain", "photo-1": "photo, effort 1", "photo-6": "photo, effort 6"}
"""Names in the tables, of the settings of `devices.py`."""
DEVICE_BATCH = 64
COST_COLUMNS = {
    "process": "process",
    "task_ms": "ms a task",
    "picture_ms": "and ms a picture",
}
LIMIT_COLUMNS = {
    "setting": "512x512 pictures",
    "batch": "pictures a task",
    "scheduler_workers": "scheduler limits at",
    "client_workers": "client limits at",
}
DEVICE_COLUMNS = {
    "setting": "setting",
    "by": "by",
    "per_second": "pictures/s",
    "gpu_hours": "GPU hours for 10^6 pictures",
    "host_hours": "core hours held beside",
}


class Cost(NamedTuple):
    """Seconds that a process is busy for each task, and for each picture of the task."""

    task: float = 0.0
    picture: float = 0.0

    def of(self, batch: float) -> float:
        """Return the seconds for a task of ``batch`` pictures."""
        return self.task + batch * self.picture


class Costs(NamedTuple):
    """Costs of the three kinds of processes; those of a worker come on top of the encoding."""

    client: Cost
    scheduler: Cost
    worker: Cost


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


def limit(cost: Cost, picture: float, batch: int, worker: Cost) -> float:
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


def costs_of(rows: Sequence[Row]) -> Costs:
    """Fit the costs of the processes to the measured ones, of the most workers that have rows.

    That of the client is its processor time, or the wall time in which it takes up no other task if
    that is more.
    """
    most = max(row["workers"] for row in rows)
    own = [row for row in rows if row["workers"] == most]
    batches = [row["batch"] for row in own]

    def cost(key: str) -> Cost:
        return fitted(batches, [row[key] / 1000 for row in own])

    own = [{**row, "busy_ms": max(row["occupied_ms"], row["client_ms"])} for row in own]
    return Costs(cost("busy_ms"), cost("scheduler_ms"), cost("worker_ms"))


def cost_rows(costs: Costs) -> Iterator[Row]:
    """Yield the fitted costs."""
    for process, cost in zip(costs._fields, costs, strict=True):
        yield {"process": process, "task_ms": 1000 * cost.task, "picture_ms": 1000 * cost.picture}


def settings_of(path: Path) -> Iterator[tuple[str, float, Sequence[int]]]:
    """Yield each setting with the mean seconds of a picture and the pictures a task."""
    means = {row["setting"]: row["mean_s"] for row in rows_of("scale-times", path)}
    for name in SQUARES:
        yield name.removeprefix("512x512, "), means[name], BATCHES
    for row in rows_of("scale-devices", path):
        if row["by"] == "threads":
            yield f"{row['setting']}, GPU", 1 / row["per_second"], (DEVICE_BATCH,)


def limit_rows(path: Path, costs: Costs) -> Iterator[Row]:
    """Yield the numbers of workers at which a process limits."""
    for setting, mean, batches in settings_of(path):
        for batch in batches:
            yield {
                "setting": setting,
                "batch": batch,
                "scheduler_workers": round(limit(costs.scheduler, mean, batch, costs.worker)),
                "client_workers": round(limit(costs.client, mean, batch, costs.worker)),
            }


def device_rows(images: Path, count: int, runs: int) -> Iterator[Row]:
    """Measure one device, and yield its hours for 10^6 pictures and those of its host's cores."""
    batch = batch_of(sorted(images.glob("*.pgm")), count)
    for row in rows(batch, (1,), list(DEVICE_NAMES), LAMBDA, runs, dask=True):
        hours = PICTURES / row.per_second / 3600
        yield {
            "setting": DEVICE_NAMES[row.setting],
            "by": row.how,
            "per_second": row.per_second,
            "gpu_hours": hours,
            "host_hours": processors() * hours,
            "device": backends.get("cuda").describe(),
        }
