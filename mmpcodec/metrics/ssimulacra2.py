"""SSIMULACRA2: structural similarity and edges, at six scales, in a space of perceived colours."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mmpcodec.metrics.gaussian import smooth
from mmpcodec.metrics.samples import doubled, halved, linear_light

SSIMULACRA2_SIDE = 8
"""Smallest side of a picture; a scale follows while the sides of the last one are as large."""

SCALES = 6

Norms = tuple[float, ...]
"""A norm of each of the three maps of a plane: dissimilarity, new edges, lost edges."""

CONES = np.array(
    [
        [0.30, 0.622, 0.078],
        [0.23, 0.692, 0.078],
        [0.24342268924547819, 0.20476744424496821, 0.55180986650955360],
    ],
    np.float32,
)
"""Responses of three kinds of cones, one a row, to linear red, green and blue."""

_BIAS = 0.0037930732552754493
_C2 = np.float32(0.0009)  # of the contrast and structure term

_WEIGHTS = {
    1: 0.0007376606707406586,
    4: 0.0007793481682867309,
    7: 0.0004371155730107379,
    9: 1.1041726426657346,
    10: 0.00066284834129271,
    11: 0.00015231632783718752,
    13: 0.0016406437456599754,
    15: 1.8422455520539298,
    16: 11.441172603757666,
    18: 0.0007989109436015163,
    19: 0.000176816438078653,
    21: 1.8787594979546387,
    22: 10.94906990605142,
    24: 0.0007289346991508072,
    25: 0.9677937080626833,
    27: 0.00014003424285435884,
    28: 0.9981766977854967,
    29: 0.00031949755934435053,
    30: 0.0004550992113792063,
    33: 0.0013648766163243398,
    39: 7.466890328078848,
    41: 17.445833984131262,
    42: 0.0006235601634041466,
    45: 6.683678146179332,
    46: 0.00037724407979611296,
    47: 1.027889937768264,
    48: 225.20515300849274,
    51: 19.213238186143016,
    52: 0.0011401524586618361,
    53: 0.001237755635509985,
    54: 176.39317598450694,
    57: 24.43300999870476,
    58: 0.28520802612117757,
    59: 0.0004485436923833408,
    63: 34.77906344483772,
    64: 44.835625328877896,
    73: 0.0008680556573291698,
    79: 0.0005313191874358747,
    81: 0.00016533814161379112,
    87: 0.0004179171803251336,
    88: 0.0017290828234722833,
    90: 0.0020827005846636437,
    93: 8.826982764996862,
    94: 23.19243343998926,
    96: 95.1080498811086,
    97: 0.9863978034400682,
    98: 0.9834382792465353,
    99: 0.0012286405048278493,
    100: 171.2667255897307,
    101: 0.9807858872435379,
    105: 0.0005130064588990679,
    107: 0.00010854057858411537,
}
"""Weights of the norms by their place; the others are 0.

Norms are ordered by plane, scale, exponent (1, 4) and map (similarity, new edges, lost edges).
"""


class Ssimulacra2:
    """SSIMULACRA2 of decoded pictures against one original, whose share is computed once.

    Pictures are taken as sRGB, gray as equal red, green and blue.

    Parameters
    ----------
    original : (H, W) or (H, W, 3) integer or float array
        Of at least 8 rows and columns.
    white : int
        Level of white.
    """

    def __init__(self, original: np.ndarray, white: int):
        self._white = white
        self._scales = [
            [_Original.of(plane) for plane in _planes(light)]
            for light in _scales(linear_light(original, white))
        ]

    def of(self, decoded: np.ndarray) -> float:
        """Return the score of a decoded picture, an array of the original's shape.

        It is at most 100, about 90 without visible loss, and below 0 for strong errors.

        Source: the definition of version 2.1 by Sneyers, in the program ``ssimulacra2`` of libjxl.
        """
        scales = [[list(_norms(maps)) for maps in planes] for planes in self._maps(decoded)]
        norms = np.array(scales).swapaxes(0, 1)
        return 100 - float(points_lost((_weights(len(scales)) * norms).sum()))

    def losses(self, decoded: np.ndarray) -> np.ndarray:
        """Return, for each pixel, the points that a picture would lose if it was as bad everywhere.

        The value of a pixel takes the maps of the metric there instead of their norms:
        dissimilarity, new and lost edges, of all planes and scales, with the weights of the metric.
        It is 0 for equal pictures. Where they differ, the rounding errors of the window, which are
        part of the metric, add one or two points far away too. The window sees black beyond the
        border, which hides errors near it.

        Returns
        -------
        (H, W) array of float32
            Points of SSIMULACRA2.
        """
        weights = _weights(len(self._scales)).sum(axis=2).astype(np.float32)
        errors = [
            np.tensordot(weights[:, scale], np.stack(list(planes)), axes=2)
            for scale, planes in enumerate(self._maps(decoded))
        ]
        found = errors.pop()
        while errors:
            finer = errors.pop()
            height, width = finer.shape
            found = finer + doubled(found)[:height, :width]
        return points_lost(found)

    def _maps(self, decoded: np.ndarray) -> Iterator[Iterator[np.ndarray]]:
        """Yield, for each scale from the finest, the maps of the planes X, Y and B."""
        scales = zip(self._scales, _scales(linear_light(decoded, self._white)), strict=True)
        for originals, light in scales:
            yield (_maps(*pair) for pair in zip(originals, _planes(light), strict=True))


def ssimulacra2(original: np.ndarray, decoded: np.ndarray, *, white: int) -> float | None:
    """Return SSIMULACRA2, see ``Ssimulacra2``; None if a side has fewer than 8 samples."""
    if min(original.shape[:2]) < SSIMULACRA2_SIDE:
        return None
    return Ssimulacra2(original, white).of(decoded)


def loss_map(original: np.ndarray, decoded: np.ndarray, *, white: int) -> np.ndarray | None:
    """Return the map of ``Ssimulacra2.losses``; None if a side has fewer than 8 samples."""
    if min(original.shape[:2]) < SSIMULACRA2_SIDE:
        return None
    return Ssimulacra2(original, white).losses(decoded)


class _Original(NamedTuple):
    """A plane of the original, and what the window makes of it and of its squares."""

    plane: np.ndarray
    squares: np.ndarray
    mean: np.ndarray

    @classmethod
    def of(cls, plane: np.ndarray) -> "_Original":
        return cls(plane, *smooth(np.stack([plane * plane, plane])))


def _scales(light: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the scales of linear light, (3, H, W), from fine to coarse."""
    yield light
    for _ in range(SCALES - 1):
        if min(light.shape[1:]) < SSIMULACRA2_SIDE:
            break
        light = halved(light)
        yield light


