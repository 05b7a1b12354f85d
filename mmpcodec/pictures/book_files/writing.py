"""Write a book to a file: the checks that all formats share."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, cast

from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.pictures import registry
from mmpcodec.pictures.book_files.formats import FORMATS, holding
from mmpcodec.pictures.book_files.pages import Pages
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.side.origin import ALONE, Origin
from mmpcodec.pictures.writing import check_taken


class Options(NamedTuple):
    """Options of formats; None takes the usual value.

    Parameters
    ----------
    quality : int or None
        Of WebP, 1 to 100.
    png_level : int or None
        Of PNG, 0 to 9.
    threads : int or None
        Threads that compress PNG.
    origin : Origin
        What DICOM says of the mmp file.
    compressed : bool
        Whether the file is packed by gzip, as the format asks for it.
    """

    quality: int | None = None
    png_level: int | None = None
    threads: int | None = None
    origin: Origin = ALONE
    compressed: bool = False


def check_held(format: str, book: Book) -> None:
    """Check that a file of a format can hold the pictures of a book.

    Raises
    ------
    PictureError
        If it holds one picture, or pictures of another role; the message names what can be done.
    """
    row = FORMATS.get(format)
    if book.count == 1 or (row is not None and book.role in row.roles):
        return
    what = book.role.name.lower()
    held = "one picture" if row is None else "frames, or one picture"
    others = ", .".join(holding(book.role, book.count))
    raise PictureError(
        f"{book.name}: has {book.count} {what}s, and a {format} file holds {held}; --page N takes "
        f"one, -O DIR writes a file of each, -o FILE one of all, which ends in .{others}"
    )


def write_book(
    book: Book,
    target: BinaryIO | str,
    format: str,
    options: Options | None = None,
    bytes: int | None = None,
) -> dict[str, list[int]]:
    """Write the pictures of a book to a file, one after the other.

    Parameters
    ----------
    book : Book
    target : binary stream, or str
        A stream, or the path of a new folder where the format is one.
    format : str
        Of ``formats.FORMATS``.
    options : Options or None
    bytes : int or None
        Bytes that all samples take without compression, if that is known.

    Returns
    -------
    dict of str to list of int
        What the file does not keep, or keeps only in part, and the numbers of the pictures, from 0.

    Raises
    ------
    PictureError
        If a picture cannot be read, the file cannot hold the pictures, or they differ.
    ParameterError
        If the format is unknown, or cannot hold pictures of this form or depth.
    MissingExtra
        If the format needs a package that is not installed.
    """
    if format not in FORMATS:
        raise ParameterError(f"format = {format!r}: must be one of {', '.join(FORMATS)}")
    row = FORMATS[format]
    check_held(format, book)
    pages = Pages(book, format, alike=row.alike, sized=row.sized, bytes=bytes)
    if format in registry.written():
        check_taken(pages.first, format, holding(book.role, book.count))
    if not row.loops:
        pages.lose_loops()
    options = (options or Options())._replace(compressed=row.compressed)
    if row.folder:
        row.load().write(target, pages, options)
        return pages.lost
    with _seekable(cast(BinaryIO, target)) as stream:
        row.load().write(stream, pages, options)
    return pages.lost


@contextlib.contextmanager
def _seekable(target: BinaryIO) -> Iterator[BinaryIO]:
    """Give a stream that can be read and whose position can be set; its bytes go to the target."""
    try:
        usable = target.seekable() and target.readable() and target.tell() == 0
    except (OSError, ValueError, AttributeError):
        usable = False
    if usable:
        yield target
        return
    with tempfile.TemporaryFile() as stream:
        yield stream
        stream.seek(0, os.SEEK_SET)
        shutil.copyfileobj(stream, target, 1 << 20)
