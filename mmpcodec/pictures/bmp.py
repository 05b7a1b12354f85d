"""Read BMP files, with Pillow."""

import io
import struct
from fractions import Fraction

import numpy as np
from PIL import BmpImagePlugin

from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.picture import Picture
from mmpcodec.pictures.limits import check_size

_WINDOWS_HEADER = 40  # bytes of the shortest header that has a resolution


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """Read a whole file.

    The depth is 1 if the only colours are black and white, otherwise 8.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    """
    with BmpImagePlugin.BmpImageFile(io.BytesIO(data)) as image:
        planes = len(image.getbands()) if image.mode != "P" else 3
        check_size(*image.size, planes, name, limits)
        metadata = Metadata(resolution=_resolution(data))
        if image.mode == "1":
            return Picture(np.array(image, np.uint8), 1, metadata)
        mode = image.mode if image.mode in ("L", "RGB", "RGBA") else "RGB"
        return Picture(np.array(image.convert(mode)), 8, metadata)


def _resolution(data: bytes) -> Resolution | None:
    (size,) = struct.unpack_from("<I", data, 14)
    if size < _WINDOWS_HEADER:
        return None
    x, y = struct.unpack_from("<ii", data, 38)
    return Resolution(Fraction(x), Fraction(y), "metre") if x > 0 and y > 0 else None
