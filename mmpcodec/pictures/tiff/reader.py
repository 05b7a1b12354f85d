"""Read parts of TIFF files, in strips or tiles, compressed or not.

tifffile reads the tags; ``segments`` decodes compressed and packed samples.
"""

import contextlib
import logging
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures.compressed import shown
from mmpcodec.pictures.compressed.frame_size import check_jpeg_scans, jpeg_frame
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import (
    check_part,
    check_size,
    chosen,
    damage_reported,
    damaged,
    library,
    one_line,
)
from mmpcodec.pictures.side.profiles import fitting
from mmpcodec.pictures.stored import StoredArray
from mmpcodec.pictures.tiff import segments, tags
from mmpcodec.pictures.tiff.colour_maps import colours_of
from mmpcodec.pictures.tiff.directories import PlacedPages, placed_pages, reads_at
from mmpcodec.samples import Samples

NONE, JPEG = 1, 7
# CCITT, LZW, deflate by two numbers, PackBits and Zstandard.
_COMPRESSIONS = {NONE, 2, 3, 4, 5, JPEG, 8, 32946, 32773, 50000}
WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE = tags.WHITE_IS_ZERO, 1, 2, 3
CMYK = 5  # of 8 bits, not in JPEG
YCBCR = 6  # only in JPEG, whose decoder returns RGB
_PHOTOMETRIC = {WHITE_IS_ZERO: 1, BLACK_IS_ZERO: 1, RGB: 3, PALETTE: 1, CMYK: 4, YCBCR: 3}
_UNSIGNED = 1
_UNSPECIFIED, _PREMULTIPLIED, _TRANSPARENT = 0, 1, 2
_NUMBERS = (
    "imagewidth", "imagelength", "imagedepth", "samplesperpixel", "planarconfig", "rowsperstrip",
    "tilewidth", "tilelength", "predictor", "fillorder",
)  # fmt: skip
_MOST_READINGS = 256  # of each byte on the mean: blank tiles may share their bytes
_KINDS_OF_SAMPLES = {2: "signed", 3: "floating-point", 5: "complex", 6: "complex"}


