"""Read and write whole TIFF files of 1 to 16 bits, gray and colour."""

import io
from pathlib import Path

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.tiff import group4, tags
from mmpcodec.pictures.tiff.reader import TiffReader, load_tifffile

MOST_WITH_METADATA = 3 << 30
"""Largest size of the samples, in bytes, that leaves the metadata within 32-bit offsets."""


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a whole file, or a page of several.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, of several pages without a ``page``, or of a kind
        that is not supported.
    MissingExtra
        If tifffile is not installed, or Pillow was built without libtiff.
    """
    with TiffReader(io.BytesIO(data), name, limits, page) as reader:
        samples = reader.read(slice(None), slice(None))
        return Picture(samples, reader.depth, reader.metadata)


def open_parts(
    path: Path, head: bytes, size: int, name: str, limits: DecodeLimits, page: int | None = None
) -> TiffReader:
    """Return a reader of parts of a file, or of a page of several."""
    return TiffReader(path, name, limits, page)


def holds(picture: Picture, kind: str) -> bool:
    """Return whether a file keeps this kind of the picture's metadata unchanged."""
    metadata = picture.metadata
    if kind == "exif":
        return tags.holds_exif(metadata.exif, metadata.resolution)
    if kind == "resolution":
        return metadata.resolution is not None and tags.holds_resolution(metadata.resolution)
    if kind == "text":  # a file has each tag once
        keywords = {keyword for keyword, _ in metadata.text}
        return len(keywords) == len(metadata.text) and all(
            tags.holds_text(keyword, said) for keyword, said in metadata.text
        )
    return True


def to_bytes(picture: Picture, format: str) -> bytes:
    """Encode a TIFF file with all metadata that TIFF can hold.

    Gray of 1 bit is coded by Group 4, in which 0 is white; all other pictures are uncompressed.

    Raises
    ------
    ParameterError
        If the samples take more than 3 GiB and there are metadata.
    MissingExtra
        If tifffile is not installed.
    """
    tifffile = load_tifffile("picture")
    samples, depth = np.ascontiguousarray(picture.samples), picture.depth
    order = tags.order_for(picture.metadata)
    if samples.nbytes > MOST_WITH_METADATA and picture.metadata.kinds():
        raise ParameterError(
            f"format = 'tif' for {samples.nbytes} bytes of samples with metadata: must be at most "
            f"{MOST_WITH_METADATA}"
        )
    extra = []
    coded = None
    if depth == 1 and picture.planes == 1:
        coded = group4.encoded(samples, "picture", "TIFF")
        samples = samples.astype(bool)
    elif depth < 8 * samples.itemsize:
        extra.append(tags.white_level(depth, picture.planes, order))
    stream = io.BytesIO()
    tifffile.imwrite(
        stream,
        **group4.options_of(samples, coded),
        byteorder=order,
        planarconfig="contig" if picture.planes > 1 else None,
        extrasamples=["unassalpha"] if picture.planes in (2, 4) else None,
        metadata=None,
        software=False,
        extratags=extra,
    )
    if coded is not None:
        group4.name_compression(stream, order, [0], big=False)
    return tags.with_metadata(stream.getvalue(), picture.metadata, order)
