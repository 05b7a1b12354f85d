"""The rate that an encoder is asked for: a lambda, a quality, a size, a PSNR or a score."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

from mmpcodec.checks import check_int, check_number
from mmpcodec.errors import ParameterError
from mmpcodec.options import AUTO, RATES, CodecOptions, given_of
from mmpcodec.params import DEEP, PSNR, EncodeParams
from mmpcodec.quality import DEFAULT_QUALITY, usual_lambda

MAX_BYTES = 1 << 62
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
    given = given_of({"lam": lam, **options}, CodecOptions)
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
