"""Colours of pictures and the planes of layers: colour transforms, and depths below 8 bits.

Source: section "Colours" of ``docs/format/format.md``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE, middle, most, sample_type
from mmpcodec.runtime.arrays import module_of

Rotation = tuple[int, int, int]
"""The vector part of a quaternion whose real part is ``REAL``; each number is -128 to 127."""

NO_ROTATION: Rotation = (0, 0, 0)
REAL = 128
LEAST_ROTATION, MOST_ROTATION = -128, 127

AXES = (28, 35, -20), (28, 0, 40), (28, -35, -20)
"""Red, green and blue, in 1/28, of one unit of luma, Co and Cg, not turned.

The columns are at right angles.
"""
SCALE = 28
BITS = 18
"""Bits of the fraction of a matrix's numbers."""
MOST_DEPTH_OF_INT32 = 11
"""Most bits of a plane's samples for which all sums fit int32."""


def widened(samples: Any, depth: int) -> Any:
    """Scale samples of fewer than 8 bits to 8 bits; return others unchanged."""
    if depth >= BYTE:
        return samples
    white = most(depth)
    return ((samples.astype(np.uint16) * 255 + white // 2) // white).astype(np.uint8)


def narrowed(samples: np.ndarray, depth: int) -> np.ndarray:
    """Round 8-bit samples to the nearest samples of fewer bits; keep depths from 8 bits on."""
    if depth >= BYTE:
        return samples
    white = most(depth)
    return ((samples.astype(np.uint16) * white + 127) // 255).astype(np.uint8)


def to_luma(colours: Sequence[Any], depth: int, wanted: int) -> list[Any]:
    """Convert colours to luma, Co (red minus blue), Cg (green minus both).

    Source: H. S. Malvar, G. J. Sullivan, "YCoCg-R: a color space with RGB reversibility", 2003,
    here with chroma halved to the bits of luma.

    Parameters
    ----------
    colours : sequence of three arrays
        Red, green and blue.
    depth, wanted : int
        Bits per sample of the colours, and of luma and chroma: the same number.
    """
    red, green, blue = (plane.astype(np.int32) for plane in colours)
    mid, white = middle(depth), most(depth)
    luma = (red + 2 * green + blue + 2) >> 2
    co = ((red - blue + 1) >> 1) + mid
    cg = ((2 * green - red - blue + 2) >> 2) + mid
    return [plane.clip(0, white).astype(sample_type(wanted)) for plane in (luma, co, cg)]


def from_luma(planes: Sequence[np.ndarray], depth: int, wanted: int) -> list[np.ndarray]:
    """Convert luma and both chromas to red, green and blue; the inverse of ``to_luma``."""
    mid, white = middle(depth), most(depth)
    luma, co, cg = (plane.astype(np.int32) for plane in planes)
    mean = luma - (cg - mid)
    colours = mean + (co - mid), luma + (cg - mid), mean - (co - mid)
    return [plane.clip(0, white).astype(sample_type(wanted)) for plane in colours]


def matrix_of(rotation: Rotation) -> list[list[int]]:
    """Return red, green and blue of one unit of each plane, in ``2**-BITS``; rows are colours."""
    size, matrix = _scaled(rotation)
    return [
        [_rounded(product(matrix, AXES, colour, plane) << BITS, SCALE * size) for plane in range(3)]
        for colour in range(3)
    ]


def inverse_of(rotation: Rotation) -> list[list[int]]:
    """Return the planes' parts of one unit of each colour, in ``2**-BITS``; rows are planes."""
    size, matrix = _scaled(rotation)
    norms = [sum(axis[plane] ** 2 for axis in AXES) for plane in range(3)]
    return [
        [
            _rounded(SCALE * product(matrix, AXES, colour, plane) << BITS, norms[plane] * size)
            for colour in range(3)
        ]
        for plane in range(3)
    ]


def to_fine_luma(colours: Sequence[Any], depth: int, fine: int, rotation: Rotation) -> list[Any]:
    """Convert red, green and blue to luma, Co and Cg, turned by a rotation.

    Parameters
    ----------
    colours : sequence of three arrays
        In host or device memory.
    depth : int
        Bits per sample of the colours.
    fine : int
        Bits per sample of the planes.
    rotation : Rotation
    """
    wide = [plane.astype(_kind(fine)) << (fine - depth) for plane in colours]
    return [_weighted(row, wide, middle(fine), BITS, fine) for row in inverse_of(rotation)]


def from_fine_luma(planes: Sequence[Any], fine: int, depth: int, rotation: Rotation) -> list[Any]:
    """Convert luma, Co and Cg to red, green and blue; the inverse of ``to_fine_luma``."""
    wide = [plane.astype(_kind(fine)) for plane in planes]
    shift = BITS + fine - depth
    return [_weighted(row, wide, middle(fine), shift, depth) for row in matrix_of(rotation)]


def _kind(fine: int) -> Any:
    return np.int32 if fine <= MOST_DEPTH_OF_INT32 else np.int64


def _weighted(
    weights: Sequence[int], parts: Sequence[Any], mid: int, shift: int, depth: int
) -> Any:
    """Return weighted sums of differences from ``mid``, added to it, in samples of ``depth`` bits.

    The sums have ``shift`` bits more than the samples.
    """
    xp = module_of(parts[0])
    total = parts[0] * weights[0]
    product = xp.empty_like(total)
    for part, weight in zip(parts[1:], weights[1:], strict=True):
        total += xp.multiply(part, weight, out=product)
    total += (mid << BITS) - mid * sum(weights) + (1 << shift >> 1)
    total >>= shift
    return total.clip(0, most(depth), out=total).astype(sample_type(depth))


def _rounded(number: int, divisor: int) -> int:
    return (2 * number + divisor) // (2 * divisor)


def _scaled(rotation: Rotation) -> tuple[int, list[list[int]]]:
    """Return the matrix of a quaternion: a number, and a matrix to be divided by it."""
    w, (x, y, z) = REAL, rotation
    return w * w + x * x + y * y + z * z, [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]


def product(first: Any, second: Any, row: int, column: int) -> Any:
    """Return one number of the product of two 3x3 matrices."""
    return sum(first[row][index] * second[index][column] for index in range(3))
