"""The lambda that gives a picture a visible quality.

A quality is a score of SSIMULACRA2 that is aimed at. The score follows from the visible error that
is predicted at a lambda. Decision 89 has the measurements.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence

import numpy as np

from mmpcodec.codec.distortion import seen_pixels
from mmpcodec.codec.rate_control.visible_error import VisibleErrors
from mmpcodec.depth import BYTE
from mmpcodec.metrics.ssimulacra2 import points_lost
from mmpcodec.params import EncodeParams
from mmpcodec.quality import MAX_QUALITY, QUALITY_REACH, lambdas_of_quality, usual_score

PartsOf = Callable[[Sequence[tuple[slice, slice]]], Sequence[np.ndarray]]
"""Returns the samples of parts of a picture, each given by its rows and columns."""


Shown = tuple[np.ndarray, int]
"""Samples of an area without alpha, between black and white, and bits of a sample."""


def at_quality(params: EncodeParams, areas: Sequence[Shown], pixels: int) -> EncodeParams:
    """Return the parameters of a picture with the lambda of their quality, if they have one.

    Parameters
    ----------
    params : EncodeParams
        Their aim is not "auto".
    areas : sequence of (array, int)
        Areas of the picture of which a pixel is seen. All have the same number of bits.
    pixels : int
        Number of pixels of the whole picture.
    """
    if params.quality is None:
        return params
    if all(candidate.tools.lossless for candidate in params.each_alone()):
        return params.at(params.lam)
    depth = areas[0][1] if areas else BYTE
    seen = [area for area, _ in areas]
    forecast = ScoreForecast(seen, depth, params.tune, pixels)
    return params.at(lambda_of_quality(params.quality, forecast))


def seen_areas(areas: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the areas of which a pixel is seen."""
    seen = [seen_pixels(area) for area in areas]
    return [area for area, own in zip(areas, seen, strict=True) if own is None or own.any()]


class ScoreForecast:
    """Scores that are expected of a picture, from its predicted visible errors.

    They are those of a usual picture at a quarter to four times the lambda.

    Parameters
    ----------
    areas, depth, tune, pixels
        See ``VisibleErrors``.
    """

    def __init__(self, areas: Sequence[np.ndarray], depth: int, tune: str, pixels: int):
        self._errors = VisibleErrors(areas, depth, tune, pixels)

    def at(self, lam: float) -> float:
        """Return the score at a lambda above 0."""
        expected = MAX_QUALITY - float(points_lost(self._errors.at(lam)))
        most, least = (usual_score(lam * 2.0**shift) for shift in (-QUALITY_REACH, QUALITY_REACH))
        return min(max(expected, least), most)


def lambda_of_quality(quality: float, forecast: ScoreForecast) -> float:
    """Return the lambda at which a picture is predicted to have the score nearest to a quality.

    Parameters
    ----------
    quality : float
        From 0 up, below 100.
    forecast : ScoreForecast

    Returns
    -------
    float
        One of ``lambdas_of_quality``; the larger one of two that are as near.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.codec.rate_control.quality import ScoreForecast, lambda_of_quality
    >>> flat = np.zeros((32, 32), np.uint8)
    >>> lambda_of_quality(85, ScoreForecast([flat], 8, "psnr", 1024))
    20.75
    """
    lambdas = lambdas_of_quality(quality)
    found = bisect_right(lambdas, -quality, key=lambda lam: -forecast.at(lam))
    around = lambdas[max(found - 1, 0) : found + 1]
    return min(reversed(around), key=lambda lam: abs(forecast.at(lam) - quality))
