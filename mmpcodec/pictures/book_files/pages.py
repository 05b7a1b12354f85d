"""``Pages``: the pictures of a book on their way into a file, and what the file does not keep."""

from collections.abc import Iterator
from fractions import Fraction

from mmpcodec.errors import PictureError
from mmpcodec.format.collection import Role
from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book, named


class Pages(Iterator[Picture]):
    """The pictures of a book, in order, for the module that writes them.

    Parameters
    ----------
    book : Book
    format : str
        Format of the file, for messages.
    alike : bool
        Whether all pictures must have one size, form and depth.
    sized : bool
        Whether all pictures must have one size.
    bytes : int or None
        Bytes that all samples take without compression, if that is known.
    """

    def __init__(
        self,
        book: Book,
        format: str,
        *,
        alike: bool = False,
        sized: bool = False,
        bytes: int | None = None,
    ):
        self.book = book
        self.lost: dict[str, list[int]] = {}
        self._format, self._alike, self._sized = format, alike, sized
        self._number = -1
        self._all = iter(book)
        self._next: Picture | None = next(self._all)
        self.first = self._next
        one = self.first.samples.nbytes
        self.bytes = one * book.count if bytes is None else bytes

    def __len__(self) -> int:
        return self.book.count

    def __next__(self) -> Picture:
        if self._next is None:
            self._next = next(self._all)
        self._number += 1
        self._check(self._next)
        found, self._next = self._next, None
        return found

    @property
    def number(self) -> int:
        """Number of the picture that was read last, from 0."""
        return self._number

    @property
    def duration(self) -> Fraction:
        """Seconds that this picture is shown; 0 if it is no frame."""
        facts = self.book.facts_of(self._number)
        return Fraction(*facts) if self.book.role == Role.FRAME else Fraction(0)

    @property
    def name(self) -> str:
        """Name of this picture for messages."""
        return named(self.book.name, self.book.role, self._number, len(self))

    def lose(self, *kinds: str) -> None:
        """Note kinds of what the file does not keep of the picture that was read last."""
        self.lose_at(self._number, *kinds)

    def lose_at(self, number: int, *kinds: str) -> None:
        """Note kinds of what the file does not keep of a picture, counted from 0."""
        for kind in kinds:
            numbers = self.lost.setdefault(kind, [])
            if number not in numbers[-1:]:
                numbers.append(number)

    def lose_metadata(self, metadata: Metadata, *, kept: tuple[str, ...] = ()) -> None:
        """Note the kinds of metadata that the file does not keep of this picture."""
        self.lose(*(kind for kind in metadata.kinds() if kind not in kept))

    def lose_white(self, picture: Picture) -> None:
        """Note a level of white that is not the largest one."""
        if picture.white != (1 << picture.depth) - 1:
            self.lose("white")

    def lose_facts(self) -> None:
        """Note the position of a slice, or the duration of a frame."""
        role = self.book.role_of(self._number)
        if role == Role.SLICE:
            self.lose("positions")
        if role == Role.FRAME and self.book.facts_of(self._number)[0]:
            self.lose("durations")

    def lose_loops(self, most: int = 0) -> None:
        """Note how often frames are shown, if that is more than a file can say."""
        if self.book.loops > most:
            self.lost["loops"] = list(range(len(self)))

    def _check(self, picture: Picture) -> None:
        """Check that a picture is like the first one, as far as the format asks for it.

        Raises
        ------
        PictureError
        """
        if not (self._alike or self._sized):
            return
        own, other = _form(picture, self._alike), _form(self.first, self._alike)
        if own != other:
            first = named(self.book.name, self.book.role, 0, len(self))
            what = "size, form and depth" if self._alike else "size"
            raise PictureError(
                f"{self.name}: is {own}, {first.rpartition(': ')[2]} is {other}; all pictures of "
                f"a {self._format} file have one {what}; tif holds them as they are"
            )


def _form(picture: Picture, whole: bool) -> str:
    """Return size, and form and depth, of a picture in words."""
    height, width = picture.samples.shape[:2]
    return f"{width}x{height}" + (f" {picture.kind} of {picture.depth} bits" if whole else "")
