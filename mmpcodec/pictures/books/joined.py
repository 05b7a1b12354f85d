"""Books made of others: several one after the other, or some pictures of one."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from mmpcodec.format.collection import Role, common_role
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.limits import say

Opener = Callable[[], Book]
"""Opens a book; called again each time that its pictures are read after those of another one."""


@dataclass(frozen=True)
class ComposedBook(Book):
    """Pictures of other books.

    Parameters
    ----------
    kinds : sequence of bool
        Whether the samples of each picture are measurements.
    numbers : sequence of int
        Number of each picture in messages; empty for 1, 2 and so on.
    """

    kinds: Sequence[bool] = field(default=(), repr=False)
    numbers: Sequence[int] = field(default=(), repr=False)

    def measured_at(self, number: int) -> bool:
        return self.kinds[number]

    def number_of(self, number: int) -> int:
        return self.numbers[number] if self.numbers else number + 1


class _Opened:
    """Keeps the book open from which a picture was read last."""

    def __init__(self, openers: Sequence[Opener], counts: Sequence[int]):
        self._openers, self._counts = openers, counts
        self._firsts = list(accumulate(counts, initial=0))
        self._place = -1
        self._book: Book | None = None

    def read(self, number: int) -> Picture:
        place = bisect_right(self._firsts, number) - 1
        if place != self._place:
            self.close()
            self._book, self._place = self._openers[place](), place
        assert self._book is not None
        return self._book.read(number - self._firsts[place])

    def close(self) -> None:
        if self._book is not None:
            self._book.close()
        self._place, self._book = -1, None


def joined(name: str, openers: Sequence[Opener], limits: DecodeLimits) -> Book:
    """Return the pictures of several books as one book.

    Each book is opened once to look at it; then one at a time is open.

    Parameters
    ----------
    name : str
        Name of the new book, for messages.
    openers : sequence of callable
    limits : DecodeLimits
        Limits of the number of pictures.

    Raises
    ------
    PictureError
        If a book cannot be opened, or there are more pictures than the limit.

    Warns
    -----
    PictureWarning
        If loops of frames are left out, because they differ.
    """
    from mmpcodec.pictures.books.opening import check_count

    counts: list[int] = []
    kinds: list[bool] = []
    facts: list[tuple[int, ...]] = []
    roles: list[Role] = []
    loops: set[int] = set()
    for opener in openers:
        with opener() as book:
            counts.append(book.count)
            kinds += map(book.measured_at, range(book.count))
            facts += map(book.facts_of, range(book.count))
            roles += map(book.role_of, range(book.count))
            if Role.FRAME in roles[-book.count :]:
                loops.add(book.loops)
    if len(loops) > 1:
        say(name, f"holds animations of different loops; kept is {min(loops)}, 0 for without end")
    opened = _Opened(openers, counts)
    found = ComposedBook(
        name,
        len(kinds),
        opened.read,
        common_role(roles),
        facts,
        min(loops, default=0),
        close=opened.close,
        roles=roles,
        kinds=kinds,
    )
    check_count(found, limits)
    return found


def selected(book: Book, numbers: Sequence[int]) -> Book:
    """Return some pictures of a book, counted from 0, as a book that closes the first one."""
    roles = [book.role_of(number) for number in numbers]
    return ComposedBook(
        book.name,
        len(numbers),
        lambda number: book.read(numbers[number]),
        common_role(roles),
        [book.facts_of(number) for number in numbers] if book.facts else (),
        book.loops,
        close=book.close,
        roles=roles,
        kinds=[book.measured_at(number) for number in numbers],
        numbers=[number + 1 for number in numbers],
    )
