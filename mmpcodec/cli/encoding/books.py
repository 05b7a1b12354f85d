"""Encode a book to a collection; a run that was ended goes on with the pages that it wrote."""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import mmpcodec
from mmpcodec.cli import output
from mmpcodec.cli.encoding.encoded import Encoded
from mmpcodec.cli.encoding.jpeg_files import EncodedInput
from mmpcodec.cli.encoding.levels import check_levels
from mmpcodec.cli.encoding.remarks import of_file
from mmpcodec.cli.encoding.sources import Setting, encoded_by_kind
from mmpcodec.cli.inputs.pages import text_of
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import counted
from mmpcodec.cli.work import JobProgress
from mmpcodec.codec.tiles.renditions import joined
from mmpcodec.errors import Cancelled, MmpError, ParameterError, PictureError
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.books.encoding import (
    CodedPage,
    DamagedPages,
    Page,
    PageRemarks,
    Written,
    write_book,
)
from mmpcodec.pictures.books.resuming import NOTHING, BegunBook, begun_in
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import StreamBytes, part_of
from mmpcodec.runtime.progress import Progress

if TYPE_CHECKING:
    from mmpcodec.cli.encoding.input_picture import InputPicture

Alone = Callable[["InputPicture", str, Progress], EncodedInput]
"""Encodes a picture of this name alone."""


@dataclass(frozen=True)
class PageCoder:
    """Encodes the pages of a book of a job; what ``write_book`` calls.

    Parameters
    ----------
    job : Job
    book : Book
    setting : Setting
    remarks : PageRemarks
        Gets what is said of the pages.
    check : callable or None
        ``check(encoding, progress)`` raises an error if a file does not decode.
    alone : callable
        Encodes a page that is not encoded together with others.
    """

    job: Job
    book: Book
    setting: Setting
    remarks: PageRemarks
    check: Callable[[Any, Progress], None] | None
    alone: Alone

    def __call__(self, pages: Sequence[Page], progress: Progress) -> list[CodedPage]:
        """Encode pages; an error names its page."""
        pictures: dict[int, InputPicture] = {}
        for page in pages:
            with named(page.name):
                pictures[page.number] = self.setting.prepared(
                    self.job, page.picture, measured=page.measured
                )
        if len(pages) > 1:
            found = encoded_by_kind(self.setting, pictures, progress)
        else:
            with named(pages[0].name):
                found = {
                    number: self.alone(picture, pages[0].name, progress)
                    for number, picture in pictures.items()
                }
        return [self._coded(page, found[page.number], progress) for page in pages]

    def _coded(self, page: Page, found: EncodedInput | MmpError, progress: Progress) -> CodedPage:
        with named(page.name):
            if isinstance(found, MmpError):
                raise found
            encoding, _, levels, remarks = found
            if self.check is not None and not encoding.jpeg_bytes:
                self.check(encoding, progress)
                check_levels(levels)
        for remark in remarks:
            self.remarks.add(page.number, remark)
        keep = self.setting.books.keep
        for remark in of_file(encoding.header, encoding.max_error, keep):
            self.remarks.add(page.number, remark)
        row = Encoded.of(self.job, encoding, 0, self.check is not None, self.setting)
        data = encoding.data if levels is None else joined(encoding.data, levels.files)
        if self.setting.levels:
            row = row.with_levels(levels, len(data))
        return CodedPage(data, row._replace(page=self.book.number_of(page.number)))


@contextlib.contextmanager
def named(name: str) -> Iterator[None]:
    """Let the errors of a page name it."""
    try:
        yield
    except (PictureError, Cancelled, mmpcodec.BackendUnavailable, mmpcodec.MissingExtra):
        raise
    except MmpError as error:
        raise PictureError(f"{name}: {error}") from error


def check_roi(setting: Setting, job: Job, book: Book) -> None:
    """Check that regions of interest can hold for each page: rectangles do.

    Raises
    ------
    ParameterError
        If they are a mask or a table of regions, which are those of one picture.
    """
    roi = setting.roi
    if roi is not None and (roi.is_mask or roi.is_table):
        raise ParameterError(
            f"--roi {roi.given}: has the regions of one picture, {job.name} has {book.count}; take "
            "rectangles x,y,width,height:..., which hold for each page, or --page N"
        )


