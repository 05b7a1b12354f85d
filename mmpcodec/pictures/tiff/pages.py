"""Read the pages of TIFF files, one at a time."""

import io
from contextlib import ExitStack
from typing import BinaryIO

from mmpcodec.format.collection import Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book, named
from mmpcodec.pictures.tiff.directories import PlacedPages, placed_pages, reads_at
from mmpcodec.pictures.tiff.reader import TiffReader, load_tifffile


def book(source: str | bytes, name: str, limits: DecodeLimits) -> Book:
    """Open a file as a book of its pages; overviews and masks are none.

    Each page is read by a reader of its own, so that threads may read pages at once.

    Raises
    ------
    PictureError
        If there are too many directories.
    MissingExtra
        If tifffile is not installed.
    """
    pages = _pages(source, name, limits)

    def read_page(number: int) -> Picture:
        place = named(name, Role.PAGE, number, pages.count)
        stream = io.BytesIO(source) if isinstance(source, bytes) else source
        with TiffReader(stream, place, limits, number + 1, pages) as reader:
            samples = reader.read(slice(None), slice(None))
            return Picture(samples, reader.depth, reader.metadata)

    return Book(name, pages.count, read_page)


def _pages(source: str | bytes, name: str, limits: DecodeLimits) -> PlacedPages:
    tifffile = load_tifffile(name)
    with ExitStack() as stack:
        stream: BinaryIO = (
            io.BytesIO(source)
            if isinstance(source, bytes)
            else stack.enter_context(open(source, "rb"))
        )
        read_at, _ = reads_at(stream)
        return placed_pages(tifffile.TiffFile(stream, _multifile=False), read_at, name, limits)
