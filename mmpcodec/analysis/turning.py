"""Upright samples and places of a picture whose metadata say how it is turned.

Orientations are the numbers 1 to 8 of TIFF and EXIF, which ``orientation_of`` of
``pictures.side.facts`` reads.
"""

import numpy as np

_TRANSPOSED = (5, 6, 7, 8)
_LEFT_RIGHT = (2, 3, 6, 7)
_UP_DOWN = (3, 4, 7, 8)


def turns(orientation: int) -> tuple[bool, bool, bool]:
    """Return what makes a picture upright: transpose it, then reverse its columns, then its rows.

    Examples
    --------
    >>> from mmpcodec.analysis.turning import turns
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
