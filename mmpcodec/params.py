"""Parameters of encoding and decoding, and the checks of each.

``EncodeParams`` holds the tools of a file and the settings that only an encoder needs.
``DecodeLimits`` bound the memory and the work that a file can ask of a decoder.
"""

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Unpack

from mmpcodec.checks import (
    Bound,
    check_int,
    check_number,
    check_range,
    check_switch,
    with_bound,
)
from mmpcodec.errors import ParameterError
from mmpcodec.options import (
    AUTO,
    DEFAULTS,
    RATE_MODELS,
    CodecOptions,
    ParamOptions,
    given_of,
    names_of,
    written_out,
)
from mmpcodec.tools import (
    DEFAULT_EFFORT,
    EYE_TOOLS,
    PRESETS,
    TABLE,
    Tools,
    for_eye,
    preset_of,
    preset_tools,
    presets_where,
)

BEST = "best"
TRIED = ("photo", "text", "mixed", "lossless")
"""Presets that "best" tries, and from which "auto" chooses by a classification of the samples. For
lossless coding both skip those with prediction."""
SWITCHES = {"prediction", "dictionary", "lossless"}
"""Tools that choose the codings of a layer."""

PSNR, EYE = "psnr", "eye"
DEFAULTS_OF_PARAMS = {name: DEFAULTS[name] for name in ("preset", "effort", "rate_model")}
TUNES = (AUTO, PSNR, EYE)
"""What an encoder aims at: least squared error, or least error that is seen; "auto" chooses by the
kind of picture."""
CALIBRATED, DEEP = "calibrated", "deep"
"""Pictures that are coded without loss unless loss is asked for; see ``EncodeParams.spared``."""
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
DEPENDENT_STEP_SQUARED = 4014
"""The same for dependent levels: (1.2 * 3.3 * 16)**2."""
RADIUS_PER_LAMBDA = 4
"""Redundancy radius that an encoder derives, in units of lambda."""

MAX_EFFORT = 9
MAX_THREADS = 1024
MAX_MEDIAN_RADIUS = 127
MIN_TILE_SIZE = 64
MAX_TILE_SIZE = 1 << 24


def check_lambda(lam: Any) -> int | float:
    """Return a lambda as a Python int or float.

    Raises
    ------
    ParameterError
        If it is not a finite number from 0 up.
    """
    return check_number("lam", lam, "finite and not negative", lambda number: number >= 0)


def check_median_radius(radius: int, name: str = "radius") -> int:
    """Return the radius of a median filter as an int; ``name`` is what errors call it.

    Raises
    ------
    ParameterError
        If it is not an integer from 1 to 127.
    """
    return check_int(name, radius, 1, MAX_MEDIAN_RADIUS)


def check_threads(threads: int | None) -> int | None:
    """Return a number of threads as an int; None lets the backend choose.

    Raises
    ------
    ParameterError
        If it is neither None nor an integer from 1 to 1024.
    """
    return None if threads is None else check_int("threads", threads, 1, MAX_THREADS)


def check_progress(progress: Any) -> None:
    """Check a callback that receives progress.

    Raises
    ------
    ParameterError
        If it is neither None nor callable.
    """
    if progress is not None and not callable(progress):
        raise ParameterError(f"progress = {progress!r}: must be None or a callable")


def check_tune(tune: Any) -> str:
    """Return what an encoder aims at.

    Raises
    ------
    ParameterError
        If there is no such aim.
    """
    if not isinstance(tune, str) or tune not in TUNES:
        raise ParameterError(f"tune = {tune!r}: must be one of {', '.join(TUNES)}")
    return tune


def check_tile_size(size: int, name: str = "tile_size") -> int:
    """Return the height and width of tiles in pixels as an int; 0 makes the picture one tile.

    Parameters
    ----------
    size : int
    name : str
        Name of the argument in errors.

    Raises
    ------
    ParameterError
        If it is neither 0 nor an integer from 64 to 2**24.
    """
    if check_int(name, size) == 0:
        return 0
    return check_int(name, size, MIN_TILE_SIZE, MAX_TILE_SIZE, ", or 0 for one tile")


def preset_names(preset: str, lam: float) -> tuple[str, ...]:
    """Return the names of the candidates: for "auto" and "best" all of ``TRIED`` that suit lambda.

    Raises
    ------
    ParameterError
        If there is no preset of this name.
    """
    if not isinstance(preset, str) or preset not in (AUTO, BEST, *PRESETS):
        names = ", ".join((AUTO, BEST, *PRESETS))
        raise ParameterError(f"preset = {preset!r}: must be one of {names}")
    if preset in (AUTO, BEST):
        return tuple(name for name in TRIED if lam or not PRESETS[name].prediction)
    return (preset,)


