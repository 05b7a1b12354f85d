"""Read mmp files, with the codec."""

from collections.abc import Sequence
from contextlib import ExitStack

from mmpcodec.errors import FormatError, MmpError, PictureError
from mmpcodec.format.collection import Contents, Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import PictureBytes, contents_of, is_collection
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.limits import say
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
    say_unfinished(name, contents)
    pages = contents.pictures
    pictures: Sequence[Source] = [data]
    if is_collection(data):
        most = limits.max_memory
        pictures = [PictureBytes(data, contents, entry, most) for entry in pages]
    roles = [entry.role for entry in pages]
    role = roles[0] if len(set(roles)) == 1 else Role.PAGE
    facts = [entry.facts for entry in pages]

    def read_page(number: int) -> Picture:
        return read(pictures[number], name, limits)

    return Book(name, len(pages), read_page, role, facts, contents.loops, close=close, roles=roles)


def say_unfinished(name: str, contents: Contents) -> None:
    """Warn if a writer was stopped while it appended pictures to a file."""
    if contents.unfinished:
        say(
            name,
            f"{contents.unfinished} bytes behind its index are of pictures whose writer was "
            f"stopped, and are left out; {RESCUE} reads what is whole",
        )
