"""Write a book as a PDF file with an image on each page, without loss, with pikepdf.

Source of the dictionaries: ISO 32000-1, 8.9.5 "Image dictionaries" and 7.4 "Filters".
"""

import contextlib
import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from PIL import JpegImagePlugin

from mmpcodec.backends import jpeg as jpegs
from mmpcodec.format.jpeg import most_level_bytes
from mmpcodec.picture import Picture
from mmpcodec.pictures.book_files.pages import Pages
from mmpcodec.pictures.compressed.jpeg import metadata_of
from mmpcodec.pictures.limits import library
from mmpcodec.pictures.png.compression import compressed
from mmpcodec.pictures.png.file import stretched
from mmpcodec.pictures.side.facts import orientation_of
from mmpcodec.pictures.tiff import group4

POINTS = 72
"""Points in an inch, the unit of pages."""
USUAL_DPI = 96
"""Pixels in an inch of a picture that does not say how many."""
MOST_POINTS = 14400
"""Longest side of a page in units of the file."""
MOST_HELD = 1 << 26
"""Bytes of images that are held before they go to a temporary file."""
_BITS = {1: (1, 2, 4, 8, 16), 3: (8, 16)}
"""Bits of a component, by the number of colours."""
_DEVICE = {1: "/DeviceGray", 3: "/DeviceRGB"}
_PNG_ROWS = 15
_TURNED = {
    1: (1, 0, 0, 1, 0, 0),
    2: (-1, 0, 0, 1, 1, 0),
    3: (-1, 0, 0, -1, 1, 1),
    4: (1, 0, 0, -1, 0, 1),
    5: (0, -1, -1, 0, 1, 1),
    6: (0, -1, 1, 0, 0, 1),
    7: (0, 1, 1, 0, 0, 0),
    8: (0, 1, -1, 0, 1, 0),
}
"""Where the unit square of an image lies on a page of side 1, by the orientation in EXIF."""


def write(stream: BinaryIO, pages: Pages, options: Any) -> None:
    """Write the pages; the memory does not grow with their number.

    A JPEG file that has exactly the samples of a page is its image, bit for bit. Other pictures of
    1 bit are coded by CCITT group 4, and others by Flate. The resolution gives the size of
    a page, and 96 pixels an inch are assumed without one. An orientation in EXIF turns the page.

    Raises
    ------
    MissingExtra
        If pikepdf is not installed.
    """
    pikepdf = library("pikepdf", "a PDF file", pages.book.name, extra="pdf")
    level = 6 if options.png_level is None else options.png_level
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mmp-pdf-")))
        parts: list[Path] = []
        part = _Part(pikepdf.new(), pages.book.name)
        for picture in pages:
            jpeg = _jpeg_of(picture)
            part.add(pikepdf, picture, jpeg, level, options.threads)
            _note_lost(picture, jpeg, pages)
            if part.held > MOST_HELD:
                parts.append(folder / f"{len(parts)}.pdf")
                part.file.save(parts[-1])
                part = _Part(pikepdf.new(), pages.book.name)
        whole = part.file
        if parts:
            whole = pikepdf.new()
            for place in parts:
                whole.pages.extend(stack.enter_context(pikepdf.open(place)).pages)
            whole.pages.extend(part.file.pages)
        whole.save(stream, min_version="1.6", deterministic_id=True)


@dataclass
class _Part:
    """Some pages, the bytes of their images, and the name of the book for remarks."""

    file: Any
    name: str
    held: int = 0
    profiles: dict[bytes, Any] = field(default_factory=dict)

    def add(
        self, pikepdf: Any, picture: Picture, jpeg: bytes, level: int, threads: int | None
    ) -> None:
        """Add a page; ``jpeg`` is its image if it is not empty."""
        name, metadata = pikepdf.Name, picture.metadata
        plain = picture.without_alpha()

        def stream(data: bytes, **entries: Any) -> Any:
            self.held += len(data)
            return self.file.make_indirect(pikepdf.Stream(self.file, data, **entries))

        def coded(samples: np.ndarray, depth: int) -> tuple[bytes, dict[str, Any]]:
            bilevel = depth == 1 and samples.ndim == 2
            strip = group4.encoded(samples, self.name, "PDF") if bilevel else None
            if strip is None:
                return _deflated(samples, depth, level, threads, pikepdf)
            return _as_fax(strip, samples, pikepdf)

        def image(
            samples: np.ndarray, depth: int, space: Any, jpeg: bytes = b"", **more: Any
        ) -> Any:
            as_jpeg = {"BitsPerComponent": 8, "Filter": name.DCTDecode}
            data, how = (jpeg, as_jpeg) if jpeg else coded(samples, depth)
            height, width = samples.shape[:2]
            given = {"Type": name.XObject, "Subtype": name.Image, "Width": width, "Height": height}
            return stream(data, **given, ColorSpace=space, **how, **more)

        more: dict[str, Any] = {}
        if picture.planes in (2, 4):
            alpha = np.ascontiguousarray(picture.samples[..., -1])
            more["SMask"] = image(alpha, picture.depth, name.DeviceGray)
        if metadata.xmp:
            given = {"Type": name.Metadata, "Subtype": name.XML}
            more["Metadata"] = stream(metadata.xmp, **given)
        space = self._space(pikepdf, metadata.icc, plain.planes, stream)
        found = image(plain.samples, picture.depth, space, jpeg, **more)
        self._place(pikepdf, picture, found)

    def _space(self, pikepdf: Any, icc: bytes, colours: int, stream: Callable[..., Any]) -> Any:
        """Return the colour space of an image; equal profiles of a part are written once."""
        if not icc:
            return pikepdf.Name(_DEVICE[colours])
        if icc not in self.profiles:
            found = stream(icc, N=colours)
            self.profiles[icc] = self.file.make_indirect(
                pikepdf.Array([pikepdf.Name.ICCBased, found])
            )
        return self.profiles[icc]

    def _place(self, pikepdf: Any, picture: Picture, image: Any) -> None:
        """Add a page that an image fills."""
        width, height = _points(picture)
        orientation = orientation_of(picture.metadata)
        if orientation >= 5:
            width, height = height, width
        unit = max(1.0, max(width, height) / MOST_POINTS)
        sides = tuple(round(side / unit, 5) for side in (width, height))
        matrix = (value * sides[place % 2] for place, value in enumerate(_TURNED[orientation]))
        shown = " ".join(f"{value:.5f}".rstrip("0").rstrip(".") for value in matrix)
        page = pikepdf.Dictionary(
            Type=pikepdf.Name.Page,
            MediaBox=pikepdf.Array([0, 0, *sides]),
            Resources=pikepdf.Dictionary(XObject=pikepdf.Dictionary(Im0=image)),
            Contents=pikepdf.Stream(self.file, f"q {shown} cm /Im0 Do Q".encode()),
        )
        if unit > 1:
            page.UserUnit = round(unit, 5)
        self.file.pages.append(pikepdf.Page(page))


