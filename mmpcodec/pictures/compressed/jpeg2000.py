"""Read JPEG 2000 files and codestreams, with Pillow; deep colours with imagecodecs."""

import io
import struct
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mmpcodec.depth import MAX_DEPTH, sample_type
from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.picture import PLANES, Picture
from mmpcodec.pictures.compressed import shown
from mmpcodec.pictures.compressed.boxes import boxes, contents
from mmpcodec.pictures.compressed.codestream import check_parts
from mmpcodec.pictures.compressed.frame_size import (
    JPEG2000_START,
    jpeg2000_size,
)
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import Unpacker, check_size, library
from mmpcodec.pictures.side.facts import consistent

_END = b"\xff\xd9"
_SIZ_PLANES = struct.Struct(">H")
_XMP = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
_LEFT_OUT = {
    bytes.fromhex("33c7a4d2b81d4723a0baf1a3e097ad38"): "iptc",
    bytes.fromhex("b14bf8bd083d4b43a5ae8cd7d5a6ce03"): "geotiff",
    b"JpgTiffExif->JP2": "exif",
}
"""Keys of ``left_out.LEFT_OUT`` by the first 16 bytes of a box uuid."""
_PROFILES = (2, 3)  # methods of the box colr: restricted and any ICC profile
_YCC = 18


class _Sizes(NamedTuple):
    """What the segment SIZ says: sizes in pixels, planes, and bits a sample of each plane."""

    width: int
    height: int
    depths: tuple[int, ...]
    signed: bool


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """Read a whole file.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, or of a kind that is not supported.
    MissingExtra
        If colours or alpha of more than 8 bits need imagecodecs, and it is not installed.
    """
    stream = _codestream(data)
    header = _sizes(stream)
    depth, planes = max(header.depths), len(header.depths)
    check_size(header.width, header.height, planes, name, limits)
    check_parts(stream)
    if planes not in PLANES or depth > MAX_DEPTH or header.signed:
        signed = "signed " if header.signed else ""
        raise PictureError(
            f"{name}: holds {planes} planes of {depth} {signed}bits; supported are 1 to 4 planes "
            f"of up to {MAX_DEPTH} bits without sign"
        )
    icc, xmp, ycc = _colour_boxes(data, name)
    known = consistent(Metadata(icc, xmp=xmp, resolution=_resolution(data)), name)
    if depth > 8 and planes > 1:
        if ycc:
            raise PictureError(f"{name}: holds YCC colours of {depth} bits; supported are 8 bits")
        codec = library("imagecodecs", "JPEG 2000 of deep colours", name, extra="formats")
        samples = codec.jpeg2k_decode(data).astype(sample_type(depth), copy=False)
        return Picture(samples, depth, known)
    opened = shown.plugin("Jpeg2KImagePlugin", "jpg_2000", "JPEG 2000", name)
    with opened(io.BytesIO(data)) as image:
        if image.size != (header.width, header.height):
            raise ValueError(f"two sizes, {image.size} and {header.width}x{header.height}")
        comment = shown.metadata_of(image.info, name).text
        metadata = replace(known, text=comment)
        if image.mode == "CMYK":
            return shown.of_cmyk(image, metadata, name)
        if image.mode in ("P", "PA"):
            return Picture(shown.samples_of(image), 8, metadata)
        # Pillow shifts samples up to 8 or 16 bits.
        samples = np.array(image) >> ((16 if depth > 8 else 8) - depth)
        return Picture(samples.astype(sample_type(depth)), depth, metadata)


def _codestream(data: bytes) -> bytes:
    """Return the first codestream of a file, which is the one that OpenJPEG decodes.

    Raises
    ------
    ValueError
        If there is no codestream, or it does not end; OpenJPEG would leave the rest black.
    """
    if not data.startswith(JPEG2000_START):
        found = contents(data, b"jp2c")
        if not found:
            raise ValueError("JP2 has no codestream")
        data = found[0]
    if _END not in data:
        raise ValueError("JPEG 2000 ends before its marker EOC")
    return data


def _sizes(stream: bytes) -> _Sizes:
    """Read the segment SIZ of a codestream.

    Raises
    ------
    ValueError
        If it is cut off, or has no planes.
    """
    width, height = jpeg2000_size(stream)
    (planes,) = _SIZ_PLANES.unpack_from(stream, 40)
    sizes = stream[42 : 42 + 3 * planes : 3]
    if not planes or len(sizes) < planes:
        raise ValueError("JPEG 2000 has no planes")
    depths = tuple((size & 127) + 1 for size in sizes)
    return _Sizes(width, height, depths, any(size & 128 for size in sizes))


def _resolution(data: bytes) -> Resolution | None:
    """Return the resolution of the picture as captured, else as shown, in pixels a metre."""
    if data.startswith(JPEG2000_START):
        return None
    found: dict[bytes, bytes] = {}
    for header in contents(data, b"jp2h"):
        for box in boxes(header):
            if box.kind != b"res ":
                continue
            for each in boxes(header, box.start, box.end):
                found.setdefault(each.kind, header[each.start : each.end])
    value = found.get(b"resc") or found.get(b"resd")
    if value is None or len(value) < 10:
        return None
    up, under, across, below, exponent, other = struct.unpack(">4H2b", value[:10])
    if 0 in (up, under, across, below):
        return None
    y, x = (
        Fraction(up, under) * Fraction(10) ** exponent,
        Fraction(across, below) * Fraction(10) ** other,
    )
    return Resolution(x, y, "metre")


def _colour_boxes(data: bytes, name: str) -> tuple[bytes, bytes, bool]:
    """Return the ICC profile, XMP, and whether the colours are luminance and chrominance."""
    icc, xmp, ycc = b"", b"", False
    if data.startswith(JPEG2000_START):
        return icc, xmp, ycc
    unpacker = Unpacker(name)
    for header in contents(data, b"jp2h"):
        for box in boxes(header):
            if box.kind != b"colr":
                continue
            colour = header[box.start : box.end]
            if colour[:1] and colour[0] in _PROFILES and not icc:
                icc = unpacker.count(colour[3:])
            ycc |= colour[:1] == b"\1" and colour[3:7] == _YCC.to_bytes(4, "big")
    for found in contents(data, b"uuid"):
        if found[:16] in _LEFT_OUT:
            leave_out(name, _LEFT_OUT[found[:16]])
        if found.startswith(_XMP) and not xmp:
            xmp = unpacker.count(found[len(_XMP) :])
    return icc, xmp, ycc
