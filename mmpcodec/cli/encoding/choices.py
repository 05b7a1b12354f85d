"""What the options of encoding stand for together, and which of them have no effect."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.checks import bound_of
from mmpcodec.cli.options import check_alone
from mmpcodec.errors import ParameterError
from mmpcodec.params import AUTO, BEST, CALIBRATED, MAX_EFFORT, RATE_MODELS, RATES, EncodeParams
from mmpcodec.presets import DEFAULT_EFFORT, PRESETS, presets_where
from mmpcodec.quality import MAX_QUALITY
from mmpcodec.tools import Tools, TreeTools, trees_of

if TYPE_CHECKING:
    from mmpcodec import Target
    from mmpcodec.codec.rate_control.targets import Rate

FAST_EFFORT = 1
LOSSLESS_FAST_PRESET = "lossless"

EFFECTS: dict[str, Callable[[Tools], bool]] = {
    "--lambda": lambda tools: not tools.lossless,
    "--lambdas": lambda tools: not tools.lossless,
    "--quality": lambda tools: not tools.lossless,
    "--target-psnr": lambda tools: not tools.lossless,
    "--target-ssimulacra2": lambda tools: not tools.lossless,
    "--fast": lambda tools: not isinstance(tools, TreeTools),
    "--effort": lambda tools: not isinstance(tools, TreeTools),
    "--rate-model": lambda tools: trees_of(tools) is not None,
}
"""Whether an option changes the file that a set of tools writes. The options of single tools are
not here: one without effect is an error."""


class RateOptions(NamedTuple):
    """The options of the rate, as given; None or False if not."""

    lossless: bool = False
    lam: float | None = None
    quality: float | None = None
    target_size: str | None = None
    target_bpp: float | None = None
    target_psnr: float | None = None
    target_ssimulacra2: float | None = None


class SearchOptions(NamedTuple):
    """The options of the search, as given; None or False if not."""

    fast: bool = False
    best: bool = False
    preset: str | None = None
    effort: int | None = None
    rate_model: str | None = None


class Wanted(NamedTuple):
    """What the options of encoding stand for, and remarks on those without effect."""

    params: EncodeParams
    target: "Target | None"
    remarks: list[str]


def asked(rate: RateOptions, max_error: int | str | None = None) -> "Rate":
    """Return what the options of the rate stand for.

    Raises
    ------
    ParameterError
        If more than one is given, or one is out of its range.
    """
    from mmpcodec.codec.rate_control.targets import Rate, rate_of
    from mmpcodec.planning.quantities import parse_bytes

    lossless, lam, *others = rate
    names = ("--lambda", *(f"--{name.replace('_', '-')}" for name in RATES[1:]))
    values = dict(zip(names, (lam, *others), strict=True))
    if lossless:
        check_alone("--lossless", values)
        return Rate(0)
    given = [name for name, value in values.items() if value is not None]
    if len(given) > 1:
        raise ParameterError(f"{' and '.join(given)}: give only one of {', '.join(names)}")
    size = None if rate.target_size is None else parse_bytes("target_size", rate.target_size)
    targets = size, rate.target_bpp, rate.target_psnr, rate.target_ssimulacra2
    return rate_of(lam, rate.quality, *targets, max_error)


def check_beside_max_error(rate: RateOptions) -> None:
    """Check that no option of the rate is given that excludes ``--max-error`` above 0.

    Raises
    ------
    ParameterError
        If one is: a target, or one that stands for lambda 0.
    """
    others = {
        "--lossless": rate.lossless,
        "--lambda 0": rate.lam == 0,
        f"--quality {MAX_QUALITY}": rate.quality == MAX_QUALITY,
        "--target-size": rate.target_size,
        "--target-bpp": rate.target_bpp,
        "--target-psnr": rate.target_psnr,
        "--target-ssimulacra2": rate.target_ssimulacra2,
    }
    check_alone("--max-error", others)


def preset_and_effort(search: SearchOptions, *, lossless: bool) -> tuple[str, int]:
    """Return the preset and the effort that the options of the search stand for.

    ``--fast`` is effort 1, and preset lossless for lossless files.
    ``--best`` is preset best at effort 9.

    Raises
    ------
    ParameterError
        If two options contradict each other.
    """
    fast, best, preset, effort, _ = search
    if fast:
        check_alone("--fast", {"--best": best, "--effort": effort})
        return preset or (LOSSLESS_FAST_PRESET if lossless else AUTO), FAST_EFFORT
    if best:
        check_alone("--best", {"--preset": preset, "--effort": effort})
        return BEST, MAX_EFFORT
    return preset or AUTO, DEFAULT_EFFORT if effort is None else effort


def wanted(
    rate: RateOptions, search: SearchOptions, more: Mapping[str, Any] | None = None, **tools: Any
) -> Wanted:
    """Return what the options of encoding stand for.

    Parameters
    ----------
    rate : RateOptions
    search : SearchOptions
    more : mapping or None
        Values of further options of ``EFFECTS``.
    **tools
        Fields of ``Tools``, as given; None if not. ``max_error`` is a text.

    Raises
    ------
    ParameterError
        If an option is out of its range, contradicts another one, or is that of a tool that has no
        effect on the preset.
    """
    if tools.get("max_error") is not None:
        tools["max_error"] = tools["max_error"] if bound_of(tools["max_error"]) else 0
    if tools.get("max_error"):
        check_beside_max_error(rate)
    found = asked(rate, tools.get("max_error"))
    lam, quality, target = found.lam, found.quality, found.target
    preset, effort = preset_and_effort(search, lossless=target is None and lam == 0)
    tools["tune"] = found.tuned(tools.get("tune"))
    params = EncodeParams.from_options(
        lam,
        quality=quality,
        preset=preset,
        effort=effort,
        rate_model=search.rate_model or RATE_MODELS[0],
        **tools,
    )
    if not found.asked:
        params = replace(params, spared=CALIBRATED)
    given = {
        "--lambda": rate.lam or None,
        "--quality": None if rate.quality == MAX_QUALITY else rate.quality,
        "--target-psnr": rate.target_psnr,
        "--target-ssimulacra2": rate.target_ssimulacra2,
        "--fast": search.fast and search.preset is not None,
        "--effort": search.effort,
        "--rate-model": search.rate_model,
        **(more or {}),
    }
    return Wanted(params, target, without_effect(params, preset, given))


def without_effect(params: EncodeParams, preset: str, given: Mapping[str, Any]) -> list[str]:
    """Return a remark for each option that changes nothing in the files.

    Parameters
    ----------
    params : EncodeParams
    preset : str
        The preset that the options name or stand for.
    given : mapping
        Values of options of ``EFFECTS``; None or False if not given.
    """
    ways = [each.tools for each in params.each_alone()]
    found = []
    for option, value in given.items():
        has_effect = EFFECTS[option]
        if value is None or value is False or any(map(has_effect, ways)):
            continue
        if params.max_error:
            why = "with --max-error"
        elif preset in PRESETS:
            why = f"with preset {preset}; take {presets_where(has_effect)}"
        else:
            why = "on lossless files"
        found.append(f"{option}: has no effect {why}")
    return found
