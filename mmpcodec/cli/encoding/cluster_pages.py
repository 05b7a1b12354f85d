"""Pages of a book as tasks of a cluster: names go to the workers, files of pages come back."""

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Protocol

from mmpcodec.cli.cluster.places import as_given
from mmpcodec.cli.encoding.books import PageCoder
from mmpcodec.cli.encoding.sources import Setting
from mmpcodec.cli.jobs import Job
from mmpcodec.dask.in_flight import TASKS_AHEAD, InFlight
from mmpcodec.errors import MmpError, PictureError
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.books.encoding import (
    ChainOptions,
    CodedPage,
    DamagedPages,
    Page,
    PageRemarks,
    Written,
    damaged_pages,
    write_coded,
)
from mmpcodec.pictures.books.resuming import BegunBook
from mmpcodec.pictures.left_out import Remark, gathered
from mmpcodec.runtime.progress import Progress, report_progress

MOST_WAITING = 4
"""Pages that may wait for an earlier one, for each task in flight."""


class PageWork(Protocol):
    """What encodes pages, and goes to the workers."""

    @property
    def setting(self) -> Setting:
        """Settings for reading and encoding."""

    def together(self, jobs: Sequence[Job]) -> "PageWork":
        """Choose the backend for jobs on this machine."""

    def page_coder(self, job: Job, book: Book) -> PageCoder:
        """Return what encodes the pages of a book."""


@dataclass(frozen=True)
class PageOnWorker:
    """Encodes a page on a worker, which opens the book by its name.

    Parameters
    ----------
    work : PageWork
    job : Job
        Its names do not depend on the working folder.
    only_reads : bool
        Whether pages are read, but not encoded.
    """

    work: PageWork
    job: Job
    only_reads: bool = False

    def __call__(self, number: int) -> "PageFound | PictureError":
        """Return the file of a page, counted from 0, and what is said of it; or why it has none."""
        work = self.work.together([self.job])
        with work.setting.books.opened(self.job) as book, gathered() as said:
            try:
                picture = book.read(number)
            except PictureError as error:
                if isinstance(error, OSError):  # the file is lost, and so are the other pages
                    raise
                return error
            if self.only_reads:
                return None
            page = Page(number, book.name_of(number), picture, book.measured_at(number))
            coder = work.page_coder(self.job, book)
            (coded,) = coder([page], lambda done, total: True)
        return coded, [*said, *coder.remarks.remarks]


PageFound = tuple[CodedPage, list[Remark]] | None
"""The file of a page, and what is said of it; None if it was only read."""


def write_on_cluster(
    book: Book,
    stream: BinaryIO,
    coder: PageCoder,
    *,
    begun: BegunBook,
    on_page: Callable[[int, CodedPage], Any],
    chains: ChainOptions,
    progress: Progress,
    client: Any,
    task: PageOnWorker,
) -> Written:
    """Write a book as ``write_book`` does, with pages from the workers of a cluster.

    Raises
    ------
    DamagedPages
        If pages cannot be read. Each of them is named, as ``write_book`` does.
    PictureError
        If a page cannot be encoded.
    MmpError
        If the cluster is lost.
    """
    given = coder.job
    names = list(zip(task.job.sources, given.sources, strict=True))
    said = PageRemarks(book)
    numbers = range(begun.pages, book.count)
    faults: dict[int, PictureError] = {}

    def pages() -> Iterator[tuple[int, CodedPage]]:
        with contextlib.closing(_in_order(client, task, numbers, faults)) as found:
            for number, (page, remarks) in found:
                for text, keys in remarks:
                    said.add(number, text, keys)
                report_progress(progress, number + 1, book.count)
                yield number, page
        if faults:
            raise damaged_pages(book, faults)

    try:
        return write_coded(book, stream, pages(), begun=begun, on_page=on_page, chains=chains)
    except DamagedPages as error:
        raise DamagedPages(as_given(str(error), names), error.numbers) from error
    except MmpError as error:
        raise PictureError(as_given(str(error), names)) from error
    finally:
        said.tell()


def _in_order(
    client: Any, task: PageOnWorker, numbers: Sequence[int], faults: dict[int, PictureError]
) -> Generator[tuple[int, Any], None, None]:
    """Yield each number with its result, in order; a few pages wait for an earlier one.

    ``faults`` gets the errors of pages that cannot be read. After the first one, the other pages
    are only read.
    """
    rest, ready = deque(numbers), dict[int, Any]()
    following = numbers[0]
    with InFlight[int](client) as sent:

        def submit(number: int) -> Any:
            return client.submit(replace(task, only_reads=bool(faults)), number, pure=False)

        def send() -> None:
            room = sent.room()
            most = following + MOST_WAITING * max(room, TASKS_AHEAD)
            while room and rest and (faults or rest[0] < most):
                sent.add(rest.popleft(), submit)
                room -= 1

        send()
        for number, found, error in sent.ended():
            if error is not None:
                raise (
                    error
                    if isinstance(error, MmpError)
                    else MmpError(
                        f"{task.job.name}: page {number + 1}: {type(error).__name__}: {error}"
                    )
                )
            if isinstance(found, PictureError):
                faults[number] = found
                ready.clear()
            elif not faults:
                ready[number] = found
            while following in ready:
                yield following, ready.pop(following)
                following += 1
            send()
