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
from mmpcodec.cli.cluster.manifest import Manifest, Record, sha256_of, state_of, write_through
from mmpcodec.cli.cluster.places import Place, as_given, placed
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import Facts, Printer, Remarks, counted, remarks_noted
from mmpcodec.cli.progress import Bar, ProgressBars
from mmpcodec.cli.work import JobProgress, Left, Work, attempt
from mmpcodec.dask.in_flight import InFlight, reached
from mmpcodec.errors import FileError, MmpError

CPU_BATCH, CUDA_BATCH = 1, 64
"""Jobs of a task. A device encodes many pictures at once; a processor has one at a time."""
WORKER_SECONDS = 5
"""Seconds to wait for a worker before the cluster is described."""
SORTED_TASKS = 16
"""Tasks whose jobs are sorted by size together."""


class JobOutcome(NamedTuple):
    """What became of a job on a worker, its remarks, and the keys of what it left out."""

    job: Job
    found: Facts | Left
    record: Record
    remarks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def fault(self) -> str | None:
        """Why the job failed, or None."""
        return self.found.job.fault if isinstance(self.found, Left) else None


def outcomes(
    jobs: Sequence[Job],
    work: Work,
    place: Place,
    printer: Printer,
    bars: ProgressBars,
    left_out: Remarks,
) -> Generator[Facts | Left, None, None]:
    """Yield the result of each job as it comes from the cluster.

    Parameters
    ----------
    jobs : sequence of Job
    work : callable
        Goes to the workers by cloudpickle; its results are named tuples with fields ``input`` and
        ``output``, and ``partner`` if the jobs have partners. If it has a method
        ``together(jobs)``, this is called with the jobs of a task, and what it returns does their
        work.
    place : Place
        With a cluster.
    printer : Printer
    bars : ProgressBars
    left_out : Remarks
        Gets what the workers leave out of the pictures.

    Raises
    ------
    MmpError
        If the cluster cannot be reached, or is lost.
    """
    cluster, manifest = place
    if not jobs or cluster is None:
        return
    own = [_Placed.of(job) for job in jobs]
    many = cluster.where == CUDA or getattr(work, "wants_many", False)
    batch = cluster.batch or (CUDA_BATCH if many else CPU_BATCH)
    tasks = _alike(own, batch) if many else _in_turn(own, batch)
    with (
        connected(cluster.where, cluster.workers, cluster.device) as client,
        bars.follow(counted(len(jobs), "picture")) as bar,
    ):
        tell(described(client), printer)
        counts = Counts(len(jobs), bar)
        for outcome in _from_workers(client, tasks, work, manifest):
            for remark in outcome.remarks:
                printer.note(remark)
            left_out.add(outcome.job.name, outcome.left_out)
            if manifest is not None:
                manifest.end(outcome.job, outcome.record, outcome.fault)
            counts.add(outcome)
            yield outcome.found
        tell(counts.now(), printer)


def _in_turn(jobs: Sequence["_Placed"], size: int) -> Iterator[Sequence["_Placed"]]:
    """Yield the jobs of each task, in the order of the jobs."""
    return (jobs[start : start + size] for start in range(0, len(jobs), size))


def _alike(jobs: Sequence["_Placed"], size: int) -> Iterator[Sequence["_Placed"]]:
    """Yield the jobs of each task: jobs that are near in order, and of files of similar size.

    A device encodes pictures of similar size together in the least time.
    """
    for near in _in_turn(jobs, size * SORTED_TASKS):
        yield from _in_turn(sorted(near, key=lambda job: job.bytes), size)


def tell(facts: Facts, printer: Printer) -> None:
    """Print facts about the run: a row of JSON, or a remark."""
    if printer.as_json:
        printer.show(facts)
    else:
        printer.note(facts.text(False))


class ClusterFacts(NamedTuple):
    """A cluster as a run finds it: workers, their threads, and the address of Dask's dashboard."""

    workers: int
    threads: int
    dashboard: str

    def as_dict(self) -> dict[str, Any]:
        return {"event": "cluster", **self._asdict()}

    def text(self, verbose: bool) -> str:
        there = f"{counted(self.workers, 'worker')}, {counted(self.threads, 'thread')}"
        there = there if self.workers else "no worker yet, the work begins when one comes"
        return f"cluster: {there}; dashboard {self.dashboard}"


def described(client: Any) -> ClusterFacts:
    """Return what a cluster is, after a while for its first worker to come.

    Raises
    ------
    MmpError
        If the scheduler is lost.
    """
    with reached():
        with contextlib.suppress(TimeoutError):
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        workers = client.nthreads()
    return ClusterFacts(len(workers), sum(workers.values()), client.dashboard_link)


