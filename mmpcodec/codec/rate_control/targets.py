"""The rate that an encoder is asked for: a lambda, a quality, a size, a PSNR or a score."""

from dataclasses import dataclass
from typing import NamedTuple

from mmpcodec.checks import check_int, check_number
from mmpcodec.errors import ParameterError
from mmpcodec.params import AUTO, PSNR, EncodeParams
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


class Rate(NamedTuple):
    """What arguments of the rate stand for.

    Parameters
    ----------
    lam : float
        Not used where there is a target; the usual one where there is a quality.
    quality : float or None
        Quality from which the lambda of each picture follows.
    target : Target or None
    tune : {"psnr", "auto"}
        The aim that goes with it: a lambda, an error and a PSNR are measured, other rates are for
        looking at.
    asked : bool
        Whether any argument asks for it; else loss is only for pictures to look at.
    """

    lam: float = EncodeParams.lam
    quality: float | None = None
    target: Target | None = None
    tune: str = PSNR
    asked: bool = True

    def tuned(self, tune: str | None) -> str:
        """Return the aim of an encoder that is asked for this one."""
        return self.tune if tune in (None, AUTO) else tune


def rate_of(
    lam: float | None = None,
    quality: float | None = None,
    target_size: int | None = None,
    target_bpp: float | None = None,
    target_psnr: float | None = None,
    target_ssimulacra2: float | None = None,
    max_error: int | str | None = None,
) -> Rate:
    """Return what arguments of ``encode`` stand for; nothing stands for the default quality.

    Parameters
    ----------
    lam, quality, target_size, target_bpp, target_psnr, target_ssimulacra2
        See ``encode``.
    max_error : int, str or None
        See ``encode``; above 0 it excludes targets and lambda 0.

    Returns
    -------
    Rate

    Raises
    ------
    ParameterError
        When arguments exclude each other, or one is out of its range.
    """
    everything = {
        "lam": lam,
        "quality": quality,
        "target_size": target_size,
        "target_bpp": target_bpp,
        "target_psnr": target_psnr,
        "target_ssimulacra2": target_ssimulacra2,
    }
    given = {name: value for name, value in everything.items() if value is not None}
    if len(given) > 1:
        raise ParameterError(f"{' and '.join(given)}: give only one of {', '.join(everything)}")
    for name, value in given.items():
        if name not in ("lam", "quality"):
            check_unbounded(name, max_error)
            aim = PSNR if name == "target_psnr" else AUTO
            return Rate(target=Target(name.removeprefix("target_"), value), tune=aim)
        found = value if name == "lam" else usual_lambda(value)
        if found == 0:
            check_unbounded(f"{name} = {value!r}, which is lossless,", max_error)
        if name == "lam" or found == 0:
            return Rate(found)
    if max_error:
        return Rate()
    value = DEFAULT_QUALITY if quality is None else quality
    return Rate(usual_lambda(value), value, tune=AUTO, asked=quality is not None)


def check_unbounded(what: str, max_error: int | str | None) -> None:
    """Check that no maximal error is given beside an argument that excludes it.

    Raises
    ------
    ParameterError
        If it is above 0.
    """
    if max_error:
        raise ParameterError(f"{what} and max_error = {max_error!r}: give only one of them")
