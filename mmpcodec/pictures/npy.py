"""Read and write NPY files of bool, uint8 or uint16. Pickled objects are never loaded."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.limits import UNLIMITED, DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.picture import PLANES, Picture
from mmpcodec.pictures.limits import check_size, damaged, one_line, planes_of
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
    shape : tuple of int
        (H, W) or (H, W, C).
    order : {"C", "F"}
        Whether the last or the first index changes fastest.
    kind : dtype
    start : int
        Offset of the first sample in the file, in bytes.
    """

    shape: tuple[int, ...]
    order: Literal["C", "F"]
    kind: np.dtype
    start: int

    @property
    def depth(self) -> int:
        """Bits per sample: 1 for bool."""
        return _DEPTHS[self.kind.name]

    @property
    def size(self) -> int:
        """Size of all samples in bytes."""
        return int(np.prod(self.shape, dtype=object)) * self.kind.itemsize


def header_of(stream: BinaryIO, name: str) -> Header:
    """Read the header at the beginning of a file.

    Raises
    ------
    PictureError, ValueError
        If the header is damaged or the array is no picture.
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
    shaped = len(shape) == 2 or (len(shape) == 3 and shape[2] in PLANES)
    if not shaped or kind.name not in _DEPTHS:
        raise PictureError(
            f"{name}: holds an array of shape {one_line(str(shape))} and type {one_line(str(kind))}"
            f"{_guess(shape)}; supported are (height, width) and (height, width, 1 to 4) of bool, "
            "uint8 and uint16"
        )
    if len(shape) == 3 and shape[2] == 1:
        shape = shape[:2]
    return Header(shape, "F" if fortran else "C", kind, stream.tell())


def _guess(shape: tuple[int, ...]) -> str:
    """Return what an array of three axes may be, and what to do with it, for a message."""
    if len(shape) != 3 or shape[2] in PLANES:
        return ""
    if shape[0] in PLANES:
        return (
            ", which may be planes before rows and columns: numpy.moveaxis(array, 0, 2) puts them "
            "last"
        )
    return (
        f", which may be a volume of {shape[0]} pictures of {shape[2]}x{shape[1]}: save each as a "
        "file, or the volume as a zarr store"
    )


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """Read a whole file.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, or holds no picture.
    """
    header = header_of(io.BytesIO(data), name)
    check_size(header.shape[1], header.shape[0], planes_of(header.shape), name, limits)
    check_end(len(data), header, name)
    stored = np.frombuffer(data, np.uint8, header.size, header.start).view(header.kind)
    samples = stored.reshape(header.shape, order=header.order)
    return Picture(plain(samples, header.depth, name), header.depth)


def open_parts(path: Path, head: bytes, size: int, name: str, limits: DecodeLimits) -> StoredReader:
    """Return a reader of parts of a file.

    Raises
    ------
    PictureError
        If the file is damaged or holds no picture.
    """
    header = header_of(io.BytesIO(head), name)
    check_size(header.shape[1], header.shape[0], planes_of(header.shape), name, UNLIMITED)
    check_end(size, header, name)
    with path.open("rb") as stream:
        samples = StoredArray(stream, header.kind, header.shape, header.start, header.order)
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
