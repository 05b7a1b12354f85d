"""Corrections of the chroma of single pixels.

Source: section "Source colours" of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.binary import BinaryModels, BitCoder
from mmpcodec.reference.lossless.source_colours.colours import (
    SECTION,
    SourceColours,
    interpolated,
)

LONGEST = 31
"""Digits of the longest number, without the leading one."""
DIGITS = 16
"""Digits of a plain number."""


class LengthCoder:
    """Codes numbers of at least 0 by the number of their digits."""

    def __init__(self, coder: BitCoder):
        self.coder = coder
        self.models = BinaryModels("residual", (LONGEST,))

    def code(self, number: int | None) -> int:
        """Code a number; None decodes."""
        length, left, found = 0, 0, 1
        own = None if number is None else (number + 1).bit_length() - 1
        while length < LONGEST and self.models.code(
            self.coder, (length,), None if own is None else int(own > length)
        ):
            length += 1
        left = length
        while left:
            digits = min(left, DIGITS)
            left -= digits
            wanted = None if number is None else (number + 1 >> left) % (1 << digits)
            found = (found << digits) + self.coder.plain("residual", digits, wanted)
        return found - 1


def code_corrections(
    coder: BitCoder, given: tuple[np.ndarray, np.ndarray] | None, pixels: int
) -> tuple[np.ndarray, np.ndarray]:
    """Code places of pixels, and what is added to their chroma; None decodes.

    Raises
    ------
    CorruptStream
        If a place is not below ``pixels``, or a chroma is corrected by more than 255.
    """
    gaps, sizes = LengthCoder(coder), LengthCoder(coder)
    last, negative = BinaryModels("residual", (1,)), BinaryModels("residual", (1,))
    places: list[int] = []
    differences: list[int] = []
    following = 0
    while True:
        number = len(places)
        ends = None if given is None else int(number == len(given[0]))
        if last.code(coder, (0,), ends):
            return np.array(places, np.int64), np.array(differences, np.int64)
        gap = below = size = None
        if given is not None:
            gap, own = int(given[0][number]) - following, int(given[1][number])
            below, size = int(own < 0), abs(own) - 1
        place = following + gaps.code(gap)
        if place >= pixels:
            raise CorruptStream(SECTION, f"correction of pixel {place}, the tile has {pixels}")
        sign = -1 if negative.code(coder, (0,), below) else 1
        found = sizes.code(size) + 1
        if found > 255:
            raise CorruptStream(SECTION, f"correction by {found}, allowed is 1 to 255")
        places.append(place)
        differences.append(sign * found)
        following = place + 1


def chroma_of_pixels(
    coder: BitCoder,
    chroma: np.ndarray,
    colours: SourceColours,
    shape: tuple[int, int],
    corrections: tuple[np.ndarray, np.ndarray] | None,
) -> np.ndarray:
    """Code the corrections of a plane of chroma, and return the chroma of all pixels.

    Parameters
    ----------
    coder : BitCoder
    chroma : 2-D array
        Decoded samples.
    colours : SourceColours
    shape : (int, int)
        Rows and columns of the tile.
    corrections : tuple or None
        As in ``SourcePlanes``; None decodes.

    Returns
    -------
    int64 array of this shape
    """
    found = interpolated(chroma, colours, shape)
    if any(colours.halved):
        places, differences = code_corrections(coder, corrections, found.size)
        found.ravel()[places] = np.clip(found.ravel()[places] + differences, 0, 255)
    return found
