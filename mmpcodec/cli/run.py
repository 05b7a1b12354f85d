"""Work through the inputs of a command. A failed input does not stop the others; Ctrl-C does."""

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from mmpcodec.cli.exits import ExitCode, show_error
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import Facts, Printer, Remarks, remarks_noted
from mmpcodec.cli.progress import ProgressBars
from mmpcodec.cli.work import JobProgress, Left, Work, attempt, tell_left_out

if TYPE_CHECKING:
    from mmpcodec.cli.cluster.places import Place


def run(
    jobs: Sequence[Job],
    work: Work,
    printer: Printer,
    *,
    at_once: int = 1,
    place: "Place | None" = None,
    show: Callable[[Any], None] | None = None,
    seen: Callable[[Any], None] | None = None,
) -> ExitCode:
    """Do the work of each job, and print the results in the order of the jobs.

    What was skipped, has failed or was left out of a folder is listed at the end, and also after an
    interrupt.

    Parameters
    ----------
    jobs : sequence of Job
        Jobs that are not ``to_do`` are listed only.
    work : callable
        ``work(job, progress)`` returns the result to print.
    printer : Printer
    at_once : int
        Number of threads, each with one job at a time. Native backends run in parallel.
    place : Place or None
        Its cluster does the work in place of threads, and results are printed as they come; its
        manifest notes the jobs.
    show : callable or None
        ``show(result)`` prints a result; by default ``printer.show`` does.
    seen : callable or None
        ``seen(result)`` is called with each result.

    Returns
    -------
    ExitCode
        DONE, FAILED if all jobs failed, PARTLY_FAILED if some failed or files that the user may
        miss were left out.
    """
    left: list[Left] = []
    others = [job for job in jobs if job.left_out is not None]
    jobs = [job for job in jobs if job.left_out is None]
    try:
        with (
            remarks_noted(printer.note) as left_out,
            ProgressBars(printer.shows_progress) as bars,
            contextlib.closing(
                _outcomes(jobs, work, printer, bars, at_once, place, left_out)
            ) as outcomes,
        ):
            for outcome in outcomes:
                if isinstance(outcome, Left):
                    left.append(outcome)
                    continue
                if show is not None:
                    show(outcome)
                else:
                    printer.show(outcome, left_out)
                if seen is not None:
                    seen(outcome)
    finally:
        for each in left:
            each.tell(printer)
        missed = tell_left_out(others, printer)
    failed = sum(each.job.fault is not None for each in left)
    skipped = len(left) - failed
    if len(jobs) > 1 and failed:
        also = f", {skipped} skipped" if skipped else ""
        show_error(f"{failed} of {len(jobs)} inputs failed{also}")
    elif len(jobs) > 1 and skipped:
        printer.note(f"{skipped} of {len(jobs)} inputs skipped")
    if not failed:
        return ExitCode.PARTLY_FAILED if missed else ExitCode.DONE
    return ExitCode.FAILED if failed == len(jobs) else ExitCode.PARTLY_FAILED


def _outcomes(
    jobs: Sequence[Job],
    work: Work,
    printer: Printer,
    bars: ProgressBars,
    at_once: int,
    place: "Place | None",
    left_out: Remarks,
) -> Generator[Facts | Left, None, None]:
    """Yield the result of each job, in order; of a cluster, as they come."""
    manifest = None if place is None else place.manifest
    if place is not None and place.cluster is not None:
        from mmpcodec.cli.cluster.workers import outcomes

        yield from map(Left, (job for job in jobs if not job.to_do))
        yield from outcomes(
            [job for job in jobs if job.to_do], work, place, printer, bars, left_out
        )
        return
    cancelled = threading.Event()

    def one(job: Job) -> Facts | Left:
        with bars.follow(job.name) as bar:
            progress = JobProgress(bar, cancelled, printer.note)
            if manifest is None or not job.to_do:
                return attempt(job, work, progress)
            from mmpcodec.cli.cluster.workers import outcome_of

            manifest.begin([job])
            outcome = outcome_of(job, work, progress)
            manifest.end(job, outcome.record, outcome.fault)
            return outcome.found

    if at_once == 1 or len(jobs) == 1:
        yield from map(one, jobs)  # in this thread, which Ctrl-C stops at once
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(min(at_once, len(jobs)))
    try:
        yield from pool.map(one, jobs)
    finally:
        cancelled.set()
        pool.shutdown(cancel_futures=True)
