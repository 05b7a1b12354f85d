"""The rate that an encoder is asked for: a lambda, a quality, a size, a PSNR or a score."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

from mmpcodec.checks import check_int, check_number
from mmpcodec.errors import ParameterError
from mmpcodec.options import AUTO, RATES, CodecOptions, given_of
from mmpcodec.params import DEEP, DEFAULT_QUALITY, LEAST_LAMBDA, MAX_QUALITY, PSNR, EncodeParams

MAX_BYTES = 1 << 62
QUALITY_SCALE, QUALITY_POWER = 0.008, 2.4
"""The usual lambda of a quality is a scale times a power of what it lacks of 100."""
QUALITY_PLACES = 4
"""Lambdas of a quality for each doubling: so few that pictures of a batch have equal ones."""
QUALITY_REACH = 2
"""Doublings by which the lambda of a picture may differ from the usual one of its quality."""
SSIMULACRA2 = "ssimulacra2"
LOSSLESS_SCORE = 100
LEAST_SCORE = -100
"""Least score that can be asked for; of photographs, only a few blurred shades are left there."""
NAMES = ("size", "bpp", "psnr", SSIMULACRA2)


@dataclass(frozen=True)
class Target:
    """A limit that a file keeps.

    Parameters
    ----------
    name : {"size", "bpp", "psnr", "ssimulacra2"}
    value : float
        "size": most bytes of the whole file, an integer from 1 to 2**62. "bpp": most bits per pixel
        of the whole file, above 0. "psnr": least PSNR of the whole decoded picture in dB, above 0.
        "ssimulacra2": least SSIMULACRA2 of the whole decoded picture, -100 to 100; 100 is lossless.
        The picture is compared as it is shown: white is that of the metadata, and a picture with
        alpha has the lower one of its scores on a dark and on a bright background. It must have at
        least 8x8 pixels.

    Raises
    ------
    ParameterError
        When the name is unknown or the value is out of its range.
    """

    name: str
    value: float

    def __post_init__(self):
        if self.name not in NAMES:
            raise ParameterError(f"name = {self.name!r}: must be one of {', '.join(NAMES)}")
        full_name = f"target_{self.name}"
        if self.name == "size":
            value: float = check_int(full_name, self.value, 1, MAX_BYTES)
        elif self.name == SSIMULACRA2:
            low, high = LEAST_SCORE, LOSSLESS_SCORE
            value = check_number(
                full_name, self.value, f"from {low} to {high}", lambda number: low <= number <= high
            )
        else:
            value = check_number(
                full_name, self.value, "finite and above 0", lambda number: number > 0
            )
        object.__setattr__(self, "value", value)

    def __str__(self):
        return f"target_{self.name} = {self.value!r}"


class Request(NamedTuple):
    """What an encoder is asked for: parameters, and a target that gives them another lambda."""

    params: EncodeParams
    target: Target | None = None


def request_of(
    lam: float | None = None, *, spared: str = DEEP, **options: Unpack[CodecOptions]
) -> Request:
    """Check the options of an encoder together, and return what they stand for.

    Parameters
    ----------
    lam : float or None
    spared : {"calibrated", "deep"}
        Pictures that are coded without loss if no option asks for a rate; see ``EncodeParams``.
    **options
        See ``EncodeOptions``.

    Raises
    ------
    ParameterError
        If an option is unknown or out of its range, or options exclude each other.
    """
    given = given_of({"lam": lam, **options})
    rates = {name: given.pop(name) for name in RATES if name in given}
    if len(rates) > 1:
        raise ParameterError(f"{' and '.join(rates)}: give only one of {', '.join(RATES)}")
    name, value = next(iter(rates.items()), ("quality", DEFAULT_QUALITY))
    bound, found, quality, target, tune = given.get("max_error"), EncodeParams.lam, None, None, AUTO
    if name.startswith("target_"):
        check_unbounded(name, bound)
        target = Target(name.removeprefix("target_"), value)
    else:
        found = value if name == "lam" else usual_lambda(value)
        if found == 0:
            check_unbounded(f"{name} = {value!r}, which is lossless,", bound)
        elif name == "quality":
            found, quality = (EncodeParams.lam, None) if bound else (found, value)
    # A lambda, an error and a PSNR are measured; other rates are for looking at.
    if name == "target_psnr" or (target is None and quality is None):
        tune = PSNR
    if given.get("tune", AUTO) == AUTO:
        given["tune"] = tune
    params = EncodeParams.from_options(found, quality=quality, **given)
    return Request(params if rates or bound else replace(params, spared=spared), target)


def check_unbounded(what: str, max_error: int | str | None) -> None:
    """Check that no maximal error is given beside an argument that excludes it.

    Raises
    ------
    ParameterError
        If it is above 0.
    """
    if max_error:
        raise ParameterError(f"{what} and max_error = {max_error!r}: give only one of them")


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
    >>> from mmpcodec.codec.rate_control.targets import usual_lambda
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
    >>> from mmpcodec.codec.rate_control.targets import lambdas_of_quality
    >>> [round(lam, 1) for lam in lambdas_of_quality(85)[::4]]
    [1.4, 2.8, 5.7, 11.3, 22.6]
    """
    middle = round(QUALITY_PLACES * math.log2(usual_lambda(quality)))
    reach = QUALITY_REACH * QUALITY_PLACES
    places = range(middle - reach, middle + reach + 1)
    return [float(f"{2 ** (place / QUALITY_PLACES):.4g}") for place in places]
