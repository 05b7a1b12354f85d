"""Read mmp files, with the codec."""

from mmpcodec.errors import FormatError, MmpError, PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture

RESCUE = "mmp decode --allow-partial"
"""Reads files that readers of pictures refuse."""


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
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
