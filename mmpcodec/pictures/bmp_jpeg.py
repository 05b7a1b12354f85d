"""BMP and JPEG files, by Pillow."""

import io
import struct
from fractions import Fraction
from typing import Any

import numpy as np
from PIL import BmpImagePlugin, JpegImagePlugin

from mmpcodec.errors import PictureError
from mmpcodec.metadata import Metadata, Resolution, Unit
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.exif import PREFIX
from mmpcodec.pictures.limits import Unpacker, check_size

BMP_MAGICS = (b"BM",)
JPEG_MAGICS = (b"\xff\xd8\xff",)

_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_JFIF_UNITS: dict[int, Unit] = {0: "none", 1: "inch", 2: "centimetre"}
_WINDOWS_HEADER = 40  # bytes of the shortest BMP header that has a resolution


def read_bmp(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """The picture in a BMP file: of 1 bit where its colours are black and white, else of 8.

    Raises
    ------
    PictureError
        When it is damaged or too large.
    """
    with BmpImagePlugin.BmpImageFile(io.BytesIO(data)) as image:
        check_size(*image.size, name, limits)
        metadata = Metadata(resolution=_bmp_resolution(data))
        if image.mode == "1":
            return Picture(np.array(image, np.uint8), 1, metadata)
        mode = image.mode if image.mode in ("L", "RGB", "RGBA") else "RGB"
        return Picture(np.array(image.convert(mode)), 8, metadata)


def _bmp_resolution(data: bytes) -> Resolution | None:
    (size,) = struct.unpack_from("<I", data, 14)
    if size < _WINDOWS_HEADER:
        return None
    x, y = struct.unpack_from("<ii", data, 38)
    return Resolution(Fraction(x), Fraction(y), "metre") if x > 0 and y > 0 else None


def read_jpeg(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """The picture in a JPEG file, decoded; its first one, where a camera put small ones behind.

    Raises
    ------
    PictureError
        When it is damaged, too large, or neither gray nor of three colours.
    """
    with JpegImagePlugin.JpegImageFile(io.BytesIO(data)) as image:
        check_size(*image.size, name, limits)
        if image.mode not in ("L", "RGB"):
            raise PictureError(f"{name}: holds {image.mode} colours; supported are gray and RGB")
        metadata = _jpeg_metadata(image, name)
        return Picture(np.array(image), 8, metadata)


def _jpeg_metadata(image: Any, name: str) -> Metadata:
    exif = xmp = b""
    text = []
    unpacker = Unpacker(name)
    for marker, contents in image.applist:
        unpacker.count(contents)
        if marker == "APP1" and contents.startswith(PREFIX) and not exif:
            exif = contents.removeprefix(PREFIX)
        elif marker == "APP1" and contents.startswith(_XMP) and not xmp:
            xmp = contents.removeprefix(_XMP)
        elif marker == "COM":
            text.append(("Comment", _text(contents)))
    x, y = image.info.get("jfif_density", (0, 0))
    unit = _JFIF_UNITS.get(image.info.get("jfif_unit", 0), "none")
    known = x > 0 and y > 0 and (unit, x, y) != ("none", 1, 1)
    return Metadata(
        icc=image.info.get("icc_profile") or b"",
        exif=exif,
        xmp=xmp,
        resolution=Resolution(Fraction(x), Fraction(y), unit) if known else None,
        text=tuple(text),
    )


def _text(contents: bytes) -> str:
    contents = contents.rstrip(b"\0")
    try:
        return contents.decode()
    except UnicodeDecodeError:
        return contents.decode("latin-1")
