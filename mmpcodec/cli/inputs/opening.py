"""Open inputs of commands as books: their pictures are read one at a time."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from mmpcodec.cli import output
from mmpcodec.cli.inputs.pages import padded
from mmpcodec.errors import PictureError
from mmpcodec.pictures.books.book import Book
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    from mmpcodec.limits import DecodeLimits
    from mmpcodec.metadata import Metadata
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


def naming_damaged(book: Book) -> Book:
    """Return a book whose error names each damaged page: behind the first one it looks for others.

    The pages must be read in order.
    """
    from mmpcodec.pictures.books.encoding import damaged_pages

    def read(number: int) -> "Picture":
        faults: dict[int, PictureError] = {}
        for each in range(number, len(book)):
            try:
                picture = book.read(each)
            except PictureError as error:
                if isinstance(error, OSError):  # the file is lost, and so are the other pages
                    raise
                faults[each] = error
            else:
                if not faults:
                    return picture
        raise damaged_pages(book, faults)

    return replace(book, read=read)


def numbered(target: str, number: int, book: Book, own: str, *, force: bool) -> str:
    """Return the output of a page, counted from 0: "x-007.png"; check that it can be written.

    Parameters
    ----------
    target : str
        Output of the whole input.
    number : int
    book : Book
    own : str
        Suffix by which folders of inputs tell the command's outputs from pictures.
    force : bool
        Whether the output may exist.

    Raises
    ------
    FileError
        If it cannot.
    """
    stem, suffix = os.path.splitext(target)
    if target.endswith(own):
        stem, suffix = target.removesuffix(own), own
    found = f"{stem}-{padded(number + 1, len(book))}{suffix}"
    output.check(found, force=force, new_folder=True)
    return found


def check_alike(first: "Picture", other: "Picture", name: str) -> None:
    """Check that a slice fits to the first one.

    Raises
    ------
    PictureError
        If size, planes, depth or calibration differ. The message says what to do.
    """
    for what, one, two in (
        ("size", _size(first), _size(other)),
        ("depth", f"{first.depth} bits", f"{other.depth} bits"),
        ("calibration", _said(first.metadata), _said(other.metadata)),
    ):
        if one != two:
            raise PictureError(
                f"{name}: {what} is {two}, that of the first slice {one}: must be equal in a "
                "series; --page N takes one slice"
            )


def _size(picture: "Picture") -> str:
    height, width = picture.samples.shape[:2]
    return f"{width}x{height} of {picture.kind}"


def _said(metadata: "Metadata") -> str:
    found = metadata.calibration
    return "none" if found is None else f"{found.slope:g} x + {found.intercept:g} {found.unit}"
