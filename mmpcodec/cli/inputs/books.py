"""Open inputs of commands as books: their pictures are read one at a time."""

from typing import TYPE_CHECKING

from mmpcodec.cli import output
from mmpcodec.errors import PictureError
from mmpcodec.pictures.books.book import Book
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    from mmpcodec.limits import DecodeLimits
    from mmpcodec.picture import Picture


def opened_input(source: str, limits: "DecodeLimits", name: str | None = None) -> Book:
    """Open a picture file, a URL or standard input as a book; its user closes it.

    Raises
    ------
    FileError, PictureError, MissingExtra
        If it cannot be read.
    """
    from mmpcodec.pictures.books.opening import opened_book

    name = name or output.shown(source, "stdin")
    if source == STANDARD:
        return opened_book(output.read(source), name, limits=limits)
    return opened_book(source, name, limits=limits)


def read_page(book: Book, page: int) -> "Picture":
    """Read a picture of a book, counted from 1.

    Raises
    ------
    PictureError
        If there is no such picture, or it is damaged.
    """
    if not 1 <= page <= len(book):
        raise PictureError(f"{book.name}: page = {page}: must be 1 to {len(book)}")
    return book.read(page - 1)