class TiffReader:
    """Reads parts of a TIFF file; see ``Reader``.

    The last decoded row of tiles, or the last strip, stays in memory.

    Parameters
    ----------
    source : path or binary stream
        A stream must be in memory.
    name : str
        Name of the file in error messages.
    limits : DecodeLimits
        Limits of each part that is read, and of each strip and tile. For a stream they hold for the
        whole picture as well.
    page : int or None
        Number of the page, from 1; None takes the only one.
    pages : PlacedPages or None
        Where the pages are; None finds them.

    Raises
    ------
    PictureError, MissingExtra
        As ``file.read`` raises them.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | BinaryIO,
        name: str,
        limits: DecodeLimits,
        page: int | None = None,
        pages: PlacedPages | None = None,
    ):
        tifffile = load_tifffile(name)
        self.name = name
        self._limits = limits
        self._closing = contextlib.ExitStack()
        self._stream: BinaryIO
        if isinstance(source, (str, os.PathLike)):
            self._stream = open(source, "rb")  # noqa: SIM115
            self._closing.callback(self._stream.close)
        else:
            self._stream = source
        self._kept: dict[int, np.ndarray] = {}
        self._kept_row = -1
        self._stored: StoredArray | None = None
        try:
            with damage_reported(name):
                self._open(tifffile, page, pages, whole=self._stream is source)
        except BaseException:
            self.close()
            raise

    def _open(
        self, tifffile: Any, number: int | None, pages: PlacedPages | None, *, whole: bool
    ) -> None:
        self._bytes_at, self._held = reads_at(self._stream)
        self._file = tifffile.TiffFile(self._stream, _multifile=False)
        pages = pages or placed_pages(self._file, self._bytes_at, self.name, self._limits)
        self._page = page = self._chosen(tifffile, number, pages)
        self._check_numbers()
        width, height = page.imagewidth, page.imagelength
        if whole:
            planes = 3 if page.photometric == PALETTE else page.samplesperpixel
            check_size(width, height, planes, self.name, self._limits)
        self._check_kind()
        self._planar = page.planarconfig == 2 and page.samplesperpixel > 1
        self.depth = tags.depth_of(page)
        self._colours = None
        planes = page.samplesperpixel
        if page.photometric == PALETTE:
            self._colours, self.depth = _palette(page)
            planes = 3
        if page.photometric == CMYK:
            planes = 3
        self.shape: tuple[int, ...] = (height, width)
        if planes > 1:
            self.shape = height, width, planes
        order = "<" if self._file.byteorder == "<" else ">"
        self.metadata = tags.metadata_of(
            page, self._bytes_at, order, self._file.is_bigtiff, self.depth, self.name
        )
        self._inks = self.metadata.icc
        if page.photometric == CMYK:
            leave_out(self.name, "cmyk")
            self.metadata = self.metadata.without("icc")
        self.metadata = fitting(self.metadata, 3 if planes > 2 else 1, self.name)
        self._stored = self._stored_array()
        if self._stored is None and self._in_front:
            raise PictureError(f"{self.name}: is a compressed stack, which is not supported")
        if self._stored is None:
            self._check_segments()

    def _chosen(self, tifffile: Any, number: int | None, pages: PlacedPages) -> Any:
        """Return the page that is read, and keep its place in a stack behind one directory."""
        index = chosen(pages.count, number, self.name, thing="pages")
        self._in_front = index if pages.in_stack > 1 else 0
        place = pages.places[0 if pages.in_stack > 1 else index]
        first = self._file.pages.first
        if place == first.offset:
            return first
        self._file.filehandle.seek(place)
        return tifffile.TiffPage(self._file, index)

    def _check_numbers(self) -> None:
        """Check that the tags that hold numbers do; tifffile takes values of any type."""
        page = self._page
        for name in _NUMBERS:
            value = getattr(page, name)
            if not isinstance(value, int) or value < 0:
                raise damaged(self.name, f"{name} = {value!r}: must be an integer from 0 up")
        for name in ("dataoffsets", "databytecounts"):
            if not all(isinstance(value, int) and value >= 0 for value in getattr(page, name)):
                raise damaged(self.name, f"{name}: must be integers from 0 up")

    def _check_kind(self) -> None:
        page, name = self._page, self.name
        bits, extra = page.bitspersample, tuple(page.extrasamples or ())
        if page.sampleformat != _UNSIGNED:
            kind = _KINDS_OF_SAMPLES.get(page.sampleformat, f"format {page.sampleformat}")
            raise PictureError(
                f"{name}: holds {one_line(str(kind))} samples; supported are unsigned integers of "
                "1 to 16 bits, so scale the samples to 0..65535 and save them as such"
            )
        if not isinstance(bits, int) or not 1 <= bits <= 16:
            raise PictureError(
                f"{name}: holds {one_line(str(bits))} bits per sample; supported are 1 to 16"
            )
        if page.compression == JPEG and bits != 8:
            raise PictureError(f"{name}: is JPEG of {bits} bits in TIFF; supported are 8 bits")
        if page.predictor not in (1, segments.DIFFERENCES):
            raise PictureError(
                f"{name}: has the predictor {one_line(str(page.predictor))}, which is not supported"
            )
        if page.compression not in _COMPRESSIONS:
            compression = one_line(str(getattr(page.compression, "name", page.compression)))
            raise PictureError(
                f"{name}: is compressed by {compression}; supported are none, LZW, deflate, "
                "PackBits, Zstandard, CCITT and JPEG"
            )
        planes = _PHOTOMETRIC.get(page.photometric)
        if page.photometric == YCBCR and page.compression != JPEG:
            planes = None
        if page.photometric == CMYK and (page.compression == JPEG or bits != 8 or extra):
            planes = None
        if planes is None:
            kind = one_line(str(getattr(page.photometric, "name", page.photometric)))
            raise PictureError(
                f"{name}: holds {kind} samples of {bits} bits; supported are gray, palette, RGB, "
                "and CMYK of 8 bits without JPEG"
            )
        if not extra:  # some writers leave it out
            extra = (_UNSPECIFIED,) * (page.samplesperpixel - planes)
        if page.imagedepth != 1 or page.samplesperpixel != planes + len(extra) or len(extra) > 1:
            raise PictureError(
                f"{name}: holds {one_line(str(page.samplesperpixel))} planes; supported are "
                f"{planes}, and {planes} with alpha"
            )
        known = extra in ((), (_TRANSPARENT,), (_UNSPECIFIED,))
        if not known or (extra and page.photometric == PALETTE):
            what = "alpha that is multiplied in" if extra[0] == _PREMULTIPLIED else "an extra plane"
            raise PictureError(
                f"{name}: holds {what}; supported is alpha that is not multiplied in"
            )
        if extra == (_UNSPECIFIED,):
            leave_out(name, "kind of alpha")

    def _stored_array(self) -> StoredArray | None:
        """Return the samples in the file, if they have the layout of an array; otherwise None."""
        page = self._page
        plain = page.compression == NONE and page.predictor == 1 and page.fillorder == 1
        if not plain or page.bitspersample not in (8, 16) or not page.is_contiguous:
            return None
        if not page.dataoffsets[0]:  # the writer left out samples that are all 0
            return None
        kind = np.dtype(self._file.byteorder + ("u1" if page.bitspersample == 8 else "u2"))
        start, planes = page.dataoffsets[0], page.samplesperpixel
        size = page.imagelength * page.imagewidth * planes * kind.itemsize
        start += size * self._in_front
        if start + size > self._held:
            raise damaged(self.name, f"holds {self._held} bytes, {start + size} are needed")
        shape = (page.imagelength, page.imagewidth, planes)
        if self._planar:
            shape = (planes, page.imagelength, page.imagewidth)
        stored = StoredArray(self._stream, kind, shape, start)
        self._closing.callback(stored.close)
        return stored

    def _check_segments(self) -> None:
        page, name = self._page, self.name
        if page.fillorder not in (1, 2):
            raise damaged(name, f"FillOrder = {page.fillorder}: must be 1 or 2")
        # Separate planes are unpacked one by one.
        planes = 1 if self._planar else page.samplesperpixel
        check_size(*self._segment(), planes, name, self._limits)
        across, down = self._counts()
        needed = across * down * (page.samplesperpixel if self._planar else 1)
        if min(len(page.dataoffsets), len(page.databytecounts)) < needed:
            raise damaged(name, f"has {len(page.dataoffsets)} of {needed} strips or tiles")
        read = sum(min(count, self._held) for count in page.databytecounts[:needed])
        if read > _MOST_READINGS * self._held:
            raise damaged(name, f"strips or tiles of {read} bytes overlap in {self._held} bytes")

    def _segment(self) -> tuple[int, int]:
        """Return the width and height of a tile or strip, in pixels."""
        page = self._page
        if page.is_tiled:
            return page.tilewidth, page.tilelength
        return page.imagewidth, min(page.rowsperstrip, page.imagelength)

    def _counts(self) -> tuple[int, int]:
        """Return the numbers of tiles or strips across and down the picture."""
        width, height = self._segment()
        return -(-self._page.imagewidth // width), -(-self._page.imagelength // height)

    def read(self, rows: slice, columns: slice) -> Samples:
        """Read the samples of a part of the picture; see ``Reader.read``."""
        rows, columns = check_part(self.shape, rows, columns, self.name, self._limits)
        with damage_reported(self.name):
            if self._stored is not None and self._planar:
                planes = self._stored.read((slice(None), rows, columns))
                return self._as_shown(np.moveaxis(planes, 0, 2))
            if self._stored is not None:
                return self._as_shown(self._stored.read((rows, columns)))
            return self._as_shown(self._from_segments(rows, columns))

    def _as_shown(self, stored: np.ndarray) -> np.ndarray:
        """Convert stored samples, (H, W, C), to samples of the picture, in place if possible.

        Palette indexes become colours, CMYK becomes sRGB, and WhiteIsZero is inverted.
        """
        page = self._page
        if self._colours is not None:
            return self._colours[stored[..., 0]]
        if page.photometric == CMYK:
            return shown.rgb_of_cmyk(shown.cmyk_image(stored), self._inks)
        found = stored[..., 0] if stored.shape[2] == 1 else stored
        samples = found.astype(sample_type(self.depth), copy=False)
        if page.photometric == WHITE_IS_ZERO:
            gray = samples if samples.ndim == 2 else samples[..., 0]
            np.subtract((1 << page.bitspersample) - 1, gray, out=gray)
        highest = int(samples.max())
        if highest >> self.depth:
            white = (1 << self.depth) - 1
            if samples.shape != self.shape:
                raise damaged(self.name, f"holds level {highest}, its WhiteLevel is {white}")
            self.depth = page.bitspersample
            leave_out(self.name, "white level", f"{white} of a sample {highest}")
        return samples

    def _from_segments(self, rows: slice, columns: slice) -> np.ndarray:
        page = self._page
        width, height = self._segment()
        top, bottom, left, right = rows.start, rows.stop, columns.start, columns.stop
        shape = bottom - top, right - left, page.samplesperpixel
        samples = np.empty(shape, sample_type(page.bitspersample))
        for row in range(top // height, -(-bottom // height)):
            for column in range(left // width, -(-right // width)):
                y, x = row * height, column * width
                inside = (
                    slice(max(top, y), min(bottom, y + height)),
                    slice(max(left, x), min(right, x + width)),
                )
                into = samples[_moved(inside[0], top), _moved(inside[1], left)]
                for plane, tile in self._tiles(row, column):
                    into[..., plane] = tile[_moved(inside[0], y), _moved(inside[1], x)]
        return samples

    def _tiles(self, row: int, column: int) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield the tiles or strips at a place, each with the planes that it holds."""
        across, down = self._counts()
        if row != self._kept_row:
            self._kept, self._kept_row = {}, row
        planes = range(self._page.samplesperpixel) if self._planar else (slice(None),)
        for number, plane in enumerate(planes):
            index = (number * down + row) * across + column
            if index not in self._kept:
                self._kept[index] = self._unpacked(index)
            tile = self._kept[index]
            yield plane, tile[..., 0] if self._planar else tile

    def _unpacked(self, index: int) -> np.ndarray:
        page = self._page
        place, size = page.dataoffsets[index], page.databytecounts[index]
        data = self._bytes_at(place, size) if place and size else None
        if data is not None and len(data) != size:
            raise damaged(self.name, f"strip or tile {index} is cut off")
        if page.compression == JPEG and data is not None:
            _check_jpeg(data, *self._segment(), self.name)
        width, height = self._segment()
        if not page.is_tiled:  # the last strip may have fewer rows
            _, down = self._counts()
            height = min(height, page.imagelength - index % down * height)
        planes = 1 if self._planar else page.samplesperpixel
        if data is None:  # the writer left out samples that are all 0
            return np.zeros((height, width, planes), sample_type(page.bitspersample))
        order = "<" if self._file.byteorder == "<" else ">"
        segment = segments.StoredSegment(
            width,
            height,
            planes,
            page.bitspersample,
            order,
            int(page.compression),
            int(page.predictor),
            int(page.fillorder),
            int(page.photometric),
            segments.extra_tags(page, order),
        )
        return segments.decoded(data, segment, self.name)

    def __enter__(self) -> "TiffReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a stream stays open."""
        self._closing.close()


