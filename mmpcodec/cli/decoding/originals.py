"""``mmp decode --original``: the JPEG files that mmp files keep, and all others by their names."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mmpcodec.cli import output
from mmpcodec.cli.copies import with_copies
from mmpcodec.cli.decoding.formats import DEFAULT_FORMAT, SUFFIXES, format_of_name
from mmpcodec.cli.help import OUTPUT
from mmpcodec.cli.jobs import Job
from mmpcodec.errors import MmpError, ParameterError
from mmpcodec.format.collection import Role
from mmpcodec.format.container import MMP_SUFFIX
from mmpcodec.opening.contents import contents_of, is_collection
from mmpcodec.pictures import registry
from mmpcodec.pictures.book_files.formats import FORMATS as BOOK_FORMATS
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD, LazyBytes, Source

if TYPE_CHECKING:
    from mmpcodec.limits import DecodeLimits

Original = Annotated[
    bool,
    typer.Option(
        "--original",
        help="Write the JPEG files that are kept, and other pictures without loss in the format "
        "that their names have before .mmp, else PNG. With -O, other files of folders are copied.",
        rich_help_panel=OUTPUT,
    ),
]
JPEG = "jpg"
"""Format whose files can be kept."""
_ROW = next(row for row in registry.FORMATS if row.extension == JPEG)
JPEG_SUFFIXES = (*_ROW.suffixes, ".jpe", ".jfif", ".jif")
"""Suffixes of JPEG files that are written as they were."""
_ANIMATED = (".gif", ".webp")
_WITH_LOSS = {
    *_ANIMATED,
    *(suffix for row in registry.written().values() if row.quality for suffix in row.suffixes),
}


def jobs_of_originals(jobs: Sequence[Job], folder: str | None, limits: "DecodeLimits") -> list[Job]:
    """Give each job the suffix of its output; with -O, other files are copied.

    A file that cannot be opened keeps the usual suffix; decoding raises the error.
    """
    found = [_named(job, limits) if job.to_do else job for job in jobs]
    return found if folder is None else with_copies(found)


def format_of_job(job: Job, data: bytes | LazyBytes, limits: "DecodeLimits") -> str:
    """Return the format of the output of a job, by its name.

    Raises
    ------
    ParameterError
        If the name is that of another kind of file than the picture is without loss.
    """
    assert job.target is not None
    if job.target == STANDARD:
        return DEFAULT_FORMAT
    suffix = os.path.splitext(job.target)[1].lower()
    is_jpeg = suffix in JPEG_SUFFIXES
    if not is_collection(_source(data)) or job.page is not None:
        kept = keeps_jpeg(data, job.page, limits)
        if kept and not is_jpeg:
            raise ParameterError(f"{job.target}: is a JPEG file; name it .{JPEG}")
        if kept:
            return JPEG
    if suffix in _WITH_LOSS:
        raise ParameterError(
            f"{job.target}: would lose something; name it .{DEFAULT_FORMAT}, or leave out "
            "--original"
        )
    return format_of_name(job.target)


def is_book(job: Job, limits: "DecodeLimits") -> bool:
    """Return whether all pictures of a job make one file without loss.

    They do if the name before .mmp is that of a file of several pictures; those of an animation
    with loss, such as GIF, become an animated PNG if they are alike.
    """
    inner = _inner(job)
    if inner not in _ANIMATED:
        return any(inner in row.suffixes for row in BOOK_FORMATS.values())
    try:
        with output.read_by_parts(job.source, limits.max_memory) as data:
            pictures = contents_of(_source(data), limits.max_pictures).pictures
    except MmpError:
        return False  # decoding raises the error
    kinds = {(page.width, page.height, page.form, page.depth) for page in pictures}
    return len(kinds) == 1 and {page.role for page in pictures} == {Role.FRAME}


def _inner(job: Job) -> str:
    """Return the suffix that the name of an mmp file has before .mmp: ".jpg" of "x.jpg.mmp"."""
    if job.page is not None:  # "album.jpg-003.mmp"
        return ""
    stem = os.path.splitext(os.path.basename(job.below))[0]
    return os.path.splitext(stem)[1].lower()


def _named(job: Job, limits: "DecodeLimits") -> Job:
    inner = _inner(job)
    if inner == MMP_SUFFIX:  # a file that was in an archive
        return job._replace(copied="mmp file", below=os.path.splitext(job.below)[0])
    if _keeps(job, limits):
        return job._replace(suffix="" if inner in JPEG_SUFFIXES else f".{JPEG}")
    if inner in SUFFIXES and inner not in _WITH_LOSS:
        return job._replace(suffix="")
    return job._replace(suffix=f".{DEFAULT_FORMAT}")


def _keeps(job: Job, limits: "DecodeLimits") -> bool:
    """Return whether the picture of a job is a kept JPEG file."""
    if job.source == STANDARD or not (stores.is_url(job.source) or os.path.isfile(job.source)):
        return False
    try:
        with output.read_by_parts(job.source, limits.max_memory) as data:
            return keeps_jpeg(data, job.page, limits)
    except MmpError:
        return False


def keeps_jpeg(data: bytes | LazyBytes, page: int | None, limits: "DecodeLimits") -> bool:
    """Return whether a picture of a file is a kept JPEG file.

    Raises
    ------
    FormatError, NoSuchPage
        If its header cannot be read, or there is no such picture.
    """
    from mmpcodec.codec import kept_jpeg

    return kept_jpeg.keeps_jpeg(_source(data), page, limits)


def _source(data: bytes | LazyBytes) -> Source:
    return memoryview(data) if isinstance(data, bytes) else data
