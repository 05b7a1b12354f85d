"""Decode strips and tiles of TIFF files: compressed, packed, or with a predictor.

The libtiff in Pillow unpacks a strip or tile as a small TIFF file of its own, and stops at its
size. The bytes that LZW, deflate, PackBits and Zstandard give are taken as gray samples of 8 bits;
JPEG and CCITT give samples. Packed samples and differences are undone here.
"""

import contextlib
import ctypes
import io
import struct
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, TiffImagePlugin, features

from mmpcodec.depth import sample_type
from mmpcodec.errors import MissingExtra
from mmpcodec.pictures.exif import Directory, packed

NONE, CCITT, JPEG = 1, (2, 3, 4), 7
DIFFERENCES = 2  # predictor: each sample minus the one on its left
YCBCR = 6

_SHORT, _LONG, _UNDEFINED = 3, 4, 7
_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, _FILL_ORDER = 256, 257, 258, 259, 262, 266
_OFFSETS, _PLANES, _ROWS_A_STRIP, _COUNTS = 273, 277, 278, 279
_FAX_OPTIONS = (292, 293)
_JPEG_TABLES, _SUBSAMPLING = 347, 530
_BLACK_IS_ZERO = 1
_REVERSED = np.packbits(np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)[:, ::-1])
_BAND = 1 << 20
"""Samples that are unpacked from bits at a time, in whole rows."""


class StoredSegment(NamedTuple):
    """A strip or tile: its shape, and how its samples are stored.

    Parameters
    ----------
    width, height, planes : int
        Pixels of the strip or tile, and samples of a pixel in it.
    bits : int
        Bits per sample, 1 to 16.
    order : {"<", ">"}
        Byte order of the file.
    compression, predictor, fill_order, photometric : int
        Values of the tags.
    extra : mapping of int to tuple
        Type, count and bytes of further tags that the decoder needs.
    """

    width: int
    height: int
    planes: int
    bits: int
    order: str
    compression: int
    predictor: int
    fill_order: int
    photometric: int
    extra: dict[int, tuple[int, int, bytes]]

    @property
    def row_size(self) -> int:
        """Size of a row in bytes; each row begins a new byte."""
        return -(-self.width * self.planes * self.bits // 8)


def decoded(data: bytes, segment: StoredSegment, name: str) -> np.ndarray:
    """Decode a strip or tile to (height, width, planes) samples, uint8 or uint16.

    Raises
    ------
    ValueError, OSError
        If the data are damaged or too short.
    MissingExtra
        If Pillow was built without libtiff or the compression.
    """
    shape = segment.height, segment.width, segment.planes
    if segment.compression == JPEG:
        return _by_libtiff(data, segment, name).reshape(shape)
    if segment.compression in CCITT:
        return _by_libtiff(data, segment, name).astype(np.uint8).reshape(shape)
    size = segment.row_size * segment.height
    if segment.compression == NONE:
        if len(data) < size:
            raise ValueError(f"a strip or tile has {len(data)} bytes, {size} are needed")
        stored = np.frombuffer(data, np.uint8, size)
        if segment.fill_order == 2:
            stored = _REVERSED[stored]
    else:
        stored = _by_libtiff(data, segment, name)
    samples = _unpacked(stored.reshape(segment.height, segment.row_size), segment).reshape(shape)
    if segment.predictor == DIFFERENCES:
        samples = np.cumsum(samples, axis=1, dtype=samples.dtype)
    return samples


def _unpacked(rows: np.ndarray, segment: StoredSegment) -> np.ndarray:
    """Convert rows of bytes, (height, row_size), to (height, width * planes) samples."""
    bits, count = segment.bits, segment.width * segment.planes
    if bits == 8:
        return rows
    if bits == 16:
        return np.ascontiguousarray(rows).view(f"{segment.order}u2").astype(np.uint16)
    found = np.empty((len(rows), count), sample_type(bits))
    weights = (1 << np.arange(bits)[::-1]).astype(found.dtype)
    band = max(1, _BAND // count)
    for top in range(0, len(rows), band):
        single = np.unpackbits(rows[top : top + band], axis=1, count=count * bits)
        found[top : top + band] = single.reshape(-1, count, bits) @ weights
    return found


def _by_libtiff(data: bytes, segment: StoredSegment, name: str) -> np.ndarray:
    if not features.check("libtiff"):
        raise MissingExtra(
            f"{name}: compressed TIFF needs a Pillow with libtiff; pip install -U pillow"
        )
    _silence_libtiff()
    with TiffImagePlugin.TiffImageFile(io.BytesIO(_small_file(data, segment))) as image:
        return np.array(image)


@cache
def _silence_libtiff() -> None:
    """Let libtiff print no errors, which Pillow raises anyway; Pillow silences its warnings."""
    with contextlib.suppress(OSError, AttributeError):  # a libtiff inside of Pillow's own library
        ctypes.CDLL(Image.core.__file__).TIFFSetErrorHandler(None)


def _small_file(data: bytes, segment: StoredSegment) -> bytes:
    """Return a TIFF file with a strip, which holds the samples or bytes of a strip or tile."""
    as_bytes = segment.compression not in (*CCITT, JPEG)
    width, bits, planes = segment.width, segment.bits, segment.planes
    if as_bytes:
        width, bits, planes = segment.row_size, 8, 1
    photometric = _BLACK_IS_ZERO if planes == 1 else segment.photometric

    def shorts(*values: int) -> tuple[int, int, bytes]:
        return _SHORT, len(values), struct.pack(f"{segment.order}{len(values)}H", *values)

    def long(value: int) -> tuple[int, int, bytes]:
        return _LONG, 1, struct.pack(f"{segment.order}I", value)

    entries = {
        _WIDTH: long(width),
        _HEIGHT: long(segment.height),
        _BITS: shorts(*[bits] * planes),
        _COMPRESSION: shorts(segment.compression),
        _PHOTOMETRIC: shorts(photometric),
        _FILL_ORDER: shorts(segment.fill_order),
        _OFFSETS: long(8),
        _PLANES: shorts(planes),
        _ROWS_A_STRIP: long(segment.height),
        _COUNTS: long(len(data)),
        **segment.extra,
    }
    end = 8 + len(data) + len(data) % 2
    start = {"<": b"II*\0", ">": b"MM\0*"}[segment.order] + struct.pack(f"{segment.order}I", end)
    return start + data.ljust(end - 8, b"\0") + packed(segment.order, Directory(entries), end)


def extra_tags(page: Any, order: str) -> dict[int, tuple[int, int, bytes]]:
    """Return the tags of a page that its decoder needs besides those of every file."""
    found: dict[int, tuple[int, int, bytes]] = {}
    if page.compression in CCITT:
        for tag in _FAX_OPTIONS:
            value = page.tags.valueof(tag)
            if value is not None:
                found[tag] = _LONG, 1, struct.pack(f"{order}I", int(value))
    if page.compression == JPEG:
        if page.jpegtables:
            found[_JPEG_TABLES] = _UNDEFINED, len(page.jpegtables), bytes(page.jpegtables)
        if page.photometric == YCBCR:
            across, down = page.tags.valueof(_SUBSAMPLING, default=(2, 2))
            found[_SUBSAMPLING] = _SHORT, 2, struct.pack(f"{order}2H", across, down)
    return found
