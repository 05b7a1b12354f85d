"""Read and write JPEG files, with Pillow."""

import contextlib
import io
import re
import struct
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from PIL import Image, JpegImagePlugin

from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata, Resolution, Unit
from mmpcodec.picture import Picture, SourceJpeg
from mmpcodec.pictures.compressed import shown
from mmpcodec.pictures.compressed.frame_size import check_jpeg_scans, jpeg_frame
from mmpcodec.pictures.exif import PREFIX
from mmpcodec.pictures.left_out import gathered, leave_out, noted
from mmpcodec.pictures.limits import Unpacker, check_size, damage_reported
from mmpcodec.pictures.png.file import stretched
from mmpcodec.pictures.side.facts import consistent, near
from mmpcodec.pictures.side.profiles import fitting, with_fitting_profile

_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_COMMENT = "Comment"
_END = b"\xff\xd9"
_IPTC = b"Photoshop 3.0\0"
_IPTC_RECORD = b"8BIM\x04\x04"
_MORE_XMP = b"http://ns.adobe.com/xmp/extension/\0"
_PROFILE = b"ICC_PROFILE\0"
_ISO_GAIN_MAP = b"urn:iso:std:iso:ts:21496:-1\0"
_GAIN_MAPS = b"http://ns.adobe.com/hdr-gain-map/", b"http://ns.apple.com/HDRGainMap/"
_PROMISES = re.compile(
    rb"\s+(hdrgm|HDRGainMap):\w+\s*=\s*(\"[^\"]*\"|'[^']*')|<(hdrgm|HDRGainMap):(\w+)>[^<]*</\3:\4>"
    rb"|<Container:Directory>.*?</Container:Directory>",
    re.DOTALL,
)
"""What XMP says of a gain map, and of the pictures behind the first one."""
_MOST_IN_SEGMENT = 65533
_MOST_PROFILES, _PROFILE_HEAD = 255, 14
_MOST_DENSITY = 65535
_DENSITY_AT = 13  # of the unit in the JFIF header, which begins the file
_FULL_COLOURS = 90  # least quality without chroma subsampling
_JFIF_UNITS: dict[int, Unit] = {0: "none", 1: "inch", 2: "centimetre"}


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """Read a whole file: its first picture, since cameras append thumbnails.

    CMYK becomes sRGB, and the ICC profile of the inks is left out.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, or neither gray nor RGB nor CMYK.
    """
    frame = jpeg_frame(data)
    size = frame.width, frame.height
    if frame.unsupported:
        raise PictureError(
            f"{name}: holds {frame.unsupported}; supported are JPEGs of 8 bits, sequential or "
            "progressive"
        )
    with JpegImagePlugin.JpegImageFile(io.BytesIO(data)) as image:
        if size != image.size:
            raise ValueError(f"two sizes, {size} and {image.size}")
        check_size(*size, len(image.getbands()), name, limits)
        check_jpeg_scans(data)
        metadata = _metadata(image, name)
        image = _loaded(image, data, name)
        if image.mode == "CMYK":
            found = shown.of_cmyk(image, metadata, name)
            return replace(found, source=SourceJpeg(data, found.samples))
        if image.mode not in ("L", "RGB"):
            raise PictureError(
                f"{name}: holds {image.mode} colours; supported are gray, RGB and CMYK"
            )
        samples = np.array(image)
        return Picture(samples, 8, metadata, SourceJpeg(data, samples))


def size_of(data: bytes) -> tuple[int, int]:
    """Return width and height of the frame of a file; 1 and 1 if it has none."""
    with contextlib.suppress(ValueError):
        frame = jpeg_frame(data)
        return frame.width, frame.height
    return 1, 1