def _check_jpeg(data: bytes, width: int, height: int, name: str) -> None:
    """Check that a JPEG strip or tile is of a known kind, and not larger than the TIFF tags say.

    The decoder allocates the size in the JPEG frame header.

    Raises
    ------
    PictureError
        If its kind is not supported.
    ValueError
        If it is larger, has no frame header, or has too many scans.
    """
    frame = jpeg_frame(data)
    if frame.unsupported:
        raise PictureError(
            f"{name}: is compressed by JPEG with {frame.unsupported}; supported are baseline and "
            "progressive JPEG of 8 bits"
        )
    check_jpeg_scans(data)
    if frame.height > height or frame.width > width:
        raise ValueError(f"JPEG of {frame.width}x{frame.height} in a strip of {width}x{height}")


def _moved(part: slice, origin: int) -> slice:
    return slice(part.start - origin, part.stop - origin)


def _palette(page: Any) -> tuple[np.ndarray, int]:
    """Return a palette's colours, (levels, 3), and their depth: 8 bits if these are exact."""
    colours = np.ascontiguousarray(np.asarray(page.colormap).T)
    if colours.shape != (1 << page.bitspersample, 3):
        raise ValueError(f"palette of shape {colours.shape}")
    return colours_of(colours)


def load_tifffile(name: str) -> Any:
    """Import tifffile and silence its log.

    Raises
    ------
    MissingExtra
        If it is not installed.
    """
    found = library("tifffile", "TIFF", name)
    # tifffile logs warnings, which Python prints unless there is a handler.
    logger = logging.getLogger("tifffile")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return found
