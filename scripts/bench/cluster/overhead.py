"""Measure what Dask, the client and the manifest cost `mmp encode`, without encoding."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from giant import cluster
from usage import Row

from mmpcodec.runtime.machine import processors

BATCHES = {1: 1000, 4: 2000, 16: 4800, 64: 9600}
"""Pictures that are sent, by pictures a task."""
IN_FOLDER = 1000
FOLDER_BATCH, FOLDER_WORKERS = 64, 2
TASK_COLUMNS = {
    "workers": "workers",
    "batch": "pictures a task",
    "tasks": "tasks",
    "scheduler_ms": "scheduler, ms a task",
    "scheduler_range": "least to most",
    "client_ms": "client, ms a task",
    "worker_ms": "worker, ms a task",
    "occupied_ms": "client occupied, wall ms a task",
    "wall_ms": "wall time, ms a task",
    "sent_kib": "messages, KiB a task",
}
FOLDER_COLUMNS = {
    "step": "client",
    "files": "files",
    "cpu_s": "processor seconds",
    "peak_mib": "peak memory, MiB",
    "manifest_mib": "manifest, MiB",
    "million_cpu_s": "processor seconds for 10^6",
    "million_mib": "peak memory for 10^6, MiB",
}


@contextlib.contextmanager
def importable() -> Iterator[None]:
    """Let workers import the modules beside this script, and mmpcodec from where it is here."""
    given = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *filter(None, [given])])
    try:
        yield
    finally:
        os.environ.pop("PYTHONPATH")
        if given is not None:
            os.environ["PYTHONPATH"] = given


def client(folder: str, manifest: str, *arguments: str) -> Row:
    """Run the client in a process of its own, and return what it says."""
    program = str(Path(__file__).with_name("tasks.py"))
    done = subprocess.run(
        [sys.executable, program, folder, "--manifest", manifest, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"tasks.py: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stderr.splitlines()[-1])


def make_files(folder: str, count: int, *kinds: tuple[str, str]) -> None:
    """Write files of one byte, 1000 in each subfolder, in folders with names and suffixes."""
    for kind, suffix in kinds:
        for number in range(count):
            place = Path(folder, kind, f"{number // IN_FOLDER:04}")
            if number % IN_FOLDER == 0:
                place.mkdir(parents=True)
            (place / f"picture-{number:07}.{suffix}").write_bytes(b"x")


def on_cluster(
    folder: str, manifest: str, workers: int, batch: int, pictures: int, *more: str
) -> Row:
    """Send pictures through a new cluster, and return what the client says.

    ``more`` are further options of `tasks.py`.
    """
    with importable(), cluster(workers, folder) as started:
        pids = [started.scheduler.pid, *(worker.pid for worker in started.workers)]
        to = ("--address", started.address, "--batch", str(batch), "--pictures", str(pictures))
        return client(folder, manifest, *to, *more, "--pids", *map(str, pids))


def task_rows(workers: Sequence[int], runs: int) -> Iterator[Row]:
    """Measure the cost of a task by numbers of workers and pictures a task; medians of runs.

    The runs of all batches are interleaved. Bytes are the least of the runs, because other programs
    use the loopback interface too.
    """
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder, max(BATCHES.values()), ("in", "pgm"), ("out", "mmp"))
        for count in workers:
            found: dict[int, list[Row]] = {batch: [] for batch in BATCHES}
            for number in range(runs):
                for batch, pictures in BATCHES.items():
                    manifest = f"{folder}/{count}-{batch}-{number}.jsonl"
                    one = on_cluster(folder, manifest, count, batch, pictures, "--sleep")
                    found[batch].append(one)
            for batch, several in found.items():
                yield task_row(count, batch, several)


def task_row(workers: int, batch: int, several: Sequence[Row]) -> Row:
    """Return the row of a setting from what its runs say."""
    tasks = -(-BATCHES[batch] // batch)

    def each(key: str) -> list[float]:
        return [1000 * one[key] / tasks for one in several]

    scheduler = each("scheduler_cpu_s")
    return {
        "workers": workers,
        "batch": batch,
        "tasks": tasks,
        "cores": processors(),
        "scheduler_ms": median(scheduler),
        "scheduler_range": f"{min(scheduler):.2f} to {max(scheduler):.2f}",
        "client_ms": median(each("client_cpu_s")),
        "worker_ms": median(each("workers_cpu_s")),
        "occupied_ms": median(1000 * one["occupied_s"] for one in several),
        "wall_ms": median(each("wall_s")),
        "sent_kib": min(one["sent_bytes"] for one in several) / 1024 / tasks,
    }


def folder_rows(count: int) -> Iterator[Row]:
    """Measure the client for a folder: planning, a run on a cluster, planning after the run."""
    with tempfile.TemporaryDirectory() as folder:
        manifest = f"{folder}/run.jsonl"
        make_files(folder, count, ("in", "pgm"))
        first = client(folder, manifest)
        yield folder_row("walks and plans", count, first, "plan", manifest)
        make_files(folder, count, ("out", "mmp"))
        sent = on_cluster(folder, manifest, FOLDER_WORKERS, FOLDER_BATCH, count)
        yield folder_row("sends, receives, prints, notes", count, sent, "client", manifest)
        again = client(folder, manifest)
        if again["to_do"] or first["to_do"] != count:
            raise SystemExit(f"{again['to_do']} of {count} files are left to do")
        yield folder_row("resumes: all is done", count, again, "plan", manifest)


def folder_row(step: str, count: int, found: Row, what: str, manifest: str) -> Row:
    """Return the row of a step; times grow by count, and memory beyond that of the start."""
    factor = 1e6 / count
    cpu, peak, start = found[f"{what}_cpu_s"], found[f"{what}_mib"], found["start_mib"]
    return {
        "step": step,
        "files": count,
        "cpu_s": cpu,
        "peak_mib": peak,
        "manifest_mib": Path(manifest).stat().st_size / 2**20,
        "million_cpu_s": factor * cpu,
        "million_mib": start + factor * (peak - start),
    }
