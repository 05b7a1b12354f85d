"""All pictures of a file as one array."""

import os

import numpy as np

from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import named
from mmpcodec.pictures.books.opening import opened_book
from mmpcodec.pictures.reading import Source, of_stream
from mmpcodec.samples import Samples


def stack_of(
    source: Source, limits: DecodeLimits, *, strict: bool = False, dpi: int | None = None
) -> Samples:
    """Read all pictures of a file, which must have one size, form and depth.

    Parameters
    ----------
    source, strict, dpi
        See ``pictures.imread``.
    limits : DecodeLimits
        ``max_memory`` holds for the array, too.

    Returns
    -------
    (N, H, W) or (N, H, W, C) array

    Raises
    ------
    PictureError
        If a picture cannot be read, the first one that differs, or if the array exceeds the limit.
    """
    name = None
    if isinstance(source, (bytes, bytearray, memoryview)):
        source = bytes(source)
    elif not isinstance(source, (str, os.PathLike)):
        source, name = of_stream(source)
    with opened_book(source, name, limits=limits, strict=strict, dpi=dpi) as book:
        found: Samples | None = None
        first = ""
        for number, picture in enumerate(book):
            if found is None:
                first = _form(picture)
                size = picture.samples.nbytes * book.count
                if limits.max_memory is not None and size > limits.max_memory:
                    raise PictureError(
                        f"{book.name}: has {book.count} pictures of {size} bytes together, the "
                        f"limit is {limits.max_memory}; max_memory raises it"
                    )
                shape = book.count, *picture.samples.shape
                try:
                    found = np.empty(shape, picture.samples.dtype)
                except MemoryError as error:
                    raise PictureError(
                        f"{book.name}: not enough memory for {size} bytes; mmpcodec.open gives "
                        "one picture after the other"
                    ) from error
            if _form(picture) != first:
                place = named(book.name, book.role, number, book.count)
                role = book.role.name.lower()
                raise PictureError(
                    f"{place}: is {_form(picture)}, {role} 1 is {first}; an array of all needs one "
                    "size, form and depth, page=N reads one"
                )
            found[number] = picture.samples
        assert found is not None
        return found


def _form(picture: Picture) -> str:
    """Return size, form and depth of a picture in words."""
    height, width = picture.samples.shape[:2]
    return f"{width}x{height} {picture.kind} of {picture.depth} bits"
