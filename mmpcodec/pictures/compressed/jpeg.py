"""Read JPEG files, with Pillow."""

import io
from fractions import Fraction
from typing import Any

import numpy as np
from PIL import JpegImagePlugin

from mmpcodec.errors import PictureError
from mmpcodec.metadata import Metadata, Resolution, Unit
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.compressed import shown
from mmpcodec.pictures.compressed.frame_size import check_jpeg_scans, jpeg_size
from mmpcodec.pictures.exif import PREFIX
from mmpcodec.pictures.limits import Unpacker, check_size

_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_JFIF_UNITS: dict[int, Unit] = {0: "none", 1: "inch", 2: "centimetre"}


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """Read a whole file: its first picture, since cameras append thumbnails.

    CMYK becomes sRGB, and the ICC profile of the inks is left out.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, or neither gray nor RGB nor CMYK.
    """
    with JpegImagePlugin.JpegImageFile(io.BytesIO(data)) as image:
        size = jpeg_size(data)
        if size != image.size:
            raise ValueError(f"two sizes, {size} and {image.size}")
        check_size(*size, len(image.getbands()), name, limits)
        check_jpeg_scans(data)
        metadata = _metadata(image, name)
        if image.mode == "CMYK":
            return shown.of_cmyk(image, metadata, name)
        if image.mode not in ("L", "RGB"):
            raise PictureError(
                f"{name}: holds {image.mode} colours; supported are gray, RGB and CMYK"
            )
        return Picture(np.array(image), 8, metadata)


def _metadata(image: Any, name: str) -> Metadata:
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
            text.append(("Comment", shown.text_of(contents)))
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
