"""The pages of books as pictures of a budget, and the collections that they become."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from mmpcodec.cli import output
from mmpcodec.cli.inputs.opening import opened_input
from mmpcodec.cli.jobs import Job
from mmpcodec.errors import MmpError, ParameterError
from mmpcodec.format.collection import HEAD, PictureEntry, Role, write_entry
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.limits import DecodeLimits
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    from mmpcodec.planning.budget import Ladder

OF_A_FILE, OF_A_PICTURE = len(HEAD) + 32, 64
"""Most bytes that a collection has besides pictures and their entries: its ends, and the records of
a picture and of metadata that it shares."""


@dataclass(frozen=True)
class BookShape:
    """What a book says of its pictures; see ``Book``."""

    role: Role
    facts: Sequence[tuple[int, ...]]
    loops: int

    def facts_of(self, page: int) -> tuple[int, ...]:
        """Return the numbers of a page, counted from 1."""
        return tuple(self.facts[page - 1]) if self.facts else ()


def with_pages(jobs: Sequence[Job], limits: DecodeLimits) -> tuple[list[Job], dict[str, BookShape]]:
    """Return a job for each page of books, and what the books are by their sources.

    Raises
    ------
    ParameterError
        If standard output would take a book.
    """
    found: list[Job] = []
    shapes: dict[str, BookShape] = {}
    for job in jobs:
        if job.source == STANDARD or not job.to_do or stores.is_zarr(job.source):
            found.append(job)
            continue
        try:
            book = opened_input(job.source, limits)
        except (MmpError, OSError):
            found.append(job)  # reading the picture raises the error
            continue
        with book:
            if len(book) == 1:
                found.append(job)
                continue
            if job.target == STANDARD:
                raise ParameterError(
                    f"-o {STANDARD}: {job.name} holds {len(book)} pictures; name a file"
                )
            shapes[job.source] = BookShape(book.role, book.facts, book.loops)
            found += [job._replace(page=page) for page in range(1, len(book) + 1)]
    return found, shapes


def records_of(
    jobs: Sequence[Job], ladders: "Sequence[Ladder]", shapes: dict[str, BookShape], room: int
) -> int:
    """Return the most bytes that collections have besides the files of their pictures.

    Raises
    ------
    ParameterError
        If that leaves nothing of ``room`` bytes.
    """
    total = OF_A_FILE * len(shapes)
    for job, ladder in zip(jobs, ladders, strict=True):
        if job.page is None:
            continue
        shape = shapes[job.source]
        size = 1 << 24, 1 << 24  # of the largest entry
        entry = PictureEntry(
            shape.role, shape.facts_of(job.page), *size, ladder.form, ladder.depth, (1 << 14,)
        )
        total += OF_A_PICTURE + 2 * len(write_entry(entry))
    if total >= room:
        raise ParameterError(
            f"total = {room}: must be above {total}, the records of the books' pages"
        )
    return total


def write_books(
    jobs: Sequence[Job],
    shapes: dict[str, BookShape],
    file_of: Callable[[int], bytes],
    *,
    force: bool,
) -> None:
    """Write the outputs: a file of each picture, and a collection of the pages of a book.

    ``file_of(number)`` returns the file of the picture of a job.

    Raises
    ------
    MmpError
        If an output cannot be written.
    """
    numbered: Iterator[tuple[int, Job]] = iter(enumerate(jobs))
    for target, group in groupby(numbered, lambda each: each[1].target):
        assert target is not None
        members = list(group)
        if members[0][1].page is None:
            output.write(target, file_of(members[0][0]), force=force)
            continue
        shape = shapes[members[0][1].source]
        with output.opened(target, force=force) as stream:
            writer = CollectionWriter(stream, loops=shape.loops)
            for number, job in members:
                assert job.page is not None
                writer.add(file_of(number), shape.role, shape.facts_of(job.page))
            writer.close()