def _suits(preset: Tools, given: dict[str, Any]) -> bool:
    """Return whether a preset has the given switches and all other given tools affect it."""
    alike = all(
        check_switch(name, given[name]) == getattr(preset, name) for name in SWITCHES & given.keys()
    )
    return alike and not (given.keys() - SWITCHES) & set(preset.without_effect)


@dataclass(frozen=True)
class EncodeParams:
    """All parameters that determine the bytes of an encoded picture.

    Parameters
    ----------
    lam : float
        Lagrange multiplier in squared error per bit: any finite number from 0 up. 0 is lossless.
        Values above 2**20 act as 2**20.
    tools : Tools
        Normative tools, written into the file.
    rate_model : {"adaptive", "log2"}
        Rate of an index that the search assumes: from the adaptive counts, or log2 of the
        dictionary size as in the dissertation's GPU encoder. The entropy coder uses the counts
        either way.
    effort : int
        Effort of the search for predicted blocks, 1 (fast) to 9. It changes neither the format
        nor the time to decode.
    candidates : tuple of Tools
        Other sets of tools to try. The encoder keeps the file of least rate-distortion cost;
        among equals the smallest, then the first.
    classifies : bool
        Whether a classification of each layer chooses which sets of tools are tried on it, instead
        of all.
    palette : bool
        Whether tiles may have palettes, where these lower the rate-distortion cost. With a maximal
        error, a tile with a palette is lossless.
    tune : {"psnr", "eye", "auto"}
        What predicted blocks aim at: least squared error, or least error that is seen. "eye" makes
        steps coarser where a picture is busy, in chroma, and on photographs at high frequencies.
        "auto" is "eye" for pictures of at most 8 bits without a calibration, else "psnr".
    quality : float or None
        Visible quality, from 0 up and below 100, from which the lambda of each picture follows;
        ``lam`` is the usual one then. None if all pictures have ``lam``.
    spared : {"", "calibrated", "deep"}
        Pictures that are coded without loss, whatever lambda is, because nobody asked for loss:
        those with a calibration, or also those of more than 8 bits. Sets of tools that are always
        lossy are coded as lambda says.
    range : (int, int) or None
        Levels that count as black and white in pictures of more than 8 bits; None for those that
        each picture uses. Lambda is in squares of 1/255 of this range.
    bound : Bound or None
        Maximal error in the unit of a calibration, which takes the place of ``tools.max_error``.
    given : frozenset of str
        Names of the tools that the caller chose. A named backend that lacks other tools codes
        without them; see ``codec.candidates.fitted``.
    fine : bool
        Whether colours may have the fine layout.

    Raises
    ------
    ParameterError
        If a value lies outside its range, or lambda is 0 and a set of tools has prediction.
    """

    lam: float = 32.0
    tools: Tools = PRESETS["plain"]
    rate_model: str = "adaptive"
    effort: int = DEFAULT_EFFORT
    candidates: tuple[Tools, ...] = ()
    classifies: bool = False
    palette: bool = False
    tune: str = PSNR
    quality: float | None = None
    spared: str = ""
    range: tuple[int, int] | None = None
    bound: Bound | None = None
    given: frozenset[str] = frozenset(TABLE)
    fine: bool = True

    def __post_init__(self):
        object.__setattr__(self, "lam", check_lambda(self.lam))
        if self.range is not None:
            object.__setattr__(self, "range", check_range(self.range))
        if not isinstance(self.rate_model, str) or self.rate_model not in RATE_MODELS:
            raise ParameterError(
                f"rate_model = {self.rate_model!r}: must be one of {', '.join(RATE_MODELS)}"
            )
        object.__setattr__(self, "effort", check_int("effort", self.effort, 1, MAX_EFFORT))
        lossy = [tools for tools in (self.tools, *self.candidates) if tools.prediction]
        if self.lam == 0 and lossy:
            preset = preset_of(lossy[0])
            what = f"preset {preset}" if preset else "prediction"
            able = presets_where(lambda tools: not tools.prediction)
            raise ParameterError(f"lam = 0, which is lossless: {what} is always lossy; take {able}")
        if self.lam == 0 and self.tools.max_error:
            raise ParameterError(
                f"max_error = {self.tools.max_error}: must be 0 with lam = 0, which is lossless"
            )
        object.__setattr__(self, "palette", check_switch("palette", self.palette))
        check_tune(self.tune)

    @classmethod
    @written_out
    def from_options(
        cls, lam: float = 32.0, *, quality: float | None = None, **options: Unpack[ParamOptions]
    ) -> "EncodeParams":
        """Make parameters from a preset and single tools that override it; see ``EncodeOptions``.

        The default of ``tune`` is "psnr". A ``max_error`` with a unit becomes ``bound``.

        Parameters
        ----------
        lam : float
        quality : float or None

        Raises
        ------
        ParameterError
            If a preset or tool is unknown, a value lies outside its range, or a tool has no effect
            on the named preset.
        """
        lam = check_lambda(lam)
        given, bound = with_bound({**DEFAULTS_OF_PARAMS, **given_of(options)})
        preset, effort, rate_model = (given.pop(name) for name in DEFAULTS_OF_PARAMS)
        names = preset_names(preset, lam)
        levels, palette = given.pop("range", None), given.pop("palette", None)
        tune = check_tune(given.pop("tune", PSNR))
        if unknown := sorted(given.keys() - TABLE):
            known = ", ".join(("lam", *names_of(CodecOptions)))
            raise ParameterError(f"unknown option {unknown[0]!r}: known are {known}")
        several = preset in (AUTO, BEST)
        if several:
            names = tuple(name for name in names if _suits(PRESETS[name], given))
            if not names:
                at = "at lambda 0 " if lam == 0 else ""
                raise ParameterError(
                    f"preset = {preset!r}: {at}no preset uses all of "
                    + ", ".join(f"{name} = {value!r}" for name, value in given.items())
                )
        if palette is None:
            palette = several
        effort = check_int("effort", effort, 1, MAX_EFFORT)
        sets = [preset_tools(name, effort) for name in names]
        if tune == EYE:
            sets = [for_eye(tools) for tools in sets]
            if not any(tools.prediction for tools in sets):
                able = presets_where(lambda tools: tools.prediction)
                raise ParameterError(
                    f"tune = {tune!r}: needs predicted blocks and lambda above 0; take {able}"
                )
        switched = replace(sets[0], **{name: given[name] for name in SWITCHES & given.keys()})
        idle = [name for name in switched.without_effect if name in given.keys() - SWITCHES]
        if idle and not several:
            able = presets_where(lambda tools: idle[0] not in tools.without_effect)
            raise ParameterError(
                f"{idle[0]} = {given[idle[0]]!r}: has no effect with preset {preset}; take {able}"
            )
        first, *others = (replace(tools, **given) for tools in sets)
        return cls(
            lam,
            first,
            rate_model,
            effort,
            tuple(others),
            classifies=preset == AUTO,
            palette=palette,
            tune=tune,
            quality=quality if lam else None,
            range=levels,
            bound=bound,
            given=frozenset(given) | (EYE_TOOLS if tune == EYE else frozenset()),
        )

    @cached_property
    def coded_tools(self) -> Tools:
        """The tools as the file names them, with open values derived from lambda.

        Open fixed filters are off here: their scales follow from the decoded samples.
        The step is 3.3 times the square root of lambda in gray levels, and 1.2 times as large for
        dependent levels, computed in integers; the factors gave the least cost in measurements.
        """
        tools = self.tools
        if tools.redundancy_radius is None:
            radius = (RADIUS_PER_LAMBDA * self.lambda_fixed) >> LAMBDA_FRACTION_BITS
            tools = replace(tools, redundancy_radius=min(radius, TABLE["redundancy_radius"].high))
        if tools.fixed_filters is None:
            tools = replace(tools, fixed_filters=0)
        if tools.prediction and not tools.step:
            squared = DEPENDENT_STEP_SQUARED if tools.dependent else STEP_SQUARED
            step = math.isqrt((self.lambda_fixed * squared) >> LAMBDA_FRACTION_BITS)
            tools = replace(tools, step=min(max(1, step), TABLE["step"].high))
        return tools

    def at(self, lam: float) -> "EncodeParams":
        """Return these parameters with another lambda; 0 drops the lossy sets of tools."""
        ways = (self.tools, *self.candidates)
        if lam == 0:
            ways = tuple(tools for tools in ways if not tools.prediction) or ways
        tune = PSNR if self.tune == AUTO else self.tune
        return replace(
            self,
            lam=lam,
            tools=ways[0],
            candidates=ways[1:],
            quality=None,
            tune=tune,
            spared="",
        )

    def tuned(self, *, measured: bool) -> "EncodeParams":
        """Return parameters whose aim is not "auto".

        Parameters
        ----------
        measured : bool
            Whether samples of the picture are measurements: more than 8 bits, or calibrated.
        """
        if self.tune != AUTO:
            return self
        if measured or not self._has_prediction:
            return replace(self, tune=PSNR)
        first, *others = map(for_eye, (self.tools, *self.candidates))
        return replace(self, tune=EYE, tools=first, candidates=tuple(others))

    def without_loss(self) -> "EncodeParams":
        """Return lossless parameters, or these if nothing but lossy sets of tools is left."""
        lossy = all(tools.prediction for tools in (self.tools, *self.candidates))
        return self if lossy or self.tune == EYE or self.max_error else self.at(0)

    def within(self, max_error: int) -> "EncodeParams":
        """Return parameters with a maximal error from 0 up, in samples, in place of a bound."""
        first, *others = (
            replace(tools, max_error=max_error) for tools in (self.tools, *self.candidates)
        )
        lam = self.lam if max_error else 0
        return replace(self, lam=lam, tools=first, candidates=tuple(others), bound=None)

    @property
    def finest(self) -> float:
        """Least lambda whose step predicted blocks have; 0 without predicted blocks."""
        return max(
            1 / (DEPENDENT_STEP_SQUARED if tools.dependent else STEP_SQUARED)
            if tools.prediction
            else 0.0
            for tools in (self.tools, *self.candidates)
        )

    @property
    def max_error(self) -> int:
        """Largest maximal error of the sets of tools, in samples."""
        return max(tools.max_error for tools in (self.tools, *self.candidates))

    @property
    def _has_prediction(self) -> bool:
        return any(tools.prediction for tools in (self.tools, *self.candidates))

    def each_alone(self) -> "list[EncodeParams]":
        """Return one set of parameters without candidates for each set of tools to try."""
        return [
            replace(self, tools=tools, candidates=()) for tools in (self.tools, *self.candidates)
        ]

    @property
    def lambda_fixed(self) -> int:
        """Lambda as the search uses it: an integer in 2**-16 squared error per bit."""
        return math.floor(min(float(self.lam), MAX_LAMBDA) * (1 << LAMBDA_FRACTION_BITS) + 0.5)


