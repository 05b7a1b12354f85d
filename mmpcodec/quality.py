"""The law of quality: the lambda of a quality, and the quantisation step of a lambda."""

import math
from typing import Any

from mmpcodec.checks import check_number

LAMBDA_FRACTION_BITS = 16
# Above this the rate outweighs any distortion of a fragment, and costs would overflow int32.
MAX_LAMBDA = 2.0**20
MAX_QUALITY = 100
DEFAULT_QUALITY = 85.0
"""No difference is seen at a normal viewing distance."""
LEAST_LAMBDA = 2.0**-6
"""Least lambda above 0 that a quality or a target takes; below it files are nearly lossless."""
STEP_SQUARED = 2788
"""Square of the step, in 1/16 of a gray level, for lambda = 1: (3.3 * 16)**2."""
DEPENDENT_STEP_SQUARED = 3560
"""The same for dependent levels: (1.13 * 3.3 * 16)**2."""
RADIUS_PER_LAMBDA = 4
"""Redundancy radius that an encoder derives, in units of lambda."""
QUALITY_SCALE, QUALITY_POWER = 0.008, 2.4
"""The usual lambda of a quality is a scale times a power of what it lacks of 100."""
QUALITY_PLACES = 8
"""Lambdas of a quality for each doubling: so few that pictures of a batch have equal ones."""
QUALITY_REACH = 2
"""Doublings by which the lambda of a picture may differ from the usual one of its quality."""


def check_lambda(lam: Any) -> int | float:
    """Return a lambda as a Python int or float.

    Raises
    ------
    ParameterError
        If it is not a finite number from 0 up.
    """
    return check_number("lam", lam, "finite and not negative", lambda number: number >= 0)


def least_lambda(*, dependent: bool) -> float:
    """Return the lambda whose quantisation step is 1/16 of a gray level, the least one."""
    return 1 / (DEPENDENT_STEP_SQUARED if dependent else STEP_SQUARED)


def derived_step(lambda_fixed: int, *, dependent: bool) -> int:
    """Return the quantisation step of a lambda, at least 1.

    The step is 3.3 times the square root of lambda in gray levels, and 1.13 times as large for
    dependent levels, computed in integers; the factors gave the least cost in measurements.
    """
    squared = DEPENDENT_STEP_SQUARED if dependent else STEP_SQUARED
    return max(1, math.isqrt((lambda_fixed * squared) >> LAMBDA_FRACTION_BITS))


def usual_lambda(quality: float) -> float:
    """Return the lambda that most pictures need for a quality: 0.008 (100 - quality)^2.4.

    The lambda of a picture follows from its samples, up to four times or a quarter of the usual
    one. Quality 100 is lossless.

    Raises
    ------
    ParameterError
        If the quality is not a number from 0 to 100.

    Examples
    --------
    >>> from mmpcodec.quality import usual_lambda
    >>> [round(usual_lambda(quality), 1) for quality in (0, 50, 75, 85, 90, 100)]
    [504.8, 95.6, 18.1, 5.3, 2.0, 0.0]
    """
    number = check_number(
        "quality", quality, f"from 0 to {MAX_QUALITY}", lambda number: 0 <= number <= MAX_QUALITY
    )
    return (
        max(QUALITY_SCALE * (MAX_QUALITY - number) ** QUALITY_POWER, LEAST_LAMBDA)
        if number < MAX_QUALITY
        else 0.0
    )


def usual_score(lam: float) -> float:
    """Return the quality whose usual lambda this is; below 0 for large ones."""
    return MAX_QUALITY - (lam / QUALITY_SCALE) ** (1 / QUALITY_POWER)


def lambdas_of_quality(quality: float) -> list[float]:
    """Return the lambdas, ascending, that pictures can have for a quality below 100.

    They have four digits, so that a file can be encoded again with its printed lambda.

    Examples
    --------
    >>> from mmpcodec.quality import lambdas_of_quality
    >>> [round(lam, 1) for lam in lambdas_of_quality(85)[::8]]
    [1.3, 2.6, 5.2, 10.4, 20.8]
    """
    middle = round(QUALITY_PLACES * math.log2(usual_lambda(quality)))
    reach = QUALITY_REACH * QUALITY_PLACES
    places = range(middle - reach, middle + reach + 1)
    return [float(f"{2 ** (place / QUALITY_PLACES):.4g}") for place in places]
