"""Read AVIF files, with Pillow; more than 8 bits with imagecodecs."""

import io
from dataclasses import replace

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.compressed import heif_items, shown
from mmpcodec.pictures.limits import check_size, chosen, library
from mmpcodec.pictures.side.facts import consistent, orientation_of


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a frame of a file. A rotation stays in EXIF.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    MissingExtra
        If more than 8 bits need imagecodecs, and it is not installed.
    """
    coded = heif_items.check_coded_sizes(data, name, limits)
    opened = shown.plugin("AvifImagePlugin", "avif", "AVIF", name)
    with opened(io.BytesIO(data)) as image:
        planes = len(image.getbands())
        width, height = image.size
        check_size(width, height, planes, name, limits)
        heif_items.check_agreement((width, height), coded)
        metadata = shown.metadata_of(image.info, name)
        # Pillow has put what the boxes irot and imir say into EXIF; XMP does not count.
        turned = orientation_of(replace(metadata, xmp=b""))
        metadata = consistent(metadata, name, orientation=turned)
        heif_items.say_auxiliary(data, name)
        if not metadata.icc:
            metadata = replace(metadata, colours=heif_items.colours_of(data))
        frame = chosen(image.n_frames, page, name)
        depth = heif_items.av1_depth(data)
        if depth == 8:
            image.seek(frame)
            samples = shown.samples_of(image)
        else:
            codec = library("imagecodecs", "AVIF of more than 8 bits", name, extra="formats")
            shape = (height, width, planes)
            samples = np.empty(shape if planes > 1 else shape[:2], sample_type(depth))
            # The decoder fails if it finds another shape than the one that was checked.
            codec.avif_decode(data, index=frame if image.is_animated else None, out=samples)
        return Picture(samples, depth, metadata)
