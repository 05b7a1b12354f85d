"""What the options of encoding stand for together, and which of them have no effect."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mmpcodec.checks import bound_of
from mmpcodec.cli.encoding.reading import levels_of
from mmpcodec.cli.options import check_alone
from mmpcodec.errors import ParameterError
from mmpcodec.options import RATES, CodecOptions, given_of, names_of
from mmpcodec.params import AUTO, BEST, CALIBRATED, MAX_EFFORT, EncodeParams
from mmpcodec.presets import DEFAULT_EFFORT, PRESETS, presets_where
from mmpcodec.quality import MAX_QUALITY
from mmpcodec.tools import Tools, TreeTools, trees_of

if TYPE_CHECKING:
    from mmpcodec.codec.rate_control.targets import Request

FAST_EFFORT = 1
LOSSLESS_PRESET = "lossless"

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


FLAGS = {name: f"--{name.replace('_', '-')}" for name in RATES} | {"lam": "--lambda"}
"""Options of the command line for those of the rate."""


def preset_and_effort(
    preset: str | None = None,
    effort: int | None = None,
    *,
    fast: bool = False,
    best: bool = False,
    lossless: bool = False,
) -> tuple[str, int]:
    """Return the preset and the effort that the options of the search stand for.

    ``--fast`` is effort 1, and preset lossless for lossless files.
    ``--best`` is preset best at effort 9.

    Raises
    ------
    ParameterError
        If two options contradict each other.
    """
    if fast:
        check_alone("--fast", {"--best": best, "--effort": effort})
        return preset or (LOSSLESS_PRESET if lossless else AUTO), FAST_EFFORT
    if best:
        check_alone("--best", {"--preset": preset, "--effort": effort})
        return BEST, MAX_EFFORT
    return preset or AUTO, DEFAULT_EFFORT if effort is None else effort


OPTIONS = {"lossless", "fast", "best", "lambdas", "lam", *names_of(CodecOptions)}
"""Parameters of commands that ``requested`` takes."""


def requested(values: Mapping[str, Any]) -> "tuple[Request, list[str]]":
    """Return what the options of encoding stand for, and remarks on those without effect.

    Parameters
    ----------
    values : mapping
        Values of the parameters of a command, of which those of ``OPTIONS`` count; None or False if
        not given. ``max_error``, ``target_size`` and ``range`` are texts.

    Raises
    ------
    ParameterError
        If an option is out of its range, contradicts another one, or is that of a tool that has no
        effect on the preset.
    """
    from mmpcodec.codec.rate_control.targets import request_of
    from mmpcodec.planning.quantities import parse_bytes

    given = given_of({name: value for name, value in values.items() if name in OPTIONS})
    lossless, fast, best = (given.pop(name, False) for name in ("lossless", "fast", "best"))
    lambdas = given.pop("lambdas", None)
    rates = {FLAGS[name]: given[name] for name in RATES if name in given}
    is_lossless = lossless or given.get("lam") == 0 or given.get("quality") == MAX_QUALITY
    if "max_error" in given:
        given["max_error"] = given["max_error"] if bound_of(given["max_error"]) else 0
    if given.get("max_error"):
        names = {f"{flag} {value:g}": value for flag, value in rates.items() if is_lossless}
        others = {flag: value for flag, value in rates.items() if flag.startswith("--target")}
        check_alone("--max-error", {"--lossless": lossless, **names, **others})
    if values.get("levels"):
        limits = ("--target-size", "--target-bpp")  # of a file, to which levels add
        check_alone("--levels", {flag: rates.get(flag) for flag in limits})
    if lossless:
        check_alone("--lossless", rates)
        given["lam"] = 0
    repeats = is_lossless or "max_error" in given or given.get("preset") == LOSSLESS_PRESET
    if given.get("palette") and repeats:
        raise ParameterError(
            "--palette: has no effect on lossless files or with --max-error: they code pixels that "
            "repeat by themselves; leave it out"
        )
    if len(rates) > 1:
        flags = ", ".join(FLAGS.values())
        raise ParameterError(f"{' and '.join(rates)}: give only one of {flags}")
    if "target_size" in given:
        given["target_size"] = parse_bytes("target_size", given["target_size"])
    if "range" in given:
        given["range"] = levels_of(given["range"])
    preset, effort = given.get("preset"), given.get("effort")
    preset, given["effort"] = preset_and_effort(
        preset, effort, fast=fast, best=best, lossless=is_lossless
    )
    request = request_of(spared=CALIBRATED, **{**given, "preset": preset})
    asked = {
        **{flag: value for flag, value in rates.items() if flag in EFFECTS and not is_lossless},
        "--fast": fast and values["preset"] is not None,
        "--effort": effort,
        "--rate-model": given.get("rate_model"),
        "--lambdas": lambdas,
    }
    return request, without_effect(request.params, preset, asked)


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
