"""The work on one input of a command: its progress, its result, or why it was left."""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from mmpcodec.cli.exits import show_error
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import Facts, Printer
from mmpcodec.cli.progress import Bar
from mmpcodec.errors import BadMagic, FileError, MmpError, PictureError


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
        why = {"skipped": job.skipped} if job.fault is None else {"error": job.fault}
        return {"input": job.source, "output": job.target, **why}

    def text(self, verbose: bool) -> str:
        return self.job.fault or f"{self.job.name}: skipped, {self.job.skipped}"

    def tell(self, printer: Printer) -> None:
        """Print why, on standard error, and as a row of JSON."""
        if printer.as_json:
            printer.show(self)
        if self.job.fault is not None:
            show_error(self.text(False))
        elif not self.job.resumed:  # those are too many to list; their number is told
            printer.note(self.text(False))


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
