"""Write a book as a collection: pages are read in order, coded side by side, written in order."""

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from mmpcodec.codec.series.chaining import ChainedFile, add_chained, chains_of, in_chain
from mmpcodec.errors import Cancelled, PictureError
from mmpcodec.format.collection import Contents
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.books.resuming import NOTHING, BegunBook
from mmpcodec.pictures.left_out import Remark, gathered
from mmpcodec.pictures.limits import say
from mmpcodec.runtime.progress import Progress
from mmpcodec.runtime.tasks import SharedProgress, in_order

MOST_SAMPLES = 1 << 26
"""Most samples of pages that are coded together; a larger page is alone."""
SHARE = 1 << 10
"""Steps of the progress of a page."""
MOST_FAULTS = 5
"""Most damaged pages whose faults one message tells in full."""


@dataclass(frozen=True, eq=False)
class Page:
    """A picture of a book that was read.

    Parameters
    ----------
    number : int
        From 0.
    name : str
        Its name for messages: "book.tif: page 3".
    picture : Picture
    measured : bool
        Whether its samples are measurements.
    """

    number: int
    name: str
    picture: Picture
    measured: bool


class CodedPage(NamedTuple):
    """What becomes of a page.

    Parameters
    ----------
    data : bytes
        A file of one picture, or of one and its levels.
    found : object
        What ``write_book`` hands to ``on_page`` besides.
    chained : ChainedFile or None
        What the data became as a page of a chain; None if that was not tried.
    """

    data: bytes
    found: Any = None
    chained: ChainedFile | None = None


class ChainOptions(NamedTuple):
    """How pages continue one another.

    Parameters
    ----------
    pages : int
        Most pages of a chain; 1 for pages that decode alone.
    verify : bool
        Whether pages that continue others are decoded and compared.
    at_once : int
        Threads that make chains.
    """

    pages: int = 1
    verify: bool = False
    at_once: int = 1


class Written(NamedTuple):
    """The collection that was written: what it holds, and its bytes."""

    contents: Contents
    size: int


ALONE = ChainOptions()
Coder = Callable[[Sequence[Page], Progress], Sequence[CodedPage]]
"""``coder(pages, progress)`` encodes pages, in any thread."""


class DamagedPages(PictureError):
    """Pages of a book cannot be read; the message says why.

    Parameters
    ----------
    message : str
    numbers : sequence of int
        Their numbers, from 1.
    """

    def __init__(self, message: str, numbers: Sequence[int] = ()):
        super().__init__(message)
        self.numbers = tuple(numbers)


class PageRemarks:
    """Remarks on the pages of a book; those that are equal are one line, with the pages.

    Parameters
    ----------
    book : Book
    """

    def __init__(self, book: Book):
        self._book = book
        self._numbers: dict[Remark, list[int]] = {}

    def add(self, number: int, text: str, keys: tuple[str, ...] = ()) -> None:
        """Add a remark on a page, counted from 0, and the keys of what it leaves out."""
        numbers = self._numbers.setdefault((text, keys), [])
        if not numbers or numbers[-1] != number:
            numbers.append(number)

    @property
    def remarks(self) -> list[Remark]:
        """The different remarks."""
        return list(self._numbers)

    def lines(self) -> Iterator[Remark]:
        """Yield each remark once: the pages that it is on, its text, and its keys."""
        for (text, keys), numbers in self._numbers.items():
            pages = listed_pages(sorted(map(self._book.number_of, numbers)))
            role = self._book.role.name.lower() + ("" if len(numbers) == 1 else "s")
            yield f"{role} {pages}: {text}", keys

    def tell(self) -> None:
        """Warn of each remark."""
        for text, keys in self.lines():
            say(self._book.name, text, keys)


