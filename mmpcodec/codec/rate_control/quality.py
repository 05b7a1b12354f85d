"""The lambda that gives a picture a visible quality.

A quality is a score of SSIMULACRA2 that is aimed at. The score follows from the visible error that
is predicted at a lambda. Decision 43 has the measurements.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence

import numpy as np

from mmpcodec.codec.distortion import seen_pixels
from mmpcodec.codec.rate_control.visible_error import VisibleErrors
from mmpcodec.depth import BYTE
from mmpcodec.params import EncodeParams
from mmpcodec.quality import MAX_QUALITY, QUALITY_REACH, lambdas_of_quality, usual_score

LOSS, GROWTH = 308.0, 0.53
"""A score is LOSS times the visible error to the power of GROWTH below 100."""

PartsOf = Callable[[Sequence[tuple[slice, slice]]], Sequence[np.ndarray]]
"""Returns the samples of parts of a picture, each given by its rows and columns."""


Shown = tuple[np.ndarray, int]
"""Samples of an area without alpha, between black and white, and bits of a sample."""


def at_quality(params: EncodeParams, areas: Sequence[Shown]) -> EncodeParams:
    """Return the parameters of a picture with the lambda of their quality, if they have one.

    Parameters
    ----------
    params : EncodeParams
        Their aim is not "auto".
    areas : sequence of (array, int)
        Areas of the picture of which a pixel is seen. All have the same number of bits.
    """
    if params.quality is None:
        return params
    if all(candidate.tools.lossless for candidate in params.each_alone()):
        return params.at(params.lam)
    depth = areas[0][1] if areas else BYTE
    seen = [area for area, _ in areas]
    return params.at(lambda_of_quality(params.quality, seen, depth, params.tune))


def seen_areas(areas: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the areas of which a pixel is seen."""
    seen = [seen_pixels(area) for area in areas]
    return [area for area, own in zip(areas, seen, strict=True) if own is None or own.any()]


class ScoreForecast:
    """Scores that are expected of a picture, from its predicted visible errors.

    They are those of a usual picture at a quarter to four times the lambda.

    Parameters
    ----------
    areas, depth, tune
        See ``VisibleErrors``.
    """

    def __init__(self, areas: Sequence[np.ndarray], depth: int, tune: str):
        self._errors = VisibleErrors(areas, depth, tune)

    def at(self, lam: float) -> float:
        """Return the score at a lambda above 0."""
        expected = MAX_QUALITY - LOSS * self._errors.at(lam) ** GROWTH
        most, least = (usual_score(lam * 2.0**shift) for shift in (-QUALITY_REACH, QUALITY_REACH))
        return min(max(expected, least), most)


def lambda_of_quality(quality: float, areas: Sequence[np.ndarray], depth: int, tune: str) -> float:
    """Return the largest lambda at which a picture is predicted to have a quality.

    Parameters
    ----------
    quality : float
        From 0 up, below 100.
    areas, depth, tune
        See ``VisibleErrors``.

    Returns
    -------
    float
        One of ``lambdas_of_quality``.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.codec.rate_control.quality import lambda_of_quality
    >>> flat = np.zeros((32, 32), np.uint8)
    >>> lambda_of_quality(85, [flat], 8, "psnr")
    19.03
    """
    lambdas, forecast = lambdas_of_quality(quality), ScoreForecast(areas, depth, tune)
    found = bisect_right(lambdas, -quality, key=lambda lam: -forecast.at(lam))
    return lambdas[max(found - 1, 0)]