class RunFacts(NamedTuple):
    """What a run has done so far; bytes are those of the files, seconds are wall time."""

    pictures: int
    failed: int
    megapixels: float
    read_bytes: int
    written_bytes: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        return {"event": "end", **self._asdict()}

    def text(self, verbose: bool) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        saved = self.read_bytes - self.written_bytes
        files = f"{self.read_bytes} bytes read"
        if self.written_bytes:
            files = f"{self.read_bytes} -> {self.written_bytes} bytes"
            files += f", {saved} bytes saved" if saved > 0 else ""
        return (
            f"{counted(self.pictures, 'picture')}{failed}, "
            f"{self.megapixels / max(self.seconds, 1e-9):.1f} megapixels/s, "
            f"{files} in {self.seconds:.1f} s"
        )


class Counts:
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
            own = facts.get("width", 0) * facts.get("height", 0)
            self._pixels += facts.get("pixels", own)
        self._bar.advance(self._done, self._jobs)
        self._bar.say(self.now().text(False))

    def now(self) -> RunFacts:
        """Return the counts."""
        seconds = time.monotonic() - self._started
        pixels = self._pixels / 1e6
        return RunFacts(self._done, self._failed, pixels, self._read, self._written, seconds)


def _from_workers(
    client: Any,
    tasks: Iterator[Sequence["_Placed"]],
    work: Work,
    manifest: Manifest | None,
) -> Iterator[JobOutcome]:
    """Send tasks to the workers, a few ahead, and yield the outcomes."""
    done = partial(_done, work, manifest is not None)

    def submit(batch: Sequence[_Placed]) -> Any:
        if manifest is not None:
            manifest.begin([job.given for job in batch])
        return client.submit(done, batch, pure=False)

    with InFlight[Sequence[_Placed]](client, small=True) as sent:
        for batch in islice(tasks, sent.room()):
            sent.add(batch, submit)
        for batch, found, error in sent.ended():
            if error is not None and len(batch) > 1:
                for each in batch:  # alone, each job gets its own result or error
                    sent.add((each,), submit)
            for following in islice(tasks, sent.room()):
                sent.add(following, submit)
            if error is None:
                yield from found
            elif len(batch) == 1:
                job = batch[0].given
                kind = "" if isinstance(error, MmpError) else f"{type(error).__name__}: "
                left = Left(job._replace(fault=f"{job.name}: {kind}{error}"))
                yield JobOutcome(job, left, Record())


class _Placed(NamedTuple):
    """A job, and the job with names that do not depend on the working folder of a worker."""

    given: Job
    own: Job

    @property
    def bytes(self) -> int:
        """Size of the input's file; 0 if it cannot be looked at."""
        with contextlib.suppress(MmpError):
            stored = self.given.stored
            return state_of(self.own.source)[0] if stored is None else stored.size
        return 0

    @classmethod
    def of(cls, job: Job) -> "_Placed":
        """Name the files of a job for workers."""
        return cls(job, placed(job))

    def as_given(self, text: str) -> str:
        """Return a text with the names of the command line."""
        own, given = self.own, self.given
        names = (
            (own.source, given.source),
            (own.target, given.target),
            (own.partner, given.partner),
        )
        return as_given(text, names)


def _done(work: Work, recorded: bool, jobs: Sequence[_Placed]) -> list[JobOutcome]:
    """Do jobs on a worker."""
    from distributed import get_worker

    together: Callable[[Sequence[Job]], Work] | None = getattr(work, "together", None)
    one = work if together is None else together([job.own for job in jobs])
    return [_on_worker(job, one, get_worker().address, recorded) for job in jobs]


def _on_worker(job: _Placed, work: Work, worker: str, recorded: bool) -> JobOutcome:
    remarks: list[str] = []
    progress = JobProgress(Bar(), threading.Event(), remarks.append)
    with remarks_noted(remarks.append) as left_out:
        found, record = outcome_of(job.own, work, progress, worker, recorded=recorded)[1:3]
    if isinstance(found, Left):
        found = Left(job.given._replace(fault=job.as_given(str(found.job.fault))))
    else:
        renamed: Any = found
        given = job.given
        found = renamed._replace(input=given.source, output=given.target)
        if given.partner is not None:
            found = found._replace(partner=given.partner)
    keys = tuple(left_out.of(job.own.name, job.own.partner))
    return JobOutcome(job.given, found, record, tuple(map(job.as_given, remarks)), keys)


def outcome_of(
    job: Job, work: Work, progress: JobProgress, worker: str = "", *, recorded: bool = True
) -> JobOutcome:
    """Do a job, and look at its source before and at its output afterwards.

    ``recorded`` says whether the hash of the output is wanted, for a manifest. Then the output is
    on the disk before, so that the manifest never calls a file done that a power cut has lost.
    """
    start = time.monotonic()
    source = output = (0, "")
    with contextlib.suppress(MmpError):  # reading the source raises the error
        source = state_of(job.source)
    found = attempt(job, work, progress)
    if not isinstance(found, Left) and job.target:
        target = getattr(found, "output", job.target)  # a copy has another name
        try:
            if recorded:
                write_through(target)
            output = sha256_of(target) if recorded else (state_of(target)[0], "")
        except FileError as error:
            found = Left(job._replace(fault=str(error)))
    return JobOutcome(job, found, Record(*source, *output, time.monotonic() - start, worker))
