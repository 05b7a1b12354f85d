"""TIFF files of 1 to 16 bits, gray and colour."""

import io

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.tiff import tags
from mmpcodec.pictures.tiff.reader import TiffReader, load_tifffile

MAGICS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")

MOST_WITH_METADATA = 3 << 30
"""Bytes of samples beside which metadata still lie within the offsets of a TIFF file."""


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """The picture in a whole file.

    Raises
    ------
    PictureError
        When it is damaged, too large, of more than one page, or of a kind that is not supported.
    MissingExtra
        When its samples are compressed or packed and imagecodecs is not installed.
    """
    with TiffReader(io.BytesIO(data), name, limits) as reader:
        samples = reader.read(slice(None), slice(None))
        return Picture(samples, reader.depth, reader.metadata)


def to_bytes(picture: Picture) -> bytes:
    """A TIFF file, not compressed, with all metadata that it can hold.

    Raises
    ------
    ParameterError
        When the samples come to more than 3 GiB and there are metadata.
    MissingExtra
        When tifffile is not installed.
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
    if depth == 1 and picture.planes == 1:
        samples = samples.astype(bool)
    elif depth < 8 * samples.itemsize:
        extra.append(tags.max_sample_value(depth, picture.planes, order))
    stream = io.BytesIO()
    tifffile.imwrite(
        stream,
        samples,
        byteorder=order,
        photometric="rgb" if picture.planes > 2 else "minisblack",
        planarconfig="contig" if picture.planes > 1 else None,
        extrasamples=["unassalpha"] if picture.planes in (2, 4) else None,
        metadata=None,
        software=False,
        extratags=extra,
    )
    return tags.with_metadata(stream.getvalue(), picture.metadata, order)
