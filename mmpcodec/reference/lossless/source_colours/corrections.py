"""Corrections of the chroma of single pixels.

Source: section "Source colours" of ``docs/format/format.md``.
"""

import itertools
from collections.abc import Iterator, Sequence

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


Corrections = tuple[np.ndarray, np.ndarray]
"""Places of pixels in ascending order, and what is added to their chroma."""


def code_corrections(
    coder: BitCoder, given: Corrections | None, pixels: int
) -> Iterator[tuple[int, int]]:
    """Code places of pixels, and what is added to their chroma; None decodes.

    Yields
    ------
    place, difference : int

    Raises
    ------
    CorruptStream
        If a place is not below ``pixels``, or a chroma is corrected by more than 255.
    """
    gaps, sizes = LengthCoder(coder), LengthCoder(coder)
    last, negative = BinaryModels("residual", (1,)), BinaryModels("residual", (1,))
    following = 0
    for number in itertools.count():
        ends = None if given is None else int(number == len(given[0]))
        if last.code(coder, (0,), ends):
            return
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
        yield place, sign * found
        following = place + 1


def _in_order_of_pixels(
    streams: Sequence[Iterator[tuple[int, int]]],
) -> Iterator[tuple[int, int, int]]:
    """Yield number of the plane, place and difference of the corrections of several planes.

    Each stream is one correction ahead: of several faults, that of the first pixel is raised.
    """
    waiting = [next(stream, None) for stream in streams]
    while ahead := [(*one, number) for number, one in enumerate(waiting) if one is not None]:
        place, difference, number = min(ahead, key=lambda each: (each[0], each[2]))
        yield number, place, difference
        waiting[number] = next(streams[number], None)


def chroma_of_pixels(
    coders: Sequence[BitCoder],
    chroma: Sequence[np.ndarray],
    colours: SourceColours,
    shape: tuple[int, int],
    corrections: tuple[Corrections, Corrections] | None,
) -> list[np.ndarray]:
    """Code the corrections of both planes of chroma, and return the chroma of all pixels.

    Parameters
    ----------
    coders : sequence of BitCoder
    chroma : sequence of 2-D arrays
        Decoded samples.
    colours : SourceColours
    shape : (int, int)
        Rows and columns of the tile.
    corrections : tuple or None
        As in ``SourcePlanes``; None decodes.

    Returns
    -------
    list of two int64 arrays of this shape
    """
    found = [interpolated(plane, colours, shape) for plane in chroma]
    if any(colours.halved):
        given = corrections or (None, None)
        streams = [
            code_corrections(coder, own, plane.size)
            for coder, own, plane in zip(coders, given, found, strict=True)
        ]
        for number, place, difference in _in_order_of_pixels(streams):
            samples = found[number].ravel()
            samples[place] = np.clip(samples[place] + difference, 0, 255)
    return found
