"""Read HEIC files, with pillow-heif."""

import io
from dataclasses import replace

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.compressed import avif, heif_items, shown
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import check_size, chosen, library
from mmpcodec.pictures.side.facts import consistent


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a picture of a file, by default the main one, turned as the file says.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, or of a kind that is not supported.
    MissingExtra
        If pillow-heif is not installed.
    """
    if b"avif" in heif_items.brands(data):
        return avif.read(data, name, limits, page)
    package = library("pillow_heif", "HEIC", name, extra="formats")
    heif_items.check_coded_sizes(data, name, limits)
    file = package.open_heif(io.BytesIO(data), convert_hdr_to_8bit=False)
    if page is None and len(file) > 1:
        leave_out(name, "further pictures", f"{len(file)} pictures, --page N reads another")
    which = file.primary_index if page is None else chosen(len(file), page, name, thing="pictures")
    image = file[which]
    kind, _, stored = image.mode.partition(";")
    width, height = image.size
    check_size(width, height, len(kind), name, limits)
    if image.premultiplied_alpha:
        raise PictureError(
            f"{name}: holds alpha that is multiplied in; supported is alpha that is not"
        )
    metadata = shown.metadata_of(image.info, name)
    samples = np.array(image)
    depth = int(image.info["bit_depth"])
    if stored:  # samples of more than 8 bits are shifted up to 16
        samples = samples >> (16 - depth)
    metadata = consistent(metadata, name, orientation=1)
    heif_items.say_auxiliary(data, name)
    if not metadata.icc:
        metadata = replace(metadata, colours=heif_items.colours_of(data))
    return Picture(samples.astype(sample_type(depth), copy=False), depth, metadata)