def _planes(light: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the planes X, Y and B of linear light as float32, in about 0 to 1.

    X and B of gray are even but for rounding, which the program has too.
    """
    long, middle, short = (_response(cone, light) for cone in CONES)
    x, y = (long - middle) / 2, (long + middle) / 2
    yield 14 * x + np.float32(0.42)
    yield y + np.float32(0.01)
    yield (short - y) + np.float32(0.55)


def _response(cone: np.ndarray, light: np.ndarray) -> np.ndarray:
    """Return the response of a kind of cones to light: a cube root, 0 at black.

    Parameters
    ----------
    cone : (3,) array of float32
    light : (3, H, W) array of float64

    Returns
    -------
    (H, W) array of float32
    """
    mixed = np.full(light.shape[1:], _BIAS, np.float32)
    for factor, plane in zip(cone[::-1], light[::-1], strict=True):
        mixed = (float(factor) * plane + mixed).astype(np.float32)
    root = np.cbrt(np.maximum(mixed, 0).astype(np.float64)) - np.cbrt(_BIAS)
    return root.astype(np.float32)


def _maps(original: _Original, b: np.ndarray) -> np.ndarray:
    """Return the maps of a plane: dissimilarity, new edges, lost edges.

    Returns
    -------
    (3, H, W) array of float32
    """
    a, squares_a, mean_a = original
    squares_b, products, mean_b = smooth(np.stack([b * b, a * b, b]))
    variances = (squares_a - mean_a**2) + (squares_b - mean_b**2)
    structure = (2 * (products - mean_a * mean_b) + _C2) / (variances + _C2)
    dissimilar = 1 - (1 - (mean_a - mean_b) ** 2) * structure
    edges = (1 + np.abs(b - mean_b)) / (1 + np.abs(a - mean_a)) - 1
    return np.maximum([dissimilar, edges, -edges], 0)


def _norms(maps: np.ndarray) -> Iterator[Norms]:
    """Yield the means of the three maps of a plane, and then the roots of means of 4th powers."""
    for power in (1, 4):
        yield tuple(float((each**power).mean(dtype=np.float64) ** (1 / power)) for each in maps)


def _weights(scales: int) -> np.ndarray:
    """Return the weights of the norms, (3, scales, 2, 3): by plane, scale, exponent and map.

    Small pictures have fewer scales, and the weights of the first places, as in the definition.
    """
    shape = (3, scales, 2, 3)
    found = [_WEIGHTS.get(place, 0.0) for place in range(math.prod(shape))]
    return np.reshape(found, shape)


def points_lost(error: np.ndarray | float) -> np.ndarray:
    """Return the points that an error takes from a score of 100; the error is a sum of norms."""
    error = 0.9562382616834844 * error
    shaped = (
        2.326765642916932 * error
        - 0.020884521182843837 * error**2
        + 6.248496625763138e-05 * error**3
    )
    return 10 * np.maximum(shaped, 0) ** 0.6276336467831387
