"""DICOM files of slices that commands join to a book of each series."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mmpcodec.cli import output
from mmpcodec.cli.encoding.book_options import BookOptions
from mmpcodec.cli.inputs.folders import PICTURES_AND_STORES
from mmpcodec.cli.inputs.opening import opened_input
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import Printer, counted
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures import registry

if TYPE_CHECKING:
    from mmpcodec.pictures.books.book import Book
    from mmpcodec.pictures.dicom.series import Series

DICOM = "DICOM"
_NAMED = 3
"""Most files that a remark names."""


class SeriesJobs:
    """Makes the jobs of a command, with one for each series.

    Parameters
    ----------
    books : BookOptions
    apart : bool
        Whether each file stays a job of its own.
    """

    kind = PICTURES_AND_STORES

    def __init__(self, books: BookOptions, *, apart: bool):
        self.remarks: list[str] = []
        self._books, self._apart = books, apart

    @staticmethod
    def seen(found: Any) -> None:
        """Do nothing with the result of a file."""

    def show_totals(self, printer: Printer) -> None:
        """Print nothing: each file stands alone."""

    def __call__(self, found: list[Job]) -> list[Job]:
        """Return the jobs of the files that were found; note what is odd about series."""
        jobs = self._books.jobs(found)
        if not self._apart:
            jobs, self.remarks = in_series(jobs, self._books.limits)
        return jobs


def in_series(jobs: Sequence[Job], limits: DecodeLimits) -> tuple[list[Job], list[str]]:
    """Return a job for each series of slices among DICOM files, and the other jobs.

    Parameters
    ----------
    jobs : sequence of Job
    limits : DecodeLimits

    Returns
    -------
    jobs : list of Job
        A series takes the place of the first of its files. Its output lies in the folder of that
        file, and has the name of the series.
    remarks : list of str
        What was found, and what is odd.

    Raises
    ------
    PictureError
        If a series has more slices than the limit.
    """
    by_path = {job.source: job for job in jobs if job.to_do and is_dicom(job)}
    by_path = {path: job for path, job in by_path.items() if os.path.isfile(path)}
    if len(by_path) < 2:
        return list(jobs), []
    from mmpcodec.pictures.dicom.series import series_of

    every = series_of(list(by_path), limits)
    taken = {path for series in every for path in series.paths}
    whole: dict[str, Job] = {}
    for series in every:
        first = next(path for path in by_path if path in series.paths)
        folder = os.path.dirname(by_path[first].below)
        below = os.path.join(folder, f"{series.title}.dcm")
        whole[first] = by_path[series.paths[0]]._replace(below=below, parts=series.paths)
    found = [whole.get(job.source, job) for job in jobs
             if job.source in whole or job.source not in taken]  # fmt: skip
    return found, _remarks(every, [path for path in by_path if path not in taken])


def _remarks(every: "Sequence[Series]", alone: Sequence[str]) -> list[str]:
    """Say which series there are, what is odd about them, and which files are in none."""
    lines = []
    for series in every:
        lines.append(f"{series.title}: {counted(len(series.paths), 'file')} of one series")
        lines += [f"{series.title}: {remark}" for remark in series.remarks]
    if every and alone:
        more = f" and {len(alone) - _NAMED} more" if len(alone) > _NAMED else ""
        verb = "is in no series and is" if len(alone) == 1 else "are in no series and are"
        lines.append(
            f"{counted(len(alone), 'DICOM file')} {verb} taken alone: "
            f"{', '.join(alone[:_NAMED])}{more}"
        )
    return lines


def is_dicom(job: Job) -> bool:
    """Return whether an input is a DICOM file, by its suffix; by its first bytes without one."""
    if not os.path.isfile(job.source):  # a pipe can be read only once
        return False
    suffix = os.path.splitext(job.source)[1].lower()
    row = next((row for row in registry.FORMATS if suffix in row.suffixes), None)
    if row is not None:
        return row.title == DICOM
    try:
        with open(job.source, "rb") as stream:
            row = registry.format_at(stream.read(registry.HEAD))
    except (OSError, ValueError):
        return False
    return row is not None and row.title == DICOM


def opened_series(job: Job, limits: DecodeLimits) -> "Book":
    """Open the input of a job as a book; one of several files is a series of DICOM.

    Raises
    ------
    MmpError
        If it cannot be opened.
    """
    from mmpcodec.cli.encoding.book_options import BookOptions

    if job.parts:
        return BookOptions(limits=limits).opened(job)
    return opened_input(job.source, limits)


def name_of(job: Job) -> str:
    """Return the name of the input of a job, which may be a series of files."""
    more = len(job.parts) - 1
    shown = output.shown(job.source, "stdin")
    return f"{shown} and {more} more" if more > 0 else shown


def not_kept(jobs: Sequence[Job], keep: Sequence[str]) -> list[str]:
    """Return the remark that attributes of DICOM files are not kept, if there are such files."""
    if keep or not any(job.to_do and is_dicom(job) for job in jobs):
        return []
    return [
        "DICOM: nothing about patient and study is kept; --keep dicom keeps all attributes, and "
        "mmp decode then writes the DICOM files again"
    ]
