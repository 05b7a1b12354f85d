"""Read JPEG XL files, with imagecodecs."""

import numpy as np

from mmpcodec.depth import MAX_DEPTH, sample_type
from mmpcodec.errors import PictureError
from mmpcodec.metadata import Metadata
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures import exif
from mmpcodec.pictures.compressed.boxes import contents
from mmpcodec.pictures.compressed.jpegxl_header import CONTAINER, header_of
from mmpcodec.pictures.limits import Unpacker, check_size, library, say, say_animation


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """Read a whole file, of an animation the first frame; turned as its header says.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, or of a kind that is not supported.
    MissingExtra
        If imagecodecs is not installed.
    """
    header = header_of(data)
    check_size(header.width, header.height, header.planes, name, limits)
    if header.floating or header.depth > MAX_DEPTH:
        kind = "floating-point " if header.floating else ""
        raise PictureError(
            f"{name}: holds {kind}samples of {header.depth} bits; supported are integers of up to "
            f"{MAX_DEPTH} bits"
        )
    if header.extra not in ((), (0,)):
        raise PictureError(f"{name}: holds {len(header.extra)} extra planes; supported is alpha")
    if header.premultiplied:
        raise PictureError(
            f"{name}: holds alpha that is multiplied in; supported is alpha that is not"
        )
    codec = library("imagecodecs", "JPEG XL", name, extra="formats")
    shape = (header.height, header.width, header.planes)
    # The decoder fails if it finds another shape than the one that was checked.
    samples = np.empty(shape if header.planes > 1 else shape[:2], sample_type(header.depth))
    codec.jpegxl_decode(data, index=0 if header.animated else None, out=samples)
    if header.animated:
        say_animation(name)
    if not header.srgb:
        say(name, "has a colour profile, which is not read")
    return Picture(samples, header.depth, _metadata(data, name))


def _metadata(data: bytes, name: str) -> Metadata:
    if not data.startswith(CONTAINER):
        return Metadata()
    unpacker = Unpacker(name)
    found = {
        kind: unpacker.count(next(iter(contents(data, kind)), b"")) for kind in (b"Exif", b"xml ")
    }
    structure = found[b"Exif"]
    if structure[:4] not in exif.STARTS:  # its offset comes first
        structure = structure[4 + int.from_bytes(structure[:4], "big") :]
    return Metadata(exif=exif.upright(structure), xmp=found[b"xml "])
