"""Work through the inputs of a command. A failed input does not stop the others; Ctrl-C does."""

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence

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
    """Do the work of each job, and print results and errors in the order of the jobs.

    Parameters
    ----------
    jobs : sequence of Job
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
    failed = 0
    with (
        remarks_noted(printer),
        ProgressBars(printer.shows_progress) as bars,
        contextlib.closing(_outcomes(jobs, work, bars, at_once)) as outcomes,
    ):
        for outcome in outcomes:
            if isinstance(outcome, str):
                failed += 1
                show_error(outcome)
            else:
                printer.show(outcome)
    if not failed:
        return ExitCode.DONE
    if len(jobs) > 1:
        show_error(f"{failed} of {len(jobs)} inputs failed")
    return ExitCode.FAILED if failed == len(jobs) else ExitCode.PARTLY_FAILED


def _outcomes(
    jobs: Sequence[Job], work: Work, bars: ProgressBars, at_once: int
) -> Generator[Facts | str, None, None]:
    """Yield the result or the error line of each job, in order."""
    cancelled = threading.Event()

    def attempt(job: Job) -> Facts | str:
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
