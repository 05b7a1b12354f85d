"""Small versions of pictures, upright and with 8 bits a sample."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mmpcodec.analysis.drawings.levels import as_shown, shown_range
from mmpcodec.analysis.turning import turned
from mmpcodec.picture import Picture
from mmpcodec.pictures.side.facts import orientation_of


def thumbnail(picture: Picture, side: int) -> NDArray[np.uint8]:
    """Shrink a picture to at most ``side`` pixels a side; a small picture keeps its size.

    Levels are those of ``levels.shown_range``, and the picture is turned as its EXIF or
    XMP says, as file managers turn JPEG files.

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
    return turned(np.asarray(image), orientation_of(picture.metadata))
