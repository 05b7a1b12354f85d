"""Read and write NPY files of bool, uint8 or uint16. Pickled objects are never loaded."""

import io
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.format.collection import Role
from mmpcodec.limits import UNLIMITED, DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.picture import PLANES, Picture
from mmpcodec.pictures.books.book import Book, named
from mmpcodec.pictures.limits import check_size, chosen, damaged, one_line, planes_of, say
from mmpcodec.pictures.stored import StoredArray, StoredReader

_DEPTHS = {"bool": 1, "uint8": 8, "uint16": 16}
_READERS = {
    (1, 0): (2, np.lib.format.read_array_header_1_0),
    (2, 0): (4, np.lib.format.read_array_header_2_0),
}
"""Bytes of the header's size, and NumPy's reader of the header, by version."""
_MAX_HEADER = 512  # NumPy's time grows with the square; it writes at most 192 for a picture


@dataclass(frozen=True)
class Header:
    """The header of a file.

    Parameters
    ----------
    stored : tuple of int
        Shape of the array: (H, W), (H, W, C), (N, H, W) or (N, H, W, C).
    order : {"C", "F"}
        Whether the last or the first index changes fastest.
    kind : dtype
    start : int
        Offset of the first sample in the file, in bytes.
    """

    stored: tuple[int, ...]
    order: Literal["C", "F"]
    kind: np.dtype
    start: int

    @property
    def has_pages(self) -> bool:
        """Whether the first axis is that of pages. A last axis of 1 to 4 is that of planes."""
        return len(self.stored) == 4 or (len(self.stored) == 3 and self.stored[2] not in PLANES)

    @property
    def count(self) -> int:
        """Number of pictures."""
        return self.stored[0] if self.has_pages else 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a picture: (H, W), or (H, W, C) with 2 to 4 planes."""
        shape = self.stored[1:] if self.has_pages else self.stored
        return shape[:2] if shape[2:] == (1,) else shape

    @property
    def depth(self) -> int:
        """Bits per sample: 1 for bool."""
        return _DEPTHS[self.kind.name]

    @property
    def size(self) -> int:
        """Size of all samples in bytes."""
        return math.prod(self.stored) * self.kind.itemsize

    def page(self, array: np.ndarray, number: int) -> np.ndarray:
        """Return a picture, counted from 0, of the whole array."""
        return (array[number] if self.has_pages else array).reshape(self.shape)


def header_of(stream: BinaryIO, name: str) -> Header:
    """Read the header at the beginning of a file.

    Raises
    ------
    PictureError, ValueError
        If the header is damaged or the array holds no pictures.
    """
    version = np.lib.format.read_magic(stream)
    if version not in _READERS:
        raise ValueError(f"version {version}: must be 1.0 or 2.0")
    size_bytes, read_header = _READERS[version]
    place = stream.tell()
    size = int.from_bytes(stream.read(size_bytes), "little")
    if size > _MAX_HEADER:
        raise damaged(name, f"has a header of {size} bytes, allowed are {_MAX_HEADER}")
    stream.seek(place)
    shape, fortran, kind = read_header(stream)
    if any(isinstance(side, bool) or side < 0 for side in shape):
        raise ValueError(f"shape {shape}")
    shaped = len(shape) in (2, 3) or (len(shape) == 4 and shape[3] in PLANES)
    if not shaped or kind.name not in _DEPTHS:
        raise PictureError(
            f"{name}: holds an array of shape {one_line(str(shape))} and type "
            f"{one_line(str(kind))}; supported are (height, width) and (pages, height, width), "
            "each with 1 to 4 planes or without, of bool, uint8 and uint16"
        )
    header = Header(shape, "F" if fortran else "C", kind, stream.tell())
    if not header.count:
        raise PictureError(f"{name}: holds an array of shape {shape}, without pictures")
    return header


def _say_doubt(header: Header, name: str) -> None:
    """Say that what is read as pages may be planes."""
    if len(header.stored) == 3 and header.has_pages and header.count in PLANES[1:]:
        count, height, width = header.stored
        say(
            name,
            f"holds an array of shape {header.stored}, which is read as {count} pages of "
            f"{width}x{height}; if these are planes, numpy.moveaxis(array, 0, 2) puts them last",
        )


def _check(header: Header, size: int, name: str, limits: DecodeLimits) -> None:
    """Check the size of a picture, and that the file of ``size`` bytes holds all.

    Raises
    ------
    PictureError
        If a picture is empty or beyond the limits, or the file is too short.
    """
    check_size(header.shape[1], header.shape[0], planes_of(header.shape), name, limits)
    check_end(size, header, name)


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a picture of a file.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, or holds no picture.
    """
    found = book(data, name, limits)
    return found.read(chosen(found.count, page, name, thing="pages"))


def book(source: str | bytes, name: str, limits: DecodeLimits) -> Book:
    """Open a file as a book of the pictures along its first axis.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, or holds no pictures.
    """
    array: np.ndarray
    if isinstance(source, bytes):
        header = header_of(io.BytesIO(source), name)
        _check(header, len(source), name, limits)
        flat = np.frombuffer(source, np.uint8, header.size, header.start).view(header.kind)
        array = flat.reshape(header.stored, order=header.order)
    else:
        with open(source, "rb") as stream:
            header = header_of(stream, name)
            size = stream.seek(0, os.SEEK_END)
        _check(header, size, name, limits)
        # Only the page that is read takes memory.
        array = np.memmap(
            source, header.kind, "r", header.start, shape=header.stored, order=header.order
        )
    _say_doubt(header, name)

    def read_page(number: int) -> Picture:
        place = named(name, Role.PAGE, number, header.count)
        return Picture(plain(header.page(array, number), header.depth, place), header.depth)

    return Book(name, header.count, read_page)


def open_parts(
    path: Path,
    head: bytes,
    size: int,
    name: str,
    limits: DecodeLimits,
    page: int | None = None,
) -> StoredReader | None:
    """Return a reader of parts of a picture; None if its rows are scattered over the file.

    Raises
    ------
    PictureError
        If the file is damaged or holds no picture.
    """
    header = header_of(io.BytesIO(head), name)
    number = chosen(header.count, page, name, thing="pages")
    if header.has_pages and header.order == "F":
        return None
    _check(header, size, name, UNLIMITED)
    start = header.start + number * (header.size // header.count)
    with path.open("rb") as stream:
        samples = StoredArray(stream, header.kind, header.shape, start, header.order)
    most = (1 << header.depth) - 1
    return StoredReader(samples, header.shape, most, header.depth, Metadata(), name, limits)


def check_end(size: int, header: Header, name: str) -> None:
    """Check that a file of ``size`` bytes holds all samples.

    Raises
    ------
    PictureError
        If the file is too short.
    """
    if size < header.start + header.size:
        raise damaged(name, f"holds {size} bytes, {header.start + header.size} are needed")


def plain(stored: np.ndarray, depth: int, name: str) -> np.ndarray:
    """Copy samples to C order and native byte order.

    Raises
    ------
    PictureError
        If a bool is neither 0 nor 1.
    """
    if depth == 1 and (highest := int(stored.view(np.uint8).max())) > 1:
        raise damaged(name, f"holds level {highest}, allowed is 0 to 1")
    return np.array(stored, sample_type(depth), order="C")


def to_bytes(picture: Picture, format: str) -> bytes:
    """Encode an NPY file; of bool if the depth is 1."""
    samples = picture.samples.astype(bool) if picture.depth == 1 else picture.samples
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(samples), allow_pickle=False)
    return stream.getvalue()
