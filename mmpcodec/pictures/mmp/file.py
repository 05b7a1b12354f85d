"""Read mmp files, with the codec."""

from contextlib import ExitStack

from mmpcodec.codec.tiles.reduction import reduced_side
from mmpcodec.errors import FormatError, MmpError, PictureError
from mmpcodec.format.collection import FACTS, Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import contents_of, picture_of
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


def at_least(data: Source, side: int, name: str, limits: DecodeLimits) -> Picture:
    """Read the first picture, or its smallest level whose longer side has ``side`` pixels or more.

    Raises
    ------
    PictureError
        As ``read`` raises it.
    """
    from mmpcodec.codec.regions import ScaledDecoder  # other formats do not need the codec

    try:
        decoder = ScaledDecoder(picture_of(data, 1, limits.max_pictures), limits)
        longer = max(decoder.header.width, decoder.header.height)
        enough = [factor for factor in decoder.factors if reduced_side(longer, factor) >= side]
        return decoder.picture(max(enough, default=1))
    except FormatError as error:
        raise PictureError(f"{name}: {error.with_hint(RESCUE)}") from error
    except MmpError as error:
        raise PictureError(f"{name}: {error}") from error


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
