"""Work through the inputs of a command. A failed input does not stop the others; Ctrl-C does."""

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

from mmpcodec.cli.exits import ExitCode, show_error
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import Facts, Printer, remarks_noted
from mmpcodec.cli.progress import Bar, ProgressBars
from mmpcodec.errors import BadMagic, FileError, MmpError, PictureError


class JobProgress:
    """The progress callback of one job, for the library.

    Parameters
    ----------
    bar : Bar
    cancelled : threading.Event
        Set when the job should stop.
    """

    def __init__(self, bar: Bar, cancelled: threading.Event):
        self._bar = bar
        self._cancelled = cancelled

    def __call__(self, done: int, total: int) -> bool:
        self._bar.advance(done, total)
        return not self._cancelled.is_set()

    def say(self, text: str) -> None:
        """Show a text beside the bar."""
        self._bar.say(text)


Work = Callable[[Job, JobProgress], Facts]


def run(jobs: Sequence[Job], work: Work, printer: Printer, *, at_once: int = 1) -> ExitCode:
    """Do the work of each job, and print the results in the order of the jobs.

    What was skipped or failed is listed at the end, and also after an interrupt.

    Parameters
    ----------
    jobs : sequence of Job
        Jobs that are not ``to_do`` are listed only.
    work : callable
        ``work(job, progress)`` returns the result to print.
    printer : Printer
    at_once : int
        Number of threads, each with one job at a time. Native backends run in parallel.

    Returns
    -------
    ExitCode
        DONE, FAILED if all jobs failed, PARTLY_FAILED if some failed.
    """
    left: list[Left] = []
    try:
        with (
            remarks_noted(printer),
            ProgressBars(printer.shows_progress) as bars,
            contextlib.closing(_outcomes(jobs, work, bars, at_once)) as outcomes,
        ):
            for outcome in outcomes:
                if isinstance(outcome, Left):
                    left.append(outcome)
                else:
                    printer.show(outcome)
    finally:
        for each in left:
            each.tell(printer)
    failed = sum(each.job.fault is not None for each in left)
    skipped = len(left) - failed
    if len(jobs) > 1 and failed:
        also = f", {skipped} skipped" if skipped else ""
        show_error(f"{failed} of {len(jobs)} inputs failed{also}")
    elif len(jobs) > 1 and skipped:
        printer.note(f"{skipped} of {len(jobs)} inputs skipped")
    if not failed:
        return ExitCode.DONE
    return ExitCode.FAILED if failed == len(jobs) else ExitCode.PARTLY_FAILED


class Left(NamedTuple):
    """A job that was not done: it failed or was skipped."""

    job: Job

    def as_dict(self) -> dict[str, Any]:
        job = self.job
        why = {"skipped": job.skipped} if job.fault is None else {"error": job.fault}
        return {"input": job.source, "output": job.target, **why}

    def text(self, verbose: bool) -> str:
        return self.job.fault or f"{self.job.name}: skipped, {self.job.skipped}"

    def tell(self, printer: Printer) -> None:
        """Print why, on standard error, and as a row of JSON."""
        if printer.as_json:
            printer.show(self)
        if self.job.fault is None:
            printer.note(self.text(False))
        else:
            show_error(self.text(False))


def _outcomes(
    jobs: Sequence[Job], work: Work, bars: ProgressBars, at_once: int
) -> Generator[Facts | Left, None, None]:
    """Yield the result of each job, in order."""
    cancelled = threading.Event()

    def result_or_fault(job: Job) -> Facts | str:
        with bars.follow(job.name) as bar:
            try:
                return work(job, JobProgress(bar, cancelled))
            except (FileError, PictureError) as error:
                return str(error)  # the message names its file
            except BadMagic as error:
                return f"{job.name}: is not an mmp file; {error}"
            except MmpError as error:
                return f"{job.name}: {error}"
            except MemoryError:
                return f"{job.name}: not enough memory"

    def attempt(job: Job) -> Facts | Left:
        if not job.to_do:
            return Left(job)
        found = result_or_fault(job)
        return Left(job._replace(fault=found)) if isinstance(found, str) else found

    if at_once == 1 or len(jobs) == 1:
        yield from map(attempt, jobs)  # in this thread, which Ctrl-C stops at once
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(min(at_once, len(jobs)))
    try:
        yield from pool.map(attempt, jobs)
    finally:
        cancelled.set()
        pool.shutdown(cancel_futures=True)
