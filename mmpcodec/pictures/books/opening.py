"""Open a file of any format as a book."""

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures import readers, reading, registry
from mmpcodec.pictures.books.book import Book, named
from mmpcodec.pictures.left_out import noted
from mmpcodec.pictures.limits import damage_reported, dpi_number
from mmpcodec.pictures.side.profiles import with_fitting_profile
from mmpcodec.runtime import stores


def opened_book(
    source: str | os.PathLike[str] | bytes,
    name: str | None = None,
    *,
    limits: DecodeLimits | None = None,
    strict: bool = False,
    dpi: int | None = None,
    keep: Collection[str] = (),
) -> Book:
    """Open a picture file as a book.

    Parameters
    ----------
    source : path, URL or bytes
        A file of any format of ``registry.FORMATS``. One that cannot hold several pictures, and a
        zarr store, is a book of one page.
    name : str or None
        Name for messages; None takes the path.
    limits : DecodeLimits or None
        Limits of each picture, and of the number of pictures.
    strict, dpi, keep
        See ``pictures.read``.

    Returns
    -------
    Book
        Its owner closes it.

    Raises
    ------
    PictureError, MissingExtra
        As ``pictures.read`` raises them.
    ParameterError
        If dpi is out of range.
    """
    dpi = dpi_number(dpi)
    limits = limits or DecodeLimits()
    where: str | bytes
    if isinstance(source, bytes):
        name, where, head = name or "picture", source, source[: registry.MAGIC_END]
    else:
        path = stores.without_file(os.fspath(source))
        name, where = name or path, path
        if stores.is_zarr(path):
            with readers.opened(path, limits=limits, strict=strict) as reader:
                measured = readers.is_measured(path, reader)
            return _of_one(path, name, limits, strict=strict, measured=measured)
        if stores.is_url(path) or not Path(path).is_file():
            data = reading.bytes_of(path, limits.max_memory)
            return opened_book(data, name, limits=limits, strict=strict, dpi=dpi, keep=keep)
        try:
            with open(path, "rb") as stream:
                head = stream.read(registry.MAGIC_END)
        except OSError as error:
            raise PictureError.from_os(name, error) from error
    row = registry.format_at(head)
    module = row.load() if row is not None and row.pages else None
    if row is None or module is None or not hasattr(module, "book"):
        measured = row is not None and row.measured
        return _of_one(where, name, limits, strict=strict, measured=measured, keep=keep)
    with noted(name, strict=strict), damage_reported(name):
        found: Book = module.book(where, name, limits, **row.wanted(keep, dpi))
    check_count(found, limits)

    def read(number: int) -> Picture:
        place = named(name, found.role_of(number), number, found.count)
        with noted(place, strict=strict), damage_reported(place):
            picture = found.read(number)
            return picture if row.is_mmp else with_fitting_profile(picture, place)

    return replace(found, read=read, measured=found.measured or row.measured)


def check_count(book: Book, limits: DecodeLimits) -> None:
    """Check the number of pictures.

    Raises
    ------
    PictureError
        If there are none, or more than the limit.
    """
    if 0 < book.count <= limits.max_pictures:
        return
    book.close()
    if not book.count:
        raise PictureError(f"{book.name}: holds no pictures")
    raise PictureError(
        f"{book.name}: holds {book.count} pictures, allowed is 1 to {limits.max_pictures}"
        + ("; max_pictures raises the limit" if book.count > 0 else "")
    )


def _of_one(
    source: str | bytes,
    name: str,
    limits: DecodeLimits,
    *,
    strict: bool,
    measured: bool,
    keep: Collection[str] = (),
) -> Book:
    """Return a book of the only picture of a file."""

    def read(_: int) -> Picture:
        if isinstance(source, bytes):
            return reading.from_bytes(source, name, limits=limits, strict=strict, keep=keep)
        return reading.read(source, limits=limits, strict=strict, keep=keep)

    return Book(name, 1, read, measured=measured)
