"""Luma and chroma that red, green and blue were made from.

Source: section "Source colours" of ``docs/format/format.md``. The search for them, which is a
matter of the encoder, is in ``kernels/cpu/lossless/source_colours/search.cpp`` alone.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mmpcodec.depth import BYTE
from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.binary import BitCoder

SECTION = "Source colours"
NONE, JPEG, PHOTO_CD = 0, 1, 2
"""What made red, green and blue."""
LEAST_SIZE = 8
"""Rows and columns of the smallest tile that has source colours."""
BIAS = 1 << 15
LUMA = 89024
"""Luma of PhotoCD in red, green and blue, in 1/65536."""


@dataclass(frozen=True)
class SourceColours:
    """What red, green and blue of a tile were made from.

    Parameters
    ----------
    kind : int
        ``NONE``, ``JPEG`` or ``PHOTO_CD``.
    halved : (bool, bool)
        Whether chroma has half the rows, and half the columns.
    phase : (int, int)
        Rows and columns of the first pair that precede the tile; 0 where chroma is not halved.
    """

    kind: int = NONE
    halved: tuple[bool, bool] = (False, False)
    phase: tuple[int, int] = (0, 0)

    def chroma_shape(self, shape: tuple[int, int]) -> tuple[int, int]:
        """Return rows and columns of the chroma of a tile of this shape."""
        rows, columns = (
            (size - 1 + phase >> 1) + 3 if halved else size
            for size, halved, phase in zip(shape, self.halved, self.phase, strict=True)
        )
        return rows, columns

    def plane_shape(self, number: int, shape: tuple[int, int]) -> tuple[int, int]:
        """Return rows and columns of a plane, by its number from 0, of a tile of this shape."""
        return self.chroma_shape(shape) if number in (1, 2) else shape

    def steps(self, number: int) -> tuple[int, int]:
        """Return rows and columns of the tile from one sample of a plane to the next."""
        rows, columns = self.halved if number in (1, 2) else (False, False)
        return 1 + rows, 1 + columns

    def before(self, number: int) -> list[int]:
        """Return the numbers of the planes that predict a plane, the last one last."""
        if any(self.halved):
            return [[], [], [1], [0]][number]
        return list(range(max(0, number - 2), number))


NO_COLOURS = SourceColours()
"""Those of green, red and blue that are coded as they are."""


class SourcePlanes(Protocol):
    """Samples of luma and chroma to encode, with corrections of the chroma.

    Attributes
    ----------
    kind, halved, phase
        As those of ``SourceColours``.
    luma : (H, W) uint16 array
    chroma : two arrays of uint16
    corrections : two pairs of int64 arrays
        Places of pixels, in ascending order, and what is added to the chroma there.
    """

    kind: int
    halved: tuple[bool, bool]
    phase: tuple[int, int]
    luma: np.ndarray
    chroma: tuple[np.ndarray, np.ndarray]
    corrections: tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def can_have_colours(planes: int, shape: tuple[int, int], depth: int, max_error: int) -> bool:
    """Return whether a payload of planes of this shape has the fields of source colours."""
    return planes >= 3 and depth == BYTE and not max_error and min(shape) >= LEAST_SIZE


def colours_of(source: SourcePlanes | None) -> SourceColours:
    """Return the colours of planes to encode."""
    if source is None:
        return SourceColours()
    (rows, columns), (down, right) = source.halved, source.phase
    return SourceColours(source.kind, (rows, columns), (down, right))


def code_colours(coder: BitCoder, given: SourceColours | None) -> SourceColours:
    """Code the colours of a tile; None decodes.

    Raises
    ------
    CorruptStream
        If the kind is unknown, or PhotoCD has chroma that is halved along one axis.
    """

    def plain(bits: int, number: int | None) -> int:
        return coder.plain("map", bits, number)

    kind = plain(2, None if given is None else given.kind)
    if kind > PHOTO_CD:
        raise CorruptStream(SECTION, "colours are 3, allowed is 0 to 2")
    if kind == NONE:
        return SourceColours()
    rows, columns = (
        bool(plain(1, None if given is None else int(given.halved[axis]))) for axis in (0, 1)
    )
    down, right = (
        plain(1, None if given is None else given.phase[axis]) if halved else 0
        for axis, halved in enumerate((rows, columns))
    )
    if kind == PHOTO_CD and rows != columns:
        raise CorruptStream(SECTION, "chroma of PhotoCD is halved along one axis only")
    return SourceColours(kind, (rows, columns), (down, right))


def interpolated(chroma: np.ndarray, colours: SourceColours, shape: tuple[int, int]) -> np.ndarray:
    """Return the chroma of all pixels of a tile, an int64 array of the tile's shape."""
    if not any(colours.halved):
        return chroma.astype(np.int64)
    places = []
    for size, halved, phase in zip(shape, colours.halved, colours.phase, strict=True):
        at = np.arange(size) + (phase if halved else 0)
        near, odd = (at >> 1) + 1, at & 1
        if not halved:
            places.append((np.arange(size), np.arange(size), np.zeros(size, int)))
        elif colours.kind == PHOTO_CD:
            places.append((near, near + odd, odd))
        else:
            places.append((near, near + 2 * odd - 1, odd))
    (near_rows, far_rows, down), (near_columns, far_columns, right) = places

    def samples(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return chroma[np.ix_(rows, columns)].astype(np.int64)

    near = samples(near_rows, near_columns)
    beside = samples(near_rows, far_columns)
    beyond = samples(far_rows, near_columns)
    across = samples(far_rows, far_columns)
    if colours.kind == PHOTO_CD:
        return near + beside + beyond + across + 2 >> 2
    if not colours.halved[0]:
        return 3 * near + beside + 1 + right >> 2
    if not colours.halved[1]:
        return 3 * near + beyond + 1 + down[:, None] >> 2
    return 9 * near + 3 * beside + 3 * beyond + across + 8 - right >> 4


def to_pixels(luma: np.ndarray, chroma: list[np.ndarray], kind: int) -> np.ndarray:
    """Return planes of green, red and blue, (3, H, W), from luma and the chroma of all pixels."""
    luma = luma.astype(np.int64)
    if kind == JPEG:
        b, r = chroma[0] - 128, chroma[1] - 128
        green = luma + (-22554 * b - 46802 * r + BIAS >> 16)
        red = luma + (91881 * r + BIAS >> 16)
        blue = luma + (116130 * b + BIAS >> 16)
    else:
        b, r = 145352 * (chroma[0] - 156), 119374 * (chroma[1] - 137)
        green = LUMA * luma - 12714 * (b >> 16) - 33358 * (r >> 16) >> 16
        red, blue = LUMA * luma + r >> 16, LUMA * luma + b >> 16
    return np.clip(np.stack([green, red, blue]), 0, 255)
