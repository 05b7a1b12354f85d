"""What holds for every reader: limits, and one error for all that can be wrong with a file."""

import contextlib
import zlib
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from mmpcodec.errors import MissingExtra, PictureError, install
from mmpcodec.params import DecodeLimits

MAX_METADATA = 1 << 26
"""Most bytes of a file's metadata, unpacked and together."""


@contextlib.contextmanager
def damage_told(name: str) -> Iterator[None]:
    """Turns whatever a library raises for a damaged file into a ``PictureError`` that names it."""
    try:
        yield
    except (PictureError, MissingExtra):
        raise
    except Exception as error:  # many libraries, many kinds
        reason = " ".join(str(error).split()) or type(error).__name__
        raise damaged(name, reason) from error


def damaged(name: str, reason: str) -> PictureError:
    """The error for a file that breaks the rules of its format."""
    return PictureError(f"{name}: is damaged or truncated: {reason}")


def check_size(width: int, height: int, name: str, limits: DecodeLimits) -> None:
    """Check width and height before samples are allocated.

    Raises
    ------
    PictureError
        When there are no pixels or more than the limits allow.
    """
    if width < 1 or height < 1:
        raise PictureError(f"{name}: is {width}x{height}, a picture without pixels")
    if max(width, height) > limits.max_dimension or width * height > limits.max_pixels:
        raise PictureError(
            f"{name}: is {width}x{height}, limits are {limits.max_dimension} pixels a side "
            f"and {limits.max_pixels} in all"
        )


def check_part(
    shape: tuple[int, ...], rows: slice, columns: slice, name: str, limits: DecodeLimits
) -> tuple[slice, slice]:
    """The rows and columns that a part of a picture has.

    Raises
    ------
    PictureError
        When it has none, or more than the limits allow.
    """
    top, bottom, _ = rows.indices(shape[0])
    left, right, _ = columns.indices(shape[1])
    if top >= bottom or left >= right:
        raise PictureError(
            f"{name}: rows {top} to {bottom} and columns {left} to {right} hold no pixels"
        )
    check_size(right - left, bottom - top, name, limits)
    return slice(top, bottom), slice(left, right)


def check_single(count: int, name: str) -> None:
    """Check that a file holds one picture.

    Raises
    ------
    PictureError
        When it holds more.
    """
    if count > 1:
        raise PictureError(f"{name}: holds {count} pictures; supported is one a file")


def library(package: str, purpose: str, name: str, *, extra: str | None = None) -> ModuleType:
    """A library that is imported where it is needed.

    Parameters
    ----------
    package : str
    purpose : str
        What needs it: "16-bit colours in PNG".
    name : str
        The file, for the message.
    extra : str or None
        Extra of this project that brings it, where it is none of the packages always needed.

    Raises
    ------
    MissingExtra
        When it is not installed.
    """
    try:
        return import_module(package)
    except ImportError as error:
        advice = f"pip install {package}" if extra is None else install(extra)
        raise MissingExtra(f"{name}: {purpose} needs {package}; {advice}") from error


class Unpacker:
    """Unpacks the compressed metadata of one file, bounded in all.

    Parameters
    ----------
    name : str
        The file, for messages.
    """

    def __init__(self, name: str):
        self.name = name
        self.left = MAX_METADATA

    def inflate(self, data: bytes) -> bytes:
        """Unpack a zlib stream.

        Raises
        ------
        PictureError
            When the file's metadata come to more than ``MAX_METADATA`` bytes, or the stream ends
            early.
        """
        stream = zlib.decompressobj()
        found = self.count(stream.decompress(data, self.left + 1))
        if not stream.eof:
            raise damaged(self.name, "compressed metadata end early")
        return found

    def count(self, data: bytes) -> bytes:
        """The same bytes, counted.

        Raises
        ------
        PictureError
            When the file's metadata come to more than ``MAX_METADATA`` bytes.
        """
        self.left -= len(data)
        if self.left < 0:
            raise PictureError(f"{self.name}: holds metadata of more than {MAX_METADATA} bytes")
        return data
