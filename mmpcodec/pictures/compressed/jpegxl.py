"""Read JPEG XL files, with imagecodecs."""

from typing import Any

import numpy as np

from mmpcodec.depth import MAX_DEPTH, sample_type
from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture
from mmpcodec.pictures import exif
from mmpcodec.pictures.compressed.boxes import contents
from mmpcodec.pictures.compressed.jpegxl_header import CONTAINER, header_of
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import Unpacker, check_size, chosen, library
from mmpcodec.pictures.side.facts import consistent
from mmpcodec.samples import Samples


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a frame of a file, turned as its header says.

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
    if header.animated:
        _decode_frame(codec, data, page, samples, name)
    else:
        chosen(1, page, name)
        codec.jpegxl_decode(data, out=samples)
    if not header.srgb:
        leave_out(name, "profile")
    return Picture(samples, header.depth, _metadata(data, name))


def _decode_frame(codec: Any, data: bytes, page: int | None, samples: Samples, name: str) -> None:
    """Decode a frame of an animation, whose number of frames no header tells.

    Raises
    ------
    PictureError
        If no page is given, or there is no such frame.
    """
    if page is None:
        raise PictureError(
            f"{name}: is an animation; --page N, or page=N in Python, reads frame N, from 1"
        )
    for filler in (0, 1):  # behind the last frame, the decoder leaves samples as they are
        samples.fill(filler)
        if page > 0:
            codec.jpegxl_decode(data, index=page - 1, out=samples)
        if (samples != filler).any():
            return
    raise PictureError(f"{name}: page = {page}: must be the number of a frame, from 1")


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
    return consistent(Metadata(exif=structure, xmp=found[b"xml "]), name, orientation=1)