@dataclass(frozen=True)
class DecodeLimits:
    """What a decoder accepts. It checks sizes before it allocates memory or decodes samples.

    Parameters
    ----------
    max_samples : int
        Most samples, pixels times planes, of a picture or of the part that is read. An mmp file
        counts whole 16x16 fragments of the tiles that are decoded.
    max_dimension : int
        Most pixels of a row or a column.
    max_memory : int or None
        Most bytes of memory that decoding an mmp file may take, by an upper estimate from its
        headers. None for no limit of its own.
    max_seconds : float or None
        Most seconds that decoding an mmp file may take on one thread, by an upper estimate from the
        codings, sizes and bytes of its tiles. None for the default: 1 s, and 10 ms for each byte of
        the file beyond 1000.

    Raises
    ------
    ParameterError
        If a limit is not an integer from 1 to 2**62, or ``max_seconds`` is not above 0.
    """

    max_samples: int = 1 << 26
    max_dimension: int = 1 << 24
    max_memory: int | None = None
    max_seconds: float | None = None

    def __post_init__(self):
        if self.max_seconds is not None:
            check_number("max_seconds", self.max_seconds, "above 0", lambda value: value > 0)
        for field in fields(self):
            if field.name == "max_seconds":
                continue
            limit = getattr(self, field.name)
            if limit is not None or field.default is not None:
                check_int(field.name, limit, 1, 1 << 62)

    def fault(self, name: str, value: int, unit: str) -> str | None:
        """Say that a value is above the limit of this name, and how to raise it; or return None."""
        limit = getattr(self, name)
        if limit is None or value <= limit:
            return None
        option = "--" + name.replace("_", "-")
        return f"{value} {unit}, the limit is {limit}; {name} ({option}) raises it"

    def seconds_for(self, file_size: int) -> float:
        """Return the seconds that decoding a file of ``file_size`` bytes may take."""
        if self.max_seconds is not None:
            return self.max_seconds
        return 1 + max(0, file_size - 1000) / 100

    def fault_of_size(
        self, width: int, height: int, samples: int, unit: str = "samples"
    ) -> str | None:
        """Say that a size in pixels, or its number of samples, is above a limit, or return None."""
        along = self.fault("max_dimension", max(width, height), "pixels in a row or column")
        return along or self.fault("max_samples", samples, unit)


UNLIMITED = DecodeLimits(1 << 62, 1 << 62, max_seconds=1 << 62)
"""For pictures whose parts have limits of their own, and files that this process has made."""
