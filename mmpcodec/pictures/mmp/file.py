"""Read mmp files, with the codec."""

from contextlib import ExitStack

from mmpcodec.errors import FormatError, MmpError, PictureError
from mmpcodec.format.collection import FACTS, Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import contents_of
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book, named
from mmpcodec.pictures.parts import bytes_of
from mmpcodec.runtime.files import Source

RESCUE = "mmp decode --allow-partial"
"""Reads files that readers of pictures refuse."""


def read(data: Source, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a whole picture.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits, or has no such page.
    """
    from mmpcodec.codec.decoder import inspect  # other formats do not need the codec

    try:
        found = inspect(data, decode=True, page=page, limits=limits)
    except FormatError as error:
        raise PictureError(f"{name}: {error.with_hint(RESCUE)}") from error
    except MmpError as error:
        raise PictureError(f"{name}: {error}") from error
    assert found.samples is not None
    return Picture(found.samples, found.header.depth, found.header.metadata)


def book(source: str | bytes, name: str, limits: DecodeLimits) -> Book:
    """Open a file as a book. Levels and thumbnails are no pages.

    Raises
    ------
    FormatError
        If what the file says of its pictures is damaged.
    """
    with ExitStack() as stack:
        data = (
            memoryview(source)
            if isinstance(source, bytes)
            else stack.enter_context(bytes_of(source, limits.max_memory))
        )
        contents = contents_of(data, limits.max_pictures)
        close = stack.pop_all().close
    pages = contents.pictures

    roles = {entry.role for entry in pages}
    role = roles.pop() if len(roles) == 1 else Role.PAGE
    facts = [entry.facts for entry in pages] if FACTS[role] else []

    def read_page(number: int) -> Picture:
        place = named(name, role, number, len(pages))
        return read(data, place, limits, number + 1)

    return Book(name, len(pages), read_page, role, facts, contents.loops, close=close)
