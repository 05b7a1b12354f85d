"""Read mmp files, with the codec."""

from collections.abc import Sequence
from contextlib import ExitStack

from mmpcodec.codec.tiles.reduction import reduced_side
from mmpcodec.errors import FormatError, MmpError, PictureError
from mmpcodec.format.collection import Contents, common_role
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import PictureBytes, contents_of, is_collection, picture_of
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.left_out import gathered, leave_out
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
    # other formats do not need the codec
    from mmpcodec.codec.decoder import inspect
    from mmpcodec.pictures.kept_jpeg import source_of

    try:
        with gathered() as said:
            found = inspect(data, decode=True, page=page, limits=limits)
    except FormatError as error:
        raise PictureError(f"{name}: {error.with_hint(RESCUE)}") from error
    except MmpError as error:
        raise PictureError(f"{name}: {error}") from error
    for _, keys in said:
        leave_out(name, keys)
    assert found.samples is not None
    source = source_of(data, found, page=page, limits=limits)
    return Picture(found.samples, found.header.depth, found.header.metadata, source)


def at_least(data: Source, side: int, name: str, limits: DecodeLimits) -> Picture:
    """Read the first picture, or its smallest level whose longer side has ``side`` pixels or more.

    Raises
    ------
    PictureError
        As ``read`` raises it.
    """
    from mmpcodec.codec.regions import ScaledDecoder  # other formats do not need the codec

    try:
        decoder = ScaledDecoder(picture_of(data, 1, limits), limits)
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
    PictureError
        If what the file says of its pictures is damaged.
    """
    with ExitStack() as stack:
        data = (
            memoryview(source)
            if isinstance(source, bytes)
            else stack.enter_context(bytes_of(source, limits.max_memory))
        )
        try:
            contents = contents_of(data, limits.max_pictures)
        except FormatError as error:
            raise PictureError(f"{name}: {error.with_hint(RESCUE)}") from error
        close = stack.pop_all().close
    say_unfinished(name, contents)
    pages = contents.pictures
    pictures: Sequence[Source] = [data]
    if is_collection(data):
        most = limits.max_memory
        pictures = [PictureBytes(data, contents, entry, most) for entry in pages]
    roles = [entry.role for entry in pages]
    role = common_role(roles)
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
