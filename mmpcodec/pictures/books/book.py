"""``Book``: the pictures of a file of any format, read one at a time."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from mmpcodec.format.collection import Role
from mmpcodec.picture import Picture
from mmpcodec.runtime.tasks import in_order


def named(name: str, role: Role, number: int, count: int) -> str:
    """Return the name of a picture, counted from 0, for messages: "book.tif: page 3"."""
    return f"{name}: {role.name.lower()} {number + 1}" if count > 1 else name


def _nothing() -> None:
    """Close nothing."""


@dataclass(frozen=True)
class Book(AbstractContextManager["Book"]):
    """The pictures of a file, or of a series of files.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    count : int
        Number of pictures.
    read : callable
        ``read(number)`` reads a picture, counted from 0. Reading in order is the fastest, as frames
        may depend on those before. A damaged picture raises a ``PictureError`` that names the file
        and the page; the others can still be read. What is left out is said as a
        ``PictureWarning``.
    role : Role
        What the pictures are: page, frame or slice; see ``collection.common_role``.
    facts : sequence of tuple of int
        The numbers that each picture has in a collection: see ``collection.FACTS``. Empty for
        pages.
    loops : int
        How often frames are shown, 0 for without end.
    measured : bool
        Whether samples are measurements, which are coded without loss unless loss is asked for.
    at_once : int
        Number of pictures that iteration reads at a time, each in a thread; ``read`` must allow it.
    close : callable
        Closes the file.
    roles : sequence of Role
        The role of each picture, where they may differ. Empty if all have ``role``.
    """

    name: str
    count: int
    read: Callable[[int], Picture]
    role: Role = Role.PAGE
    facts: Sequence[tuple[int, ...]] = ()
    loops: int = 0
    measured: bool = False
    at_once: int = 1
    close: Callable[[], None] = field(default=_nothing, repr=False)
    roles: Sequence[Role] = ()

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Picture]:
        return in_order(self.read, range(self.count), self.at_once)

    def role_of(self, number: int) -> Role:
        """Return the role of a picture, counted from 0."""
        return self.roles[number] if self.roles else self.role

    def facts_of(self, number: int) -> tuple[int, ...]:
        """Return the numbers of ``collection.FACTS`` of a picture, counted from 0."""
        return self.facts[number] if self.facts else ()

    def measured_at(self, number: int) -> bool:
        """Return whether the samples of a picture, counted from 0, are measurements."""
        return self.measured

    def number_of(self, number: int) -> int:
        """Return the number from 1 that a picture, counted from 0, has in messages."""
        return number + 1

    def name_of(self, number: int) -> str:
        """Return the name of a picture, counted from 0, for messages."""
        return named(self.name, self.role_of(number), self.number_of(number) - 1, self.count)

    def __exit__(self, *_: object) -> None:
        self.close()
