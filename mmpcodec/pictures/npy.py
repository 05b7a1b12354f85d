"""NumPy's own files, of bool, uint8 or uint16; nothing in them is ever run."""

import io
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import PLANES, Picture
from mmpcodec.pictures.limits import check_size, damaged

MAGICS = (b"\x93NUMPY",)

_DEPTHS = {"bool": 1, "uint8": 8, "uint16": 16}
_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


@dataclass(frozen=True)
class Header:
    """What comes before the samples.

    Parameters
    ----------
    shape : tuple of int
    order : {"C", "F"}
        Whether the last or the first index changes fastest.
    kind : dtype
    start : int
        Offset of the first sample in the file.
    """

    shape: tuple[int, ...]
    order: str
    kind: np.dtype
    start: int

    @property
    def depth(self) -> int:
        """Bits of a sample."""
        return _DEPTHS[self.kind.name]

    @property
    def size(self) -> int:
        """Bytes of all samples."""
        return int(np.prod(self.shape, dtype=object)) * self.kind.itemsize


def header_of(stream: BinaryIO, name: str) -> Header:
    """What the beginning of a file says.

    Raises
    ------
    PictureError
        When it is damaged or no picture.
    """
    version = np.lib.format.read_magic(stream)
    if version not in _READERS:
        raise ValueError(f"version {version}: must be 1.0 or 2.0")
    shape, fortran, kind = _READERS[version](stream)
    if any(isinstance(side, bool) or side < 0 for side in shape):
        raise ValueError(f"shape {shape}")
    shaped = len(shape) == 2 or (len(shape) == 3 and shape[2] in PLANES[1:])
    if not shaped or kind.name not in _DEPTHS:
        raise PictureError(
            f"{name}: holds an array of shape {shape} and type {kind}; supported are (height, "
            "width) and (height, width, 2 to 4) of bool, uint8 and uint16"
        )
    return Header(shape, "F" if fortran else "C", kind, stream.tell())


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """The picture in a whole file.

    Raises
    ------
    PictureError
        When it is damaged, too large or no picture.
    """
    header = header_of(io.BytesIO(data), name)
    check_size(header.shape[1], header.shape[0], name, limits)
    check_end(len(data), header, name)
    stored = np.frombuffer(data, np.uint8, header.size, header.start).view(header.kind)
    samples = stored.reshape(header.shape, order="F" if header.order == "F" else "C")
    return Picture(plain(samples, header.depth, name), header.depth)


def check_end(size: int, header: Header, name: str) -> None:
    """Check that a file of so many bytes holds all samples.

    Raises
    ------
    PictureError
        When it does not.
    """
    if size < header.start + header.size:
        raise damaged(name, f"holds {size} bytes, {header.start + header.size} are needed")


def plain(stored: np.ndarray, depth: int, name: str) -> np.ndarray:
    """Samples in C order and this machine's byte order.

    Raises
    ------
    PictureError
        When a bool is neither 0 nor 1.
    """
    if depth == 1 and (highest := int(stored.view(np.uint8).max())) > 1:
        raise damaged(name, f"holds level {highest}, allowed is 0 to 1")
    return np.array(stored, sample_type(depth), order="C")


def to_bytes(picture: Picture) -> bytes:
    """An NPY file, of bool for 1 bit."""
    samples = picture.samples.astype(bool) if picture.depth == 1 else picture.samples
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(samples), allow_pickle=False)
    return stream.getvalue()
