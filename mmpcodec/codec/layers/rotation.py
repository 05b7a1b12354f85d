"""The choice of the colour rotation of a tile. *Encoder only*.

Source: N. Ahmed, K. R. Rao, "Orthogonal Transforms for Digital Signal Processing", 1975, chapter 9:
a Karhunen-Loeve transform of differences of the colours.
"""

import itertools
import math
from typing import Any

from mmpcodec.depth import BYTE
from mmpcodec.reference.colour import (
    AXES,
    LEAST_ROTATION,
    MOST_ROTATION,
    NO_ROTATION,
    REAL,
    Rotation,
    product,
)
from mmpcodec.runtime.arrays import bands, module_of, on_device

BAND_SAMPLES = 1 << 16
"""Number of pixels of a band of rows whose differences are summed at a time."""
_USUAL = 16.0, 4.0, 1.0
"""What each pair of neighbours adds to the sums of squares along the axes that are not turned."""

_SWEEPS = 8
"""Number of times that Jacobi's method turns each pair of axes; three nearly always do."""

_Matrix = list[list[float]]


def chosen_rotation(samples: Any, depth: int) -> Rotation:
    """Return the rotation whose axes are those of the differences of neighbours.

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
        math.floor(REAL * product([axis], axes, 0, colour) / real + 0.5) for colour in range(3)
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
    return [[product(first, second, row, column) for column in range(3)] for row in range(3)]


def _transposed(matrix: _Matrix) -> _Matrix:
    return list(map(list, zip(*matrix, strict=True)))
