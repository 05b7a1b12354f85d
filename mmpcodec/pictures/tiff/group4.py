"""Code pictures of 1 bit by CCITT Group 4, for TIFF and PDF, with the libtiff in Pillow.

Source: ITU-T T.6; TIFF 6.0, section 11.
"""

import io
import os
import struct
from collections.abc import Collection
from typing import Any, BinaryIO

import numpy as np
from PIL import Image, TiffImagePlugin, features

from mmpcodec.pictures.limits import say

COMPRESSION, GROUP_4 = 259, 4
_STRIP, _ROWS_PER_STRIP, _BYTES = 273, 278, 279


def encoded(samples: np.ndarray, name: str, format: str) -> bytes | None:
    """Return samples of 1 bit, coded by Group 4 in one strip, or None if Pillow has no libtiff.

    Parameters
    ----------
    samples : (H, W) array
        0 is black, which the code counts as ink.
    name, format : str
        Name of the picture and title of the file's format, for the remark that libtiff is missing.
    """
    if not features.check("libtiff"):
        say(
            name,
            f"Pillow was built without libtiff, so {format} is written without Group 4 and "
            "becomes larger; pip install -U pillow",
        )
        return None
    stream = io.BytesIO()
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    tags[_ROWS_PER_STRIP] = samples.shape[0]
    Image.fromarray(samples == 0).save(stream, "TIFF", compression="group4", tiffinfo=tags)
    with Image.open(stream) as image:
        found: Any = image
        (start,), (size,) = found.tag_v2[_STRIP], found.tag_v2[_BYTES]
    return stream.getvalue()[start : start + size]


def options_of(
    samples: np.ndarray, coded: bytes | None, *, otherwise: str | None = None
) -> dict[str, Any]:
    """Return data, photometric interpretation and compression of a page, as tifffile takes them.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array
    coded : bytes or None
        What ``encoded`` gave for the samples; None for all other pictures.
    otherwise : str or None
        Compression of other pictures.
    """
    if coded is None:
        planes = samples.shape[2] if samples.ndim > 2 else 1
        photometric = "rgb" if planes > 2 else "minisblack"
        return {"data": samples, "photometric": photometric, "compression": otherwise}
    # tifffile takes a strip as it is under the name of Deflate; ``name_compression`` corrects this.
    return {
        "data": iter([coded]),
        "shape": samples.shape,
        "dtype": bool,
        "photometric": "miniswhite",
        "compression": "zlib",
        "rowsperstrip": samples.shape[0],
    }


def name_compression(stream: BinaryIO, order: str, pages: Collection[int], *, big: bool) -> None:
    """Set the tag Compression of pages to Group 4, as tifffile codes no strips by it.

    Parameters
    ----------
    stream : binary stream
        The whole file, which can be read and written.
    order : {"<", ">"}
        Byte order.
    pages : collection of int
        Numbers of the pages, from 0.
    big : bool
        Whether the file is a BigTIFF.
    """
    offset, count, entry = ("Q", "Q", 20) if big else ("I", "H", 12)

    def number_at(place: int, kind: str) -> int:
        stream.seek(place)
        form = order + kind
        return int(struct.unpack(form, stream.read(struct.calcsize(form)))[0])

    pointer = 8 if big else 4
    for page in range(max(pages, default=-1) + 1):
        start = number_at(pointer, offset)
        entries = start + struct.calcsize(f"={count}")
        end = entries + entry * number_at(start, count)
        for place in range(entries, end, entry) if page in pages else ():
            if number_at(place, "H") == COMPRESSION:
                stream.seek(place + entry - struct.calcsize(f"={offset}"))
                stream.write(struct.pack(f"{order}H", GROUP_4))
        pointer = end
    stream.seek(0, os.SEEK_END)
