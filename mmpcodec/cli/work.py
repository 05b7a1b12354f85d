"""The work on one input of a command: its progress, its result, or why it was left."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from mmpcodec.cli.exits import show_error
from mmpcodec.cli.inputs.folders import Reason
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import Facts, Printer, counted
from mmpcodec.cli.progress import Bar
from mmpcodec.errors import BadMagic, FileError, MmpError, PictureError

MOST_NAMES = 10
"""Number of names of files that one reason lists in a line of text."""


class JobProgress:
    """The progress callback of one job, for the library.

    Parameters
    ----------
    bar : Bar
    cancelled : threading.Event
        Set when the job should stop.
    note : callable
        ``note(line)`` prints a remark.
    """

    def __init__(self, bar: Bar, cancelled: threading.Event, note: Callable[[str], None]):
        self._bar = bar
        self._cancelled = cancelled
        self.note = note

    def __call__(self, done: int, total: int) -> bool:
        self._bar.advance(done, total)
        return not self._cancelled.is_set()

    def say(self, text: str) -> None:
        """Show a text beside the bar."""
        self._bar.say(text)


Work = Callable[[Job, JobProgress], Facts]


class Left(NamedTuple):
    """A job that was not done: it failed or was skipped."""

    job: Job

    def as_dict(self) -> dict[str, Any]:
        job = self.job
        if job.left_out is not None:
            return {"input": job.source, "ignored": job.left_out.what}
        why = {"skipped": job.skipped} if job.fault is None else {"error": job.fault}
        page = {} if job.page is None else {"page": job.page}
        return {"input": job.source, "output": job.target, **page, **why}

    def text(self, verbose: bool) -> str:
        return self.job.fault or f"{self.job.name}: skipped, {self.job.skipped}"

    def tell(self, printer: Printer) -> None:
        """Print why, on standard error, and as a row of JSON."""
        if printer.as_json:
            printer.show(self)
        if self.job.fault is not None:
            show_error(self.text(False))
        elif not self.job.resumed:  # those are too many to list; their number is printed
            printer.note(self.text(False))


def tell_left_out(jobs: Sequence[Job], printer: Printer) -> bool:
    """Print what folders hold besides inputs, in one line, and as rows of JSON.

    Returns
    -------
    bool
        Whether the exit code must tell of it.
    """
    names: dict[Reason, list[str]] = {}
    for job in jobs:
        if job.left_out is None:
            if not job.to_do:
                Left(job).tell(printer)
            continue
        names.setdefault(job.left_out, []).append(job.name)
        if printer.as_json:
            printer.show(Left(job))
    if not names:
        return False
    total = sum(map(len, names.values()))
    parts = [_left_out_text(reason, names[reason]) for reason in sorted(names)]
    line = f"{counted(total, 'file')} left out: {'; '.join(parts)}"
    counts = any(reason.counts for reason in names)
    if counts:
        show_error(line)
    else:
        printer.note(line)
    return counts


def _left_out_text(reason: Reason, names: Sequence[str]) -> str:
    text = f"{len(names)} {reason.what}"
    if not reason.counts:
        return text
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{text}: {', '.join(names[:MOST_NAMES])}{more}"


def named_fault(name: str, error: MmpError) -> str:
    """Return the message of an error that does not name its file."""
    return f"{name}: {'is not an mmp file; ' if isinstance(error, BadMagic) else ''}{error}"


def attempt(job: Job, work: Work, progress: JobProgress) -> Facts | Left:
    """Do the work of a job; what fails for a declared reason is left."""
    if not job.to_do:
        return Left(job)
    try:
        return work(job, progress)
    except (FileError, PictureError) as error:
        fault = str(error)  # the message names its file
    except MmpError as error:
        fault = named_fault(job.name, error)
    except MemoryError:
        fault = f"{job.name}: not enough memory"
    return Left(job._replace(fault=fault))
