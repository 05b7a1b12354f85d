"""Small versions of pictures, upright and with 8 bits a sample."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mmpcodec.analysis.drawings.levels import as_shown, shown_range
from mmpcodec.picture import Picture
from mmpcodec.pictures.exif import ORIENTATION, parsed

TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What turns a picture upright, by its orientation in EXIF."""


def thumbnail(picture: Picture, side: int) -> NDArray[np.uint8]:
    """Shrink a picture to at most ``side`` pixels a side; a small picture keeps its size.

    Levels are those of ``levels.shown_range``, and the picture is turned as its EXIF says.

    Parameters
    ----------
    picture : Picture
    side : int
        At least 1.

    Returns
    -------
    (h, w) or (h, w, C) uint8 array
        With the planes of the picture.
    """
    colours = picture.without_alpha()
    low, high = shown_range(colours.samples, picture.depth, picture.metadata)
    samples = as_shown(colours.samples, low, high)
    if picture.planes in (2, 4):
        alpha = as_shown(picture.samples[..., -1:], 0, (1 << picture.depth) - 1)
        samples = np.concatenate([np.atleast_3d(samples), alpha], axis=2)
    image = Image.fromarray(np.ascontiguousarray(samples))
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    turn = TURNS.get(orientation(picture.metadata.exif))
    return np.asarray(image if turn is None else image.transpose(turn))


def orientation(exif: bytes | None) -> int:
    """Return the orientation in EXIF, 1 to 8; 1, upright, if there is none."""
    try:
        order, directory = parsed(exif or b"")
    except ValueError:
        return 1
    _, _, value = directory.entries.get(ORIENTATION, (0, 0, b""))
    found = int.from_bytes(value[:2], "little" if order == "<" else "big")
    return found if found in TURNS else 1
