"""Colours of the fine layout: red, green and blue turned to the axes of a tile.

Source: section "Colours" of ``docs/format/format.md``. The encoder chooses the rotation by a
Karhunen-Loeve transform of differences of the colours, as in N. Ahmed, K. R. Rao, "Orthogonal
Transforms for Digital Signal Processing", 1975, chapter 9.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE, middle, most, sample_type
from mmpcodec.runtime.arrays import bands, module_of, on_device

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

BAND_SAMPLES = 1 << 16
"""Number of pixels of a band of rows whose differences are summed at a time."""
_USUAL = 16.0, 4.0, 1.0
"""What each pair of neighbours adds to the sums of squares along the axes that are not turned."""

_SWEEPS = 8
"""Number of times that Jacobi's method turns each pair of axes; three nearly always do."""

_Matrix = list[list[float]]


def matrix_of(rotation: Rotation) -> list[list[int]]:
    """Return red, green and blue of one unit of each plane, in ``2**-BITS``; rows are colours."""
    size, matrix = _scaled(rotation)
    return [
        [
            _rounded(_product(matrix, AXES, colour, plane) << BITS, SCALE * size)
            for plane in range(3)
        ]
        for colour in range(3)
    ]


def inverse_of(rotation: Rotation) -> list[list[int]]:
    """Return the planes' parts of one unit of each colour, in ``2**-BITS``; rows are planes."""
    size, matrix = _scaled(rotation)
    norms = [sum(axis[plane] ** 2 for axis in AXES) for plane in range(3)]
    return [
        [
            _rounded(SCALE * _product(matrix, AXES, colour, plane) << BITS, norms[plane] * size)
            for colour in range(3)
        ]
        for plane in range(3)
    ]


def to_planes(colours: Sequence[Any], depth: int, fine: int, rotation: Rotation) -> list[Any]:
    """Convert red, green and blue to luma and both chromas.

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


def from_planes(planes: Sequence[Any], fine: int, depth: int, rotation: Rotation) -> list[Any]:
    """Convert luma and both chromas to red, green and blue; the inverse of ``to_planes``."""
    wide = [plane.astype(_kind(fine)) for plane in planes]
    shift = BITS + fine - depth
    return [_weighted(row, wide, middle(fine), shift, depth) for row in matrix_of(rotation)]


def chosen_rotation(samples: Any, depth: int) -> Rotation:
    """Return the rotation whose axes are those of the differences of neighbours. *Encoder only*.

    Neighbours are means of 2x2 pixels, side by side and one above the other. Luma has the axis
    nearest to it, and so have both chromas. All sums are exact and all other arithmetic is that of
    IEEE 754 in double precision, so every machine chooses the same rotation.

    Parameters
    ----------
    samples : (H, W, C) array of uint8 or uint16
        Red, green, blue, and others that do not count. In host or device memory.
    depth : int
        Bits per sample, at least 8. Only the upper 8 count.
    """
    height, width = samples.shape[0] // 2, samples.shape[1] // 2
    if not height or not width:
        return NO_ROTATION
    band_samples = height * width if on_device(samples) else BAND_SAMPLES
    sums = sum(
        _sums(samples, depth, first, min(last + 1, height), last == height)
        for first, last in bands((height, width), band_samples)
    )
    pairs = height * (width - 1) + (height - 1) * width
    return _turn_of(sums.tolist(), pairs)


def _sums(samples: Any, depth: int, first: int, end: int, last: bool) -> Any:
    """Return the sums of products of differences of a band of rows of means of 2x2.

    The last row before ``end`` is that of the band below, unless the band is the last one.
    """
    xp, columns = module_of(samples), samples.shape[1] // 2 * 2
    own = samples[2 * first : 2 * end, :columns, :3] >> (depth - BYTE)
    own = own.astype(xp.int16)
    own = own[::2] + own[1::2]
    own = own[:, ::2] + own[:, 1::2]
    across = own[: end - first - (not last)]
    differences = across[:, 1:] - across[:, :-1], own[1:] - own[:-1]
    parts = [part.reshape(-1, 3).astype(xp.float64) for part in differences]
    return sum(part.T @ part for part in parts)


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


def _product(first: Any, second: Any, row: int, column: int) -> Any:
    """Return one number of the product of two 3x3 matrices."""
    return sum(first[row][index] * second[index][column] for index in range(3))


def _turn_of(sums: _Matrix, pairs: int) -> Rotation:
    """Return the rotation to the axes of a matrix of sums of products of red, green and blue."""
    columns = list(zip(*AXES, strict=True))
    axes = [[value / math.sqrt(sum(v * v for v in axis)) for value in axis] for axis in columns]
    own = _times(_times(axes, sums), _transposed(axes))
    for plane, usual in enumerate(_USUAL):
        own[plane][plane] += pairs * usual
    matrix = _nearest(_eigenvectors(own))
    # The axis of the matrix, times twice the sine of half the angle and twice the real part.
    axis = [
        matrix[2][1] - matrix[1][2],
        matrix[0][2] - matrix[2][0],
        matrix[1][0] - matrix[0][1],
    ]
    real = 1.0 + matrix[0][0] + matrix[1][1] + matrix[2][2]
    numbers = [
        math.floor(REAL * _product([axis], axes, 0, colour) / real + 0.5) for colour in range(3)
    ]
    x, y, z = (min(max(value, LEAST_ROTATION), MOST_ROTATION) for value in numbers)
    return x, y, z


def _eigenvectors(matrix: _Matrix) -> _Matrix:
    """Return the eigenvectors of a symmetric 3x3 matrix in columns, by Jacobi's rotations."""
    found = [[float(row == column) for column in range(3)] for row in range(3)]
    for _ in range(_SWEEPS):
        for first, second in ((0, 1), (0, 2), (1, 2)):
            mixed = matrix[first][second]
            if mixed == 0.0:
                continue
            ratio = (matrix[second][second] - matrix[first][first]) / (2.0 * mixed)
            tangent = math.copysign(1.0, ratio) / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
            cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
            plane = [[float(row == column) for column in range(3)] for row in range(3)]
            plane[first][first] = plane[second][second] = cosine
            plane[first][second], plane[second][first] = tangent * cosine, -tangent * cosine
            matrix = _times(_times(_transposed(plane), matrix), plane)
            matrix[first][second] = matrix[second][first] = 0.0
            found = _times(found, plane)
    return found


def _nearest(vectors: _Matrix) -> _Matrix:
    """Return the columns in the order and with the signs that make the smallest matrix."""
    ordered = [
        [[sign * row[place] for sign, place in zip(signs, places, strict=True)] for row in vectors]
        for places in itertools.permutations(range(3))
        for signs in itertools.product((1, -1), repeat=3)
    ]
    return max(
        (one for one in ordered if _determinant(one) > 0),
        key=lambda one: one[0][0] + one[1][1] + one[2][2],
    )


def _determinant(matrix: _Matrix) -> float:
    (a, b, c), (d, e, f), (g, h, i) = matrix
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def _times(first: Any, second: Any) -> Any:
    return [[_product(first, second, row, column) for column in range(3)] for row in range(3)]


def _transposed(matrix: _Matrix) -> _Matrix:
    return list(map(list, zip(*matrix, strict=True)))
