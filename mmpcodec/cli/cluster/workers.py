"""Jobs as tasks of a Dask cluster: names go to the workers, results come back, samples never move.

Dask gives the tasks to workers, tries those of a dead worker again, and says when it gives up.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from mmpcodec.cli.cluster.clients import CUDA, connected
from mmpcodec.cli.cluster.manifest import Manifest, Record, sha256_of, state_of
from mmpcodec.cli.cluster.places import Place
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import Facts, Printer, counted, remarks_noted
from mmpcodec.cli.progress import Bar, ProgressBars
from mmpcodec.cli.work import JobProgress, Left, Work, attempt
from mmpcodec.errors import FileError, MmpError

CPU_BATCH, CUDA_BATCH = 1, 64
"""Jobs of a task. A device encodes many pictures at once; a processor has one at a time."""
TASKS_AHEAD = 2
"""Tasks in flight for each thread of the workers: one in work, and one that waits."""


class JobOutcome(NamedTuple):
    """What became of a job on a worker, and the remarks that it made."""

    job: Job
    found: Facts | Left
    record: Record
    remarks: tuple[str, ...] = ()

    @property
    def fault(self) -> str | None:
        """Why the job failed, or None."""
        return self.found.job.fault if isinstance(self.found, Left) else None


def outcomes(
    jobs: Sequence[Job], work: Work, place: Place, printer: Printer, bars: ProgressBars
) -> Generator[Facts | Left, None, None]:
    """Yield the result of each job as it comes from the cluster.

    Parameters
    ----------
    jobs : sequence of Job
    work : callable
        Goes to the workers by cloudpickle. If it has a method ``together(jobs)``, this is called
        with the jobs of a task, and what it returns does their work.
    place : Place
        With a cluster.
    printer : Printer
    bars : ProgressBars

    Raises
    ------
    MmpError
        If the cluster cannot be reached, or is lost.
    """
    cluster, manifest = place
    if not jobs or cluster is None:
        return
    batch = cluster.batch or (CUDA_BATCH if cluster.where == CUDA else CPU_BATCH)
    with (
        connected(cluster.where, cluster.workers, cluster.device) as client,
        bars.follow(counted(len(jobs), "picture")) as bar,
    ):
        _say_cluster(client, printer)
        counts = _Counts(len(jobs), bar)
        for outcome in _from_workers(client, jobs, work, batch, manifest):
            for remark in outcome.remarks:
                printer.note(remark)
            if manifest is not None:
                manifest.end(outcome.job, outcome.record, outcome.fault)
            counts.add(outcome)
            yield outcome.found
        printer.note(counts.text())


def _say_cluster(client: Any, printer: Printer) -> None:
    workers = client.nthreads()
    threads = sum(workers.values())
    printer.note(
        f"cluster: {counted(len(workers), 'worker')}, {counted(threads, 'thread')}; "
        f"dashboard {client.dashboard_link}"
    )


class _Counts:
    """Counts what is done, and shows it beside a progress bar."""

    def __init__(self, jobs: int, bar: Bar):
        self._jobs, self._bar = jobs, bar
        self._started = time.monotonic()
        self._done = self._failed = self._pixels = self._read = self._written = 0

    def add(self, outcome: JobOutcome) -> None:
        """Count a job."""
        self._done += 1
        self._failed += isinstance(outcome.found, Left)
        self._read += outcome.record.source_bytes
        self._written += outcome.record.output_bytes
        if not isinstance(outcome.found, Left):
            facts = outcome.found.as_dict()
            self._pixels += facts.get("width", 0) * facts.get("height", 0)
        self._bar.advance(self._done, self._jobs)
        self._bar.say(self.text())

    def text(self) -> str:
        """Return the counts in words."""
        seconds = time.monotonic() - self._started
        rate = self._pixels / 1e6 / max(seconds, 1e-9)
        failed = f", {self._failed} failed" if self._failed else ""
        return (
            f"{counted(self._done, 'picture')}{failed}, {rate:.1f} megapixels/s, "
            f"{self._read} -> {self._written} bytes in {seconds:.1f} s"
        )


def _from_workers(
    client: Any, jobs: Sequence[Job], work: Work, size: int, manifest: Manifest | None
) -> Iterator[JobOutcome]:
    """Send tasks of ``size`` jobs to the workers, a few ahead, and yield the outcomes."""
    from distributed import as_completed

    rest = iter(jobs)
    batches = iter(lambda: tuple(islice(rest, size)), ())
    done = partial(_done, work)
    waiting = as_completed(loop=client.loop)
    batch_of: dict[Any, tuple[Job, ...]] = {}

    def send(batch: tuple[Job, ...]) -> None:
        if manifest is not None:
            manifest.begin(batch)
        future = client.submit(done, batch, pure=False)
        batch_of[future] = batch
        waiting.add(future)

    try:
        for batch in islice(batches, TASKS_AHEAD * sum(client.nthreads().values())):
            send(batch)
        for future in waiting:
            batch = batch_of.pop(future)
            error = _error_of(future)
            if error is None:
                yield from future.result()
            elif len(batch) > 1:
                for job in batch:  # alone, each job gets its own result or error
                    send((job,))
            else:
                left = Left(batch[0]._replace(fault=f"{batch[0].name}: {error}"))
                yield JobOutcome(batch[0], left, Record())
            future.release()
            if len(batch_of) < TASKS_AHEAD * sum(client.nthreads().values()):
                for batch in islice(batches, 1):
                    send(batch)
    finally:
        with contextlib.suppress(Exception):
            client.cancel(list(batch_of), force=True)


def _error_of(future: Any) -> str | None:
    """Return why a task failed, or None.

    Raises
    ------
    MmpError
        If the scheduler is lost.
    """
    from distributed.scheduler import KilledWorker

    if future.status in ("cancelled", "lost"):
        raise MmpError(
            "the scheduler of the cluster is lost; with --manifest, the same command goes on"
        )
    if future.status == "finished":
        return None
    error = future.exception()
    if isinstance(error, KilledWorker):
        return "the workers that were given it died"
    return f"{type(error).__name__}: {error}"


def _done(work: Work, jobs: Sequence[Job]) -> list[JobOutcome]:
    """Do jobs on a worker."""
    from distributed import get_worker

    together: Callable[[Sequence[Job]], Work] | None = getattr(work, "together", None)
    one = work if together is None else together(jobs)
    return [_on_worker(job, one, get_worker().address) for job in jobs]


def _on_worker(job: Job, work: Work, worker: str) -> JobOutcome:
    remarks: list[str] = []
    progress = JobProgress(Bar(), threading.Event(), remarks.append)
    with remarks_noted(remarks.append):
        return outcome_of(job, work, progress, worker)._replace(remarks=tuple(remarks))


def outcome_of(job: Job, work: Work, progress: JobProgress, worker: str = "") -> JobOutcome:
    """Do a job, and look at its source before and at its output afterwards."""
    start = time.monotonic()
    source = output = (0, "")
    with contextlib.suppress(MmpError):  # reading the source raises the error
        source = state_of(job.source)
    found = attempt(job, work, progress)
    if not isinstance(found, Left) and job.target:
        try:
            output = sha256_of(job.target)
        except FileError as error:
            found = Left(job._replace(fault=str(error)))
    return JobOutcome(job, found, Record(*source, *output, time.monotonic() - start, worker))