def bits_for(depth: int, colours: int) -> int:
    """Return the bits of a component with which a file holds samples of a depth."""
    return next(bits for bits in _BITS[colours] if bits >= depth)


def _jpeg_of(picture: Picture) -> bytes:
    """Return the JPEG file of a picture if readers of PDF decode it to the same; else nothing.

    They do not turn it by its EXIF. Some take components named R, G and B for YCbCr, unless a
    segment JFIF or Adobe says what they are. Of damaged data they make up other samples.
    """
    jpeg = picture.jpeg
    if jpeg is None or orientation_of(picture.metadata) != 1:
        return b""
    with JpegImagePlugin.JpegImageFile(io.BytesIO(jpeg)) as image:
        said = {"jfif", "adobe_transform"} & image.info.keys()
        named = bytes(component[0] for component in image.layer) == b"RGB"
        same = image.mode == "L" or (image.mode == "RGB" and (said or not named))
    height, width = picture.samples.shape[:2]
    return jpeg if same and jpegs.is_whole(jpeg, most_level_bytes(width, height)) else b""


def _as_fax(strip: bytes, samples: np.ndarray, pikepdf: Any) -> tuple[bytes, dict[str, Any]]:
    """Return the data of an image of 1 bit that Group 4 codes, and how they are coded."""
    height, width = samples.shape
    coded = {"K": -1, "Columns": width, "Rows": height, "BlackIs1": False}
    how = {"BitsPerComponent": 1, "Filter": pikepdf.Name.CCITTFaxDecode}
    return strip, {**how, "DecodeParms": pikepdf.Dictionary(**coded)}


def _deflated(
    samples: np.ndarray, depth: int, level: int, threads: int | None, pikepdf: Any
) -> tuple[bytes, dict[str, Any]]:
    """Return the data of an image, and how they are coded."""
    width = samples.shape[1]
    colours = samples.shape[2] if samples.ndim == 3 else 1
    bits = bits_for(depth, colours)
    wide = samples if bits == depth else stretched(samples, depth, bits)
    data = b"".join(compressed(wide, bits, level, threads, None))
    rows = {"Predictor": _PNG_ROWS, "Colors": colours, "BitsPerComponent": bits, "Columns": width}
    how = {"BitsPerComponent": bits, "Filter": pikepdf.Name.FlateDecode}
    return data, {**how, "DecodeParms": pikepdf.Dictionary(**rows)}


def _points(picture: Picture) -> tuple[float, float]:
    """Return width and height of a picture in points."""
    height, width = picture.samples.shape[:2]
    resolution = picture.metadata.resolution
    sides = None if resolution is None else resolution.millimetres()
    if sides is None:
        usual = POINTS / USUAL_DPI
        taller = 1 if resolution is None else float(resolution.x / resolution.y)
        return width * usual, height * usual * taller
    return width * sides[0] * POINTS / 25.4, height * sides[1] * POINTS / 25.4


def _note_lost(picture: Picture, jpeg: bytes, pages: Pages) -> None:
    colours = picture.planes - (picture.planes in (2, 4))
    if bits_for(picture.depth, colours) != picture.depth:
        pages.lose("depth")
    pages.lose_white(picture)
    metadata = picture.metadata
    if jpeg:
        own = metadata_of(jpeg, "")
        kinds = [kind for kind in metadata.kinds() if getattr(metadata, kind) == getattr(own, kind)]
        metadata = metadata.without(*kinds)
    pages.lose_metadata(metadata, kept=("icc", "xmp", "resolution"))
    if metadata.resolution is not None and metadata.resolution.unit == "none":
        pages.lose("resolution")
    pages.lose_facts()
