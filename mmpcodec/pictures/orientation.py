"""How a picture is turned: the orientation in its metadata, and upright samples and places.

Orientations are the numbers 1 to 8 of TIFF and EXIF. 1 is upright.
"""

import re

import numpy as np

from mmpcodec.metadata import Metadata
from mmpcodec.pictures.exif import ORIENTATION, parsed

UPRIGHT = 1
_TRANSPOSED = (5, 6, 7, 8)
_LEFT_RIGHT = (2, 3, 6, 7)
_UP_DOWN = (3, 4, 7, 8)
_IN_XMP = re.compile(rb"tiff:Orientation(?:\s*=\s*[\"']|\s*>)\s*([1-8])\s*[\"'<]")


def orientation(metadata: Metadata) -> int:
    """Return the orientation in EXIF; that in XMP, if EXIF names none; else 1."""
    found = _in_exif(metadata.exif)
    if found is None and (match := _IN_XMP.search(metadata.xmp)):
        found = int(match[1])
    return found or UPRIGHT


def _in_exif(exif: bytes) -> int | None:
    try:
        order, directory = parsed(exif)
    except ValueError:
        return None
    _, _, value = directory.entries.get(ORIENTATION, (0, 0, b""))
    found = int.from_bytes(value[:2], "little" if order == "<" else "big")
    return found if 1 <= found <= 8 else None


def turns(orientation: int) -> tuple[bool, bool, bool]:
    """Return what makes a picture upright: transpose it, then reverse its columns, then its rows.

    Examples
    --------
    >>> from mmpcodec.pictures.orientation import turns
    >>> turns(6)  # a quarter clockwise
    (True, True, False)
    """
    return (orientation in _TRANSPOSED, orientation in _LEFT_RIGHT, orientation in _UP_DOWN)


def turned(samples: np.ndarray, orientation: int) -> np.ndarray:
    """Return a view of (H, W) or (H, W, C) samples that is upright."""
    transposed, columns, rows = turns(orientation)
    if transposed:
        samples = samples.swapaxes(0, 1)
    return samples[:: -1 if rows else 1, :: -1 if columns else 1]


def turned_place(
    left: int, top: int, width: int, height: int, shape: tuple[int, int], orientation: int
) -> tuple[int, int, int, int]:
    """Return left, top, width and height of a rectangle in the upright picture.

    Parameters
    ----------
    left, top, width, height : int
        In the picture as it is stored.
    shape : (int, int)
        Rows and columns of the picture as it is stored.
    orientation : int
    """
    transposed, columns, rows = turns(orientation)
    high, wide = shape
    if transposed:
        left, top, width, height, high, wide = top, left, height, width, wide, high
    if columns:
        left = wide - left - width
    if rows:
        top = high - top - height
    return left, top, width, height