def listed_pages(numbers: Sequence[int]) -> str:
    """Return numbers that rise in words.

    Examples
    --------
    >>> from mmpcodec.pictures.books.encoding import listed_pages
    >>> listed_pages([1, 2, 3, 5, 8, 9])
    '1 to 3, 5, 8 and 9'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [part for run in runs for part in _parts_of(run)]
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _parts_of(run: list[int]) -> list[str]:
    return [f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(number) for number in run]


def write_book(
    book: Book,
    stream: BinaryIO,
    coder: Coder,
    *,
    at_once: int = 1,
    together: int = 1,
    begun: BegunBook = NOTHING,
    on_page: Callable[[int, CodedPage], Any] | None = None,
    chains: ChainOptions = ALONE,
    progress: Progress | None = None,
) -> Written:
    """Write the pictures of a book as a collection.

    They are read in this thread, one after the other, and only those that are in work or wait for
    it are in memory. Equal books and coders give equal bytes, whatever the other parameters.

    Parameters
    ----------
    book : Book
        Its roles, facts and loops are those of the collection.
    stream : binary stream
        Need not be seekable. At its beginning, or at the end of what ``begun`` has.
    coder : callable
        ``coder(pages, progress)`` returns a ``CodedPage`` for each page, in any thread.
    at_once : int
        Threads that call ``coder``.
    together : int
        Most pages of a call. A call has ``MOST_SAMPLES`` samples at most, but for a single page.
    begun : BegunBook
        What an earlier run has written.
    on_page : callable or None
        ``on_page(number, coded)`` is called when a picture, counted from 0, is written.
    chains : ChainOptions
    progress : callable or None

    Returns
    -------
    Written

    Raises
    ------
    DamagedPages
        If pages cannot be read. All that follow are read, so that the error names each of them.
    Cancelled
        If ``progress`` returns False.
    MmpError
        The errors of ``coder``.

    Warns
    -----
    PictureWarning
        What is left out or converted, once for all pages of which it is true.
    """
    shared = SharedProgress(progress, [SHARE] * book.count)
    for number in range(begun.pages):
        shared.of(number)(1, 1)
    remarks = PageRemarks(book)
    groups = _groups(_read(book, begun.pages, remarks, shared), together)
    code = partial(_coded, coder, shared)
    try:
        with contextlib.closing(in_order(code, groups, at_once)) as coded:
            pages = chain.from_iterable(coded)
            return write_coded(book, stream, pages, begun=begun, on_page=on_page, chains=chains)
    except BaseException:
        shared.stop()
        raise
    finally:
        remarks.tell()


def write_coded(
    book: Book,
    stream: BinaryIO,
    pages: Iterable[tuple[int, CodedPage]],
    *,
    begun: BegunBook = NOTHING,
    on_page: Callable[[int, CodedPage], Any] | None = None,
    chains: ChainOptions = ALONE,
) -> Written:
    """Write pages that are encoded already as a collection.

    Parameters
    ----------
    pages : iterable of (int, CodedPage)
        Each with its number, from 0, in the order of the book.
    book, stream, begun, on_page, chains
        See ``write_book``.
    """
    contents = copy.deepcopy(begun.contents)  # the writer adds to it
    writer = CollectionWriter(stream, contents, begun.place, loops=book.loops)
    writer.remember(begun.metadata)
    for number, page in _in_chains(pages, chains):
        file = page.chained or ChainedFile(page.data)
        add_chained(writer, file, book.role_of(number), book.facts_of(number))
        if on_page is not None:
            on_page(number, page)
    writer.close()
    return Written(writer.contents, writer.size)


def _in_chains(
    pages: Iterable[tuple[int, CodedPage]], chains: ChainOptions
) -> Iterator[tuple[int, CodedPage]]:
    """Yield pages of which some continue others; the first one begins a chain."""
    if chains.pages == 1:
        yield from pages
        return
    groups = chains_of(pages, chains.pages)
    made = in_order(partial(_chain, verify=chains.verify), groups, chains.at_once)
    with contextlib.closing(made):
        yield from chain.from_iterable(made)


def _chain(pages: Sequence[tuple[int, CodedPage]], *, verify: bool) -> list[tuple[int, CodedPage]]:
    """Make pages continue others among them."""
    files = in_chain([page.data for _, page in pages], verify=verify)
    return [
        (number, page._replace(data=file.data, chained=file))
        for (number, page), file in zip(pages, files, strict=True)
    ]


def _coded(
    coder: Coder, shared: SharedProgress, pages: Sequence[Page]
) -> list[tuple[int, CodedPage]]:
    """Encode pages; their numbers stand beside them."""
    each = [shared.of(page.number) for page in pages]

    def advance(done: int, total: int) -> bool:
        for one in each:
            one(done, total)
        return not shared.stopped

    found = coder(pages, advance)
    advance(1, 1)
    return [(page.number, coded) for page, coded in zip(pages, found, strict=True)]


def _read(book: Book, first: int, remarks: PageRemarks, shared: SharedProgress) -> Iterator[Page]:
    """Read the pages from number ``first`` on, up to a damaged one; then look for further ones."""
    faults: dict[int, PictureError] = {}
    for number in range(first, book.count):
        if shared.stopped:
            raise Cancelled("the progress callback stopped the work")
        try:
            with gathered() as said:
                picture = book.read(number)
        except PictureError as error:
            if isinstance(error, OSError):  # the file is lost, and so are the other pages
                raise
            faults[number] = error
            continue
        if faults:
            continue
        for text, keys in said:
            remarks.add(number, text, keys)
        yield Page(number, book.name_of(number), picture, book.measured_at(number))
        del picture  # before the next one is read
    if faults:
        raise damaged_pages(book, faults)


def damaged_pages(book: Book, faults: Mapping[int, PictureError]) -> DamagedPages:
    """Return the error for pages, counted from 0, that cannot be read."""
    numbers = [book.number_of(number) for number in sorted(faults)]
    texts = [str(error) for _, error in sorted(faults.items())]
    if len(texts) == 1:
        return DamagedPages(texts[0], numbers)
    text = f"{book.name}: {len(faults)} of {book.count} pictures cannot be read: "
    text += f"{listed_pages(numbers)}; {'; '.join(texts[:MOST_FAULTS])}"
    more = len(texts) - MOST_FAULTS
    return DamagedPages(text + (f"; and {more} more" if more > 0 else ""), numbers)


def _groups(pages: Iterable[Page], most: int) -> Iterator[list[Page]]:
    """Yield the pages that are encoded together."""
    group: list[Page] = []
    samples = 0
    for page in pages:
        size = page.picture.samples.size
        if group and samples + size > MOST_SAMPLES:
            yield group
            group, samples = [], 0
        group.append(page)
        samples += size
        del page  # before the next one is read
        if len(group) == most:
            yield group
            group, samples = [], 0
    if group:
        yield group