def read_kept(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """Read a file that an mmp file keeps, as ``pictures.from_bytes`` reads it.

    Raises
    ------
    PictureError
        If it is damaged, beyond the limits or not supported.
    """
    with noted(name), damage_reported(name):
        return with_fitting_profile(read(data, name, limits), name)


def metadata_of(front: bytes, name: str) -> Metadata:
    """Return what a file says besides samples, from its bytes up to its first samples.

    Nothing is said of what is left out; there is nothing of a file that is no JPEG.
    """
    with (
        gathered(),
        contextlib.suppress(PictureError, OSError, SyntaxError, ValueError),
        noted(name),
        JpegImagePlugin.JpegImageFile(io.BytesIO(front)) as image,
    ):
        found = _metadata(image, name)
        if image.mode == "CMYK":
            return found.without("icc")
        return fitting(found, 1 if image.mode == "L" else 3, name)
    return Metadata()


def _loaded(image: Any, data: bytes, name: str) -> Any:
    """Decode the samples; those behind the end of a file that is cut off are as libjpeg fills them.

    Raises
    ------
    OSError
        If the file is damaged in another way.
    """
    try:
        image.load()
    except OSError as error:
        if "truncated" not in str(error):
            raise
        image = JpegImagePlugin.JpegImageFile(io.BytesIO(data + _END))
        image.load()
        leave_out(name, "end")
    return image


def holds(picture: Picture, kind: str) -> bool:
    """Return whether a file keeps this kind of the picture's metadata unchanged."""
    metadata = picture.metadata
    if kind == "exif":
        return len(PREFIX + metadata.exif) <= _MOST_IN_SEGMENT
    if kind == "xmp":
        return len(_XMP + metadata.xmp) <= _MOST_IN_SEGMENT
    if kind == "icc":
        return len(metadata.icc) <= _MOST_PROFILES * (_MOST_IN_SEGMENT - _PROFILE_HEAD)
    if kind == "resolution":
        return metadata.resolution is not None and _density(metadata.resolution) is not None
    return len(metadata.text) == 1 and _comment(metadata) != b""


def to_bytes(picture: Picture, format: str, quality: int) -> bytes:
    """Encode a JPEG file with all metadata that JPEG can hold, of up to 8 bits per sample.

    Parameters
    ----------
    picture : Picture
        Gray or RGB.
    format : str
    quality : int
        1 to 100, as libjpeg counts. From 90 on colours keep their full resolution.
    """
    samples = (
        picture.samples if picture.depth == 8 else stretched(picture.samples, picture.depth, 8)
    )
    metadata, options = picture.metadata, {}
    if metadata.icc and holds(picture, "icc"):
        options["icc_profile"] = metadata.icc
    if metadata.exif and holds(picture, "exif"):
        options["exif"] = PREFIX + metadata.exif
    if metadata.xmp and holds(picture, "xmp"):
        options["xmp"] = metadata.xmp
    if comment := _comment(metadata):
        options["comment"] = comment
    stream = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(samples)).save(
        stream,
        "JPEG",
        quality=quality,
        subsampling="4:4:4" if quality >= _FULL_COLOURS else "4:2:0",
        optimize=True,
        progressive=True,
        **options,
    )
    data = bytearray(stream.getvalue())
    if metadata.resolution is not None and (density := _density(metadata.resolution)):
        struct.pack_into(">BHH", data, _DENSITY_AT, *density)
    return bytes(data)


def _density(resolution: Resolution) -> tuple[int, int, int] | None:
    """Return the unit and the pixels a unit in a JFIF header; None if it cannot hold them."""
    codes = {name: code for code, name in _JFIF_UNITS.items()}
    ways: list[tuple[Unit, Fraction]] = [(resolution.unit, Fraction(1))]
    if resolution.unit == "metre":  # PNG holds 300 an inch as 11811 a metre
        ways = [("centimetre", Fraction(1, 100)), ("inch", Fraction(254, 10000))]
    elif resolution.unit == "centimetre":
        ways.append(("inch", Fraction(254, 100)))
    elif resolution.unit == "inch":
        ways.append(("centimetre", Fraction(100, 254)))
    for unit, factor in ways:
        exact = resolution.x * factor, resolution.y * factor
        x, y = map(round, exact)
        fits = min(x, y) >= 1 and max(x, y) <= _MOST_DENSITY
        close = (exact == (x, y)) if unit == "none" else near(exact[0], Fraction(x))
        close = close and (unit == "none" or near(exact[1], Fraction(y)))
        if fits and close and (unit, x, y) != ("none", 1, 1):
            return codes[unit], x, y
    return None


def _comment(metadata: Metadata) -> bytes:
    """Return the comment of a file: the first text that is one and fits, in UTF-8."""
    said = next((said for keyword, said in metadata.text if keyword == _COMMENT), "")
    try:
        comment = said.encode()
    except UnicodeEncodeError:
        return b""
    fits = len(comment) <= _MOST_IN_SEGMENT and not said.endswith("\0")
    return comment if fits else b""


def _metadata(image: Any, name: str) -> Metadata:
    exif = xmp = b""
    iso = False
    icc = image.info.get("icc_profile") or b""
    text = []
    unpacker = Unpacker(name)
    for marker, contents in image.applist:
        unpacker.count(contents)
        if marker == "APP1" and contents.startswith(PREFIX) and not exif:
            exif = contents.removeprefix(PREFIX)
        elif marker == "APP1" and contents.startswith(_XMP) and not xmp:
            xmp = contents.removeprefix(_XMP)
        elif marker == "APP1" and contents.startswith(_MORE_XMP):
            leave_out(name, "extended xmp")
        elif marker == "APP13" and contents.startswith(_IPTC) and _IPTC_RECORD in contents:
            leave_out(name, "iptc")
        elif marker == "APP2" and contents.startswith(_ISO_GAIN_MAP):
            iso = True
        elif marker == "APP2" and contents.startswith(_PROFILE) and not icc:
            leave_out(name, "damaged profile", "segments are missing")
        elif marker == "COM":
            text.append((_COMMENT, shown.text_of(contents)))
    x, y = image.info.get("jfif_density", (0, 0))
    unit = _JFIF_UNITS.get(image.info.get("jfif_unit", 0), "none")
    known = x > 0 and y > 0 and (unit, x, y) != ("none", 1, 1)
    if any(each in xmp for each in _GAIN_MAPS) or iso:
        leave_out(name, "gain map")
        xmp = _PROMISES.sub(b"", xmp)
    found = Metadata(
        icc=icc,
        exif=exif,
        xmp=xmp,
        resolution=Resolution(Fraction(x), Fraction(y), unit) if known else None,
        text=tuple(text),
    )
    return consistent(found, name)
