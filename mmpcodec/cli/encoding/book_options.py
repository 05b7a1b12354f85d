"""Where inputs become books: a file of several pictures, some of its pages, or files together."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.cli.inputs.pages import check_pages, numbers_of, padded
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.options import check_alone
from mmpcodec.errors import FileError, MmpError, ParameterError, PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    from mmpcodec.pictures.books.book import Book


class BookOptions(NamedTuple):
    """How files become jobs, and jobs become books.

    Parameters
    ----------
    pages : str or None
        Which pages count of each file, as ``--pages`` says.
    split : bool
        Whether each page is a job.
    together : bool
        Whether all files are one job.
    limits : DecodeLimits
    strict : bool
    dpi : int or None
    keep : tuple of str
        See ``pictures.read``.
    chain_pages : int
        Most pages of a chain; 1 for pages that decode alone.
    """

    pages: str | None = None
    split: bool = False
    together: bool = False
    limits: DecodeLimits = DecodeLimits()
    strict: bool = False
    dpi: int | None = None
    keep: tuple[str, ...] = ()
    chain_pages: int = 1

    @property
    def reading(self) -> dict[str, Any]:
        """How a file is read."""
        return {"limits": self.limits, "strict": self.strict, "dpi": self.dpi, "keep": self.keep}

    def check(self, page: int | None, out: str | None, manifest: str | None) -> None:
        """Check the options that go with these: --page, -o and --manifest.

        Raises
        ------
        ParameterError
            If two of them contradict each other, or ``pages`` is no list of ranges.
        """
        check_pages(page, self.pages)
        if self.chain_pages > 1:
            check_alone("--chain-pages", {"--page": page, "--split": self.split})
        if self.split:
            check_alone("--split", {"--page": page, "--together": self.together})
            if out is not None:
                raise ParameterError(f"--split: writes a file for each page, -o {out} names one")
        if self.together:
            if out is None:
                raise ParameterError("--together: needs -o OUT, the name of the only output")
            if manifest is not None:
                raise ParameterError(
                    f"--manifest {manifest}: notes files one by one; --together goes on without it"
                )

    def jobs(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs of the command from those of the files that were found.

        A series of files that is one book is a job whose ``parts`` are these files.

        Raises
        ------
        ParameterError
            If standard input comes with --split or --together, or a file comes twice.
        FileError
            If a folder cannot be read, with --together.
        """
        if self.together:
            return _together(jobs)
        if not self.split:
            return list(jobs)
        return [one for job in jobs for one in (self._split(job) if job.to_do else [job])]

    def opened(self, job: Job, data: bytes | None = None) -> "Book":
        """Open the book of a job; of other pictures it is a book of one.

        Parameters
        ----------
        job : Job
        data : bytes or None
            The bytes of its file, if they are known.

        Raises
        ------
        PictureError, ParameterError, MissingExtra
            If it cannot be opened, or has no such pages.
        """
        if not job.parts:
            return self._selected(job.source, None if data is None else job.name, data)
        if not self.together:
            return self._chosen(self._series(job))
        from mmpcodec.pictures.books.joined import joined

        openers = [partial(self._selected, part) for part in job.parts]
        return joined(job.name, openers, self.limits)

    def _selected(self, source: str, name: str | None = None, data: bytes | None = None) -> "Book":
        """Open a file, with those of its pages that count."""
        from mmpcodec.pictures.books.opening import opened_book

        where = source if data is None else data
        return self._chosen(opened_book(where, name, **self.reading))

    def _series(self, job: Job) -> "Book":
        """Open the slices of a series."""
        from mmpcodec.pictures.dicom.series import series_of

        every = series_of(job.parts, self.limits, strict=self.strict, keep=self.keep)
        if [each.paths for each in every] != [job.parts]:
            raise PictureError(f"{job.name}: the files of its series have changed")
        return replace(every[0].book, name=job.name)

    def _chosen(self, book: "Book") -> "Book":
        """Return those of the pages of a book that count."""
        from mmpcodec.pictures.books.joined import selected

        if self.pages is None:
            return book
        try:
            numbers = numbers_of(self.pages, book.count, book.name)
        except PictureError:
            book.close()
            raise
        return selected(book, [number - 1 for number in numbers])

    def _split(self, job: Job) -> list[Job]:
        """Return a job for each page of a book; the job itself if it has one picture."""
        if job.source == STANDARD:
            raise ParameterError("--split: needs a file, stdin can be read only once")
        if not os.path.isfile(job.source):
            if stores.is_zarr(job.source) or not (
                stores.is_url(job.source) or os.path.exists(job.source)
            ):
                return [job]  # reading the input raises the error
            return [job._replace(fault=f"{job.name}: --split needs a file of this machine")]
        try:
            with self.opened(job) as book:
                numbers = [book.number_of(number) for number in range(book.count)]
        except PictureError as error:
            return [job._replace(fault=str(error))]
        except MmpError as error:
            fault = str(error) if job.source in str(error) else f"{job.name}: {error}"
            return [job._replace(fault=fault)]
        if len(numbers) == 1 and self.pages is None:
            return [job]
        stem, suffix = os.path.splitext(job.below)
        return [
            job._replace(page=number, below=f"{stem}-{padded(number, max(numbers))}{suffix}")
            for number in numbers
        ]


def _together(jobs: Sequence[Job]) -> list[Job]:
    """Return a job of all inputs, and what is none."""
    inputs = [job for job in jobs if job.is_input]
    for number, job in enumerate(inputs):
        if job.fault is not None:
            raise FileError(job.fault)
        if job.source == STANDARD:
            raise ParameterError("--together: needs files, stdin can be read only once")
        if any(job.source == other.source for other in inputs[:number]):
            raise ParameterError(f"{job.name}: comes twice")
    others = [job for job in jobs if not job.is_input]
    return [inputs[0]._replace(parts=tuple(job.source for job in inputs)), *others]