def encode_pages(
    job: Job,
    book: Book,
    coder: PageCoder,
    progress: JobProgress,
    parameters: str,
    write: Callable[..., Written] = write_book,
    **how: Any,
) -> tuple[Written, list[Encoded]]:
    """Encode a book and write its output; see ``write_book``, which ``write`` stands for.

    An output that is a file of this machine is continued where an ended run with the same files,
    parameters and codec stopped.

    Parameters
    ----------
    job : Job
    book : Book
    coder : PageCoder
    progress : JobProgress
    parameters : str
        What decides about the bytes, besides the inputs and the codec.
    **how
        Other parameters of ``write``.

    Returns
    -------
    written : Written
    rows : list of Encoded
        What was found of each page that an ended run had not written.
    """
    assert job.target is not None
    rows: list[Encoded] = []

    def on_page(_: int, page: CodedPage) -> None:
        file = page.chained
        rows.append(page.found.in_chain(file) if file and file.back else page.found)
        stream.flush()
        if key is not None:
            os.fsync(stream.fileno())  # before the next page is written: see ``begun_in``

    key = _key(job, parameters) if _goes_on(job) else None
    begun = NOTHING
    try:
        with (
            output.opened(job.target, force=job.overwrite)
            if key is None
            else output.continued(job.target, key, force=job.overwrite)
        ) as stream:
            if key is not None:
                begun = _begun(stream, job, book, progress, how["chains"].pages)
            written = write(
                book, stream, coder, begun=begun, on_page=on_page, progress=progress, **how
            )
    except DamagedPages as error:
        raise PictureError(f"{error}; {_advice(book, error)}") from error
    except (KeyboardInterrupt, OSError, Cancelled):
        most = how["chains"].pages
        kept = max(begun.pages + len(rows) - 1, 0) // most * most  # the last chain is done again
        if key is not None and kept > 0:
            progress.note(
                f"{job.target}: {kept} of {counted(book.count, book.role.name.lower())} stay in "
                f"{part_of(os.path.realpath(job.target), key)}; the same command goes on behind "
                "them"
            )
        raise
    finally:
        for text, _ in coder.remarks.lines():
            progress.note(f"{job.name}: {text}")
    return written, rows


def _begun(
    stream: BinaryIO, job: Job, book: Book, progress: JobProgress, chain_pages: int
) -> BegunBook:
    """Return what an ended run has written, and place the stream behind it."""
    begun = begun_in(StreamBytes(stream), chain_pages)
    stream.seek(begun.place)
    stream.truncate()
    if begun.pages:
        progress.note(
            f"{job.name}: goes on behind {book.role.name.lower()} {begun.pages} of {book.count}, "
            "where an earlier run was ended"
        )
    return begun


def _goes_on(job: Job) -> bool:
    """Return whether a run that is ended can go on: with files of this machine, or at URLs."""
    assert job.target is not None
    there = (stores.is_url(source) or os.path.isfile(source) for source in job.sources)
    return output.is_plain(job.target) and all(there)


def _key(job: Job, parameters: str) -> str:
    """Return digits that differ if the output does, or the state of an input."""
    from mmpcodec.cli.cluster.manifest import state_of
    from mmpcodec.fingerprints import codec_fingerprint

    assert job.target is not None
    sources = [(stores.absolute(source), *state_of(source)) for source in job.sources]
    facts = [os.path.realpath(job.target), sources, parameters, mmpcodec.__version__]
    return hashlib.sha256(json.dumps([*facts, codec_fingerprint()]).encode()).hexdigest()[:16]


def _advice(book: Book, error: DamagedPages) -> str:
    """Return what leaves out damaged pages."""
    damaged = set(error.numbers)
    rest = [book.number_of(number) for number in range(book.count)]
    rest = [number for number in rest if number not in damaged]
    role = book.role.name.lower() + ("" if len(damaged) == 1 else "s")
    if not rest:
        return f"no {role} can be read"
    left = "it" if len(damaged) == 1 else "them"
    return f"--pages {text_of(rest)} leaves {left} out"
