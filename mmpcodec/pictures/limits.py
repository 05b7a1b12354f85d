"""Checks that all formats share: limits, the error for a damaged file, optional packages."""

import contextlib
import errno
import warnings
import zlib
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import numpy as np

from mmpcodec.checks import check_int, check_page
from mmpcodec.errors import (
    FileError,
    MissingExtra,
    NoSuchPage,
    ParameterError,
    PictureError,
    PictureWarning,
    install,
)
from mmpcodec.limits import MOST_DPI, DecodeLimits
from mmpcodec.runtime.files import printable

MAX_METADATA = 1 << 26
"""Largest size of all metadata of a file after decompression, in bytes."""

MAX_LINE = 200
"""Most characters of a message that come from a file or from the library that reads it."""

OF_DAMAGE = None, errno.EINVAL
"""``OSError.errno`` where the contents of a file are at fault: libraries raise errors without one,
and the system refuses places that a file gives."""


@contextlib.contextmanager
def damage_reported(name: str) -> Iterator[None]:
    """Turn any exception that a library raises for a damaged file into a ``PictureError``.

    If the system refuses to open or read the file, the error says that, and is an ``OSError`` too.
    """
    try:
        yield
    except (PictureError, MissingExtra, PictureWarning):
        raise
    except MemoryError as error:
        raise PictureError(f"{name}: not enough memory") from error
    except OSError as error:
        if error.errno not in OF_DAMAGE:
            raise refused(name, error) from error
        raise damaged(name, str(error).strip() or type(error).__name__) from error
    except Exception as error:  # each library has its own
        raise damaged(name, str(error).strip() or type(error).__name__) from error


def refused(name: str, error: OSError) -> PictureError:
    """Return the error for a file that the system or a store does not open or read."""
    if isinstance(error, FileError) and error.errno is None:
        return PictureError(str(error))  # of a store, without a number of the system
    return PictureError.from_os(name, error)


def damaged(name: str, reason: str) -> PictureError:
    """Return the error for a file that violates its format."""
    return PictureError(f"{name}: is damaged or truncated: {one_line(reason)}")


def one_line(text: str) -> str:
    """Return text of a file, or of an error about it, as a short line of printable characters."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= MAX_LINE else line[:MAX_LINE] + "..."


def check_size(width: int, height: int, planes: int, name: str, limits: DecodeLimits) -> None:
    """Check width and height in pixels, and planes, before samples are allocated.

    Raises
    ------
    PictureError
        If there are no pixels, or more than the limits allow.
    """
    if width < 1 or height < 1:
        raise PictureError(f"{name}: is {width}x{height}, a picture without pixels")
    fault = limits.fault_of_size(width, height, width * height * planes)
    if fault:
        raise PictureError(f"{name}: is {width}x{height}: {fault}")


def check_levels(samples: np.ndarray, maxval: int, name: str) -> None:
    """Check that no sample of a file is above the largest level that its header allows.

    Raises
    ------
    PictureError
        If a sample is.
    """
    highest = int(samples.max())
    if highest > maxval:
        raise damaged(name, f"holds level {highest}, allowed is 0 to {maxval}")


def planes_of(shape: tuple[int, ...]) -> int:
    """Return the planes of samples of shape (H, W) or (H, W, C)."""
    return shape[2] if len(shape) > 2 else 1


def check_part(
    shape: tuple[int, ...], rows: slice, columns: slice, name: str, limits: DecodeLimits
) -> tuple[slice, slice]:
    """Clip the rows and columns of a part to a picture of this shape.

    Raises
    ------
    ParameterError
        If rows or columns are no slice of integers without a step.
    PictureError
        If the part has no pixels, or more than the limits allow.
    """
    top, bottom = _span("rows", rows, shape[0])
    left, right = _span("columns", columns, shape[1])
    if top >= bottom or left >= right:
        raise PictureError(
            f"{name}: rows {top} to {bottom} and columns {left} to {right} hold no pixels"
        )
    check_size(right - left, bottom - top, planes_of(shape), name, limits)
    return slice(top, bottom), slice(left, right)


def _span(argument: str, part: slice, length: int) -> tuple[int, int]:
    try:
        start, stop, step = part.indices(length)
    except (AttributeError, TypeError):
        step = 0
    if step != 1:
        raise ParameterError(
            f"{argument} = {part!r}: must be a slice of integers, as slice(0, 512), without a step"
        )
    return start, stop


def page_number(page: int | None) -> int | None:
    """Return ``page``, NumPy's integers as a Python int.

    Raises
    ------
    ParameterError
        If it is neither an integer nor None.
    """
    return None if page is None else check_int("page", page)


def dpi_number(dpi: int | None) -> int | None:
    """Return pixels per inch of pages that are rendered, NumPy's integers as a Python int.

    Raises
    ------
    ParameterError
        If it is neither an integer from 1 to 4800 nor None.
    """
    return None if dpi is None else check_int("dpi", dpi, 1, MOST_DPI)


def chosen(count: int, page: int | None, name: str, *, thing: str = "frames") -> int:
    """Return the index of the picture to read, from 0, of those in a file.

    Parameters
    ----------
    count, page, name, thing
        See ``checks.check_page``.

    Raises
    ------
    PictureError
        If the file has several pictures and no page is given, or fewer than ``page``.
    ParameterError
        If the page is no integer.
    """
    try:
        return check_page(page, count, name, thing)
    except NoSuchPage as error:
        raise PictureError(str(error)) from None


def say(name: str, remark: str, left_out: tuple[str, ...] = ()) -> None:
    """Warn that a picture is not all that its file holds; see ``left_out.leave_out``."""
    warnings.warn(PictureWarning(f"{name}: {remark}", name, left_out), stacklevel=3)


def library(package: str, purpose: str, name: str, *, extra: str | None = None) -> ModuleType:
    """Import a package that only some files need.

    Parameters
    ----------
    package : str
    purpose : str
        What needs the package, for the message: "16-bit colours in PNG".
    name : str
        Name of the file, for the message.
    extra : str or None
        Optional dependency of this project that installs the package; None for a package that
        every installation should have.

    Raises
    ------
    MissingExtra
        If the package is not installed.
    """
    try:
        return import_module(package)
    except ImportError as error:
        advice = f"pip install {package}" if extra is None else install(extra)
        raise MissingExtra(f"{name}: {purpose} needs {package}; {advice}") from error


class Unpacker:
    """Decompresses the metadata of a file, up to ``MAX_METADATA`` bytes in total.

    Parameters
    ----------
    name : str
        Name of the file in error messages.
    """

    def __init__(self, name: str):
        self.name = name
        self.left = MAX_METADATA

    def inflate(self, data: bytes) -> bytes:
        """Decompress a zlib stream.

        Raises
        ------
        PictureError
            If the total exceeds ``MAX_METADATA`` bytes.
        ValueError
            If the stream is damaged or ends early.
        """
        stream = zlib.decompressobj()
        try:
            found = self.count(stream.decompress(data, self.left + 1))
        except zlib.error as error:
            raise ValueError(str(error)) from error
        if not stream.eof:
            raise ValueError("compressed metadata end early")
        return found

    def count(self, data: bytes) -> bytes:
        """Add the size of ``data`` to the total, and return ``data``.

        Raises
        ------
        PictureError
            If the total exceeds ``MAX_METADATA`` bytes.
        """
        self.left -= len(data)
        if self.left < 0:
            raise PictureError(f"{self.name}: holds metadata of more than {MAX_METADATA} bytes")
        return data
