"""Rows of the simulation: 10^6 pictures, the most workers, and the measured runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from devices import batch_of, rows
from simulated import Cost, Costs, drawn, fitted, limit, most_workers, simulate
from speedup import LAMBDA, SETTINGS
from usage import Row, rows_of

from mmpcodec import backends
from mmpcodec.runtime.machine import processors

PICTURES = 10**6
WORKERS = (8, 64, 512)
BATCHES = (1, 4, 16, 64)
CROPS, *SQUARES = SETTINGS
DEVICE_NAMES = {"plain": "plain", "photo-1": "photo, effort 1", "photo-6": "photo, effort 6"}
"""Names in the tables, of the settings of `devices.py`."""
DEVICE_BATCH = 64
COST_COLUMNS = {
    "process": "process",
    "task_ms": "ms a task",
    "picture_ms": "and ms a picture",
}
SIMULATED_COLUMNS = {
    "setting": "512x512 pictures",
    "mean_s": "s a picture",
    "workers": "workers",
    "batch": "pictures a task",
    "hours": "hours",
    "efficiency_percent": "of ideal, %",
    "scheduler_percent": "scheduler busy, %",
    "client_percent": "client busy, %",
}
LIMIT_COLUMNS = {
    "setting": "512x512 pictures",
    "batch": "pictures a task",
    "linear_workers": "workers within 5 % of linear",
    "scheduler_workers": "scheduler limits at, closed form",
    "client_workers": "client limits at, closed form",
}
VALIDATED_COLUMNS = {
    "work": "work",
    "workers": "workers",
    "batch": "pictures a task",
    "measured_s": "measured, s",
    "predicted_s": "simulated, s",
    "error_percent": "error, %",
}
DEVICE_COLUMNS = {
    "setting": "setting",
    "by": "by",
    "per_second": "pictures/s",
    "gpu_hours": "GPU hours for 10^6 pictures",
    "host_hours": "core hours held beside",
}


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


def settings_of(path: Path) -> Iterator[tuple[str, Sequence[float], Sequence[int]]]:
    """Yield each setting with the times of its pictures and the pictures a task."""
    times = {row["setting"]: row["all_s"] for row in rows_of("scale-times", path)}
    for name in SQUARES:
        yield name.removeprefix("512x512, "), times[name], BATCHES
    for row in rows_of("scale-devices", path):
        if row["by"] == "threads":
            yield f"{row['setting']}, GPU", [1 / row["per_second"]], (DEVICE_BATCH,)


def simulated_rows(path: Path, costs: Costs, pictures: int = PICTURES) -> Iterator[Row]:
    """Yield what 10^6 pictures take by setting, workers and pictures a task."""
    for setting, times, batches in settings_of(path):
        for workers in WORKERS:
            for batch in batches:
                tasks = drawn(times, pictures, batch)
                found = simulate(tasks, workers, costs, batch)
                yield {
                    "setting": setting,
                    "mean_s": sum(times) / len(times),
                    "workers": workers,
                    "batch": batch,
                    "hours": found.seconds / 3600,
                    "efficiency_percent": 100 * found.efficiency,
                    "scheduler_percent": 100 * found.scheduler,
                    "client_percent": 100 * found.client,
                }


def limit_rows(path: Path, costs: Costs) -> Iterator[Row]:
    """Yield the numbers of workers at which a process limits, simulated and in closed form."""
    for setting, times, batches in settings_of(path):
        mean = sum(times) / len(times)
        for batch in batches:
            at = limit(costs.scheduler, mean, batch, costs.worker)
            yield {
                "setting": setting,
                "batch": batch,
                "linear_workers": most_workers(times, costs, batch),
                "scheduler_workers": round(at),
                "client_workers": round(limit(costs.client, mean, batch, costs.worker)),
            }


def validated_rows(path: Path, costs: Costs) -> Iterator[Row]:
    """Yield the seconds of measured runs beside those of the simulation."""
    (seconds,) = (row["all_s"] for row in rows_of("scale-times", path) if row["setting"] == CROPS)
    for row in rows_of("scale-speedup", path):
        if "work_s" in row:
            workers = int(row["way"].strip("`").rpartition(" ")[2])
            found = simulate(seconds, workers, costs)
            yield validated(f"{len(seconds)} crops", workers, 1, row["work_s"], found.seconds)
    for row in rows_of("scale-tasks", path):
        workers, batch, tasks = row["workers"], row["batch"], row["tasks"]
        found = simulate([0.0] * tasks, workers, costs, batch)
        # All processes share the cores of this machine; on a cluster each has its own.
        shared = sum(row[f"{name}_ms"] for name in costs._fields) / row["cores"]
        predicted = max(found.seconds, shared * tasks / 1000)
        measured = row["wall_ms"] * tasks / 1000
        yield validated("no encoding", workers, batch, measured, predicted)


def validated(work: str, workers: int, batch: int, measured: float, predicted: float) -> Row:
    """Return a row that compares two times."""
    return {
        "work": work,
        "workers": workers,
        "batch": batch,
        "measured_s": measured,
        "predicted_s": predicted,
        "error_percent": 100 * (predicted / measured - 1),
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
