"""Parameters of an encoder: the tools of a file, and the settings that only an encoder needs."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

from mmpcodec.checks import Bound, check_int, check_range, check_switch, with_bound
from mmpcodec.errors import ParameterError
from mmpcodec.options import (
    AUTO,
    DEFAULTS,
    RATE_MODELS,
    ParamOptions,
    given_of,
    written_out,
)
from mmpcodec.presets import (
    CODING_OPTIONS,
    DEFAULT_EFFORT,
    EYE_TOOLS,
    PRESETS,
    TOOL_OPTIONS,
    for_eye,
    has_effect,
    of_coding,
    preset_of,
    preset_tools,
    presets_where,
    suits,
    with_options,
)
from mmpcodec.quality import (
    LAMBDA_FRACTION_BITS,
    MAX_LAMBDA,
    RADIUS_PER_LAMBDA,
    check_lambda,
    derived_step,
    least_lambda,
)
from mmpcodec.tools import (
    BLOCK_TOOLS,
    TREE_TOOLS,
    BlockTools,
    LosslessTools,
    Tools,
    TreeTools,
)

BEST = "best"
TRIED = ("photo", "text", "mixed", "lossless")
"""Presets that "best" tries, and from which "auto" chooses by a classification of the samples. For
lossless coding both skip those with predicted blocks."""
PSNR, EYE = "psnr", "eye"
DEFAULTS_OF_PARAMS = {name: DEFAULTS[name] for name in ("preset", "effort", "rate_model")}
TUNES = (AUTO, PSNR, EYE)
"""What an encoder aims at: least squared error, or least error that is seen; "auto" chooses by the
kind of picture."""
CALIBRATED, DEEP = "calibrated", "deep"
"""Pictures that are coded without loss unless loss is asked for; see ``EncodeParams.spared``."""
MAX_EFFORT = 9
MAX_THREADS = 1024
MIN_TILE_SIZE = 64
MAX_TILE_SIZE = 1 << 24


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


def _presets(preset: str, lam: float, given: dict[str, Any]) -> list[str]:
    """Return the names of the presets to try: for "auto" and "best" all that suit the options."""
    if not isinstance(preset, str) or preset not in (AUTO, BEST, *PRESETS):
        known = ", ".join((AUTO, BEST, *PRESETS))
        raise ParameterError(f"preset = {preset!r}: must be one of {known}")
    if preset in PRESETS:
        return [preset]
    able = (name for name in TRIED if lam or not isinstance(PRESETS[name], BlockTools))
    names = [name for name in able if suits(PRESETS[name], given)]
    if names:
        return names
    at = "at lambda 0 " if lam == 0 else ""
    asked = ", ".join(f"{name} = {value!r}" for name, value in given.items())
    raise ParameterError(f"preset = {preset!r}: {at}no preset uses all of {asked}")


def _check_effect(preset: str, tools: Tools, given: dict[str, Any]) -> None:
    """Check that all options have an effect on the tools of a named preset."""
    coded = of_coding(tools, given)
    if idle := [name for name in given if not has_effect(name, coded)]:
        able = presets_where(lambda each: has_effect(idle[0], each))
        chosen = [f"{name} = {given[name]}" for name in CODING_OPTIONS if name in given]
        raise ParameterError(
            f"{idle[0]} = {given[idle[0]]!r}: has no effect with "
            f"{' and '.join([f'preset {preset}', *chosen])}; take {able}"
        )


def _palette(given: Any, lam: float, sets: Iterable[Tools]) -> bool:
    """Return the switch that a caller gave, and check that it has an effect."""
    switch = check_switch("palette", given)
    if switch and (lam == 0 or all(tools.lossless for tools in sets)):
        raise ParameterError(
            "palette = True: has no effect on lossless files or with a maximal error: they code "
            "pixels that repeat by themselves; leave it out"
        )
    return switch


def _lossy(tools: Tools) -> bool:
    return isinstance(tools, BlockTools)


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
        Whether tiles may have palettes, where these lower the rate-distortion cost. Tiles without
        loss or with a maximal error have none.
    tune : {"psnr", "eye", "auto"}
        What predicted blocks aim at: least squared error, or least error that is seen. "eye" makes
        steps coarser where a picture is busy, in chroma, and on photographs at high frequencies.
        "auto" is "eye" for pictures of at most 8 bits without a calibration, else "psnr".
    quality : float or None
        Visible quality, from 0 up and below 100, from which the lambda of each picture follows;
        ``lam`` is the usual one then. None if all pictures have ``lam``.
    spared : {"", "calibrated", "deep"}
        Pictures that are coded without loss, whatever lambda is, because nobody asked for loss:
        those of 1 bit or with a calibration, or also those of more than 8 bits. Sets of tools that
        are always lossy are coded as lambda says.
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
        If a value lies outside its range, or lambda is 0 and a set of tools has predicted blocks.
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
    given: frozenset[str] = frozenset(TOOL_OPTIONS)
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
        lossy = [tools for tools in self.sets if _lossy(tools)]
        if self.lam == 0 and lossy:
            preset = preset_of(lossy[0])
            what = f"preset {preset}" if preset else "prediction"
            able = presets_where(lambda tools: not _lossy(tools))
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
        given, bound = with_bound({**DEFAULTS_OF_PARAMS, **given_of(options, ParamOptions)})
        preset, effort, rate_model = (given.pop(name) for name in DEFAULTS_OF_PARAMS)
        levels, palette = given.pop("range", None), given.pop("palette", None)
        tune = check_tune(given.pop("tune", PSNR))
        names = _presets(preset, lam, given)
        effort = check_int("effort", effort, 1, MAX_EFFORT)
        sets = [preset_tools(name, effort) for name in names]
        if tune == EYE:
            sets = [for_eye(tools) for tools in sets]
            if not any(map(_lossy, sets)):
                raise ParameterError(
                    f"tune = {tune!r}: needs predicted blocks and lambda above 0; "
                    f"take {presets_where(_lossy)}"
                )
        if preset in PRESETS:
            _check_effect(preset, sets[0], given)
        first, *others = (with_options(tools, given) for tools in sets)
        palette = (
            preset not in PRESETS if palette is None else _palette(palette, lam, (first, *others))
        )
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

    @property
    def sets(self) -> tuple[Tools, ...]:
        """All sets of tools to try."""
        return (self.tools, *self.candidates)

    def _with(self, sets: Iterable[Tools], **changes: Any) -> "EncodeParams":
        first, *others = sets
        return replace(self, tools=first, candidates=tuple(others), **changes)

    @cached_property
    def coded_tools(self) -> Tools:
        """The tools as the file names them, with open values derived from lambda.

        Open fixed filters are off here: their scales follow from the decoded samples.
        """
        tools = self.tools
        if isinstance(tools, TreeTools):
            return self._coded_trees(tools)
        if isinstance(tools, BlockTools):
            step = derived_step(self.lambda_fixed, dependent=tools.dependent)
            return replace(
                tools,
                step=tools.step or min(step, BLOCK_TOOLS["step"].high),
                fixed_filters=tools.fixed_filters or 0,
                trees=tools.trees and self._coded_trees(tools.trees),
            )
        return tools

    def _coded_trees(self, trees: TreeTools) -> TreeTools:
        """Return tools of trees with the redundancy radius that is derived from lambda."""
        if trees.redundancy_radius is not None:
            return trees
        radius = (RADIUS_PER_LAMBDA * self.lambda_fixed) >> LAMBDA_FRACTION_BITS
        return replace(trees, redundancy_radius=min(radius, TREE_TOOLS["redundancy_radius"].high))

    def at(self, lam: float) -> "EncodeParams":
        """Return these parameters with another lambda; 0 drops the lossy sets of tools."""
        sets = self.sets
        if lam == 0:
            sets = tuple(tools for tools in sets if not _lossy(tools)) or sets
        tune = PSNR if self.tune == AUTO else self.tune
        return self._with(sets, lam=lam, quality=None, tune=tune, spared="")

    def tuned(self, *, measured: bool) -> "EncodeParams":
        """Return parameters whose aim is not "auto".

        Parameters
        ----------
        measured : bool
            Whether samples of the picture are measurements: more than 8 bits, or calibrated; also
            those of 1 bit that are coded without loss.
        """
        if self.tune != AUTO:
            return self
        if measured or not any(map(_lossy, self.sets)):
            return replace(self, tune=PSNR)
        return self._with(map(for_eye, self.sets), tune=EYE)

    def without_loss(self) -> "EncodeParams":
        """Return lossless parameters, or these if nothing but lossy sets of tools is left."""
        lossy = all(map(_lossy, self.sets))
        return self if lossy or self.tune == EYE or self.max_error else self.at(0)

    def within(self, max_error: int) -> "EncodeParams":
        """Return parameters with a maximal error from 0 up, in samples, in place of a bound."""
        sets = (
            replace(tools, max_error=max_error) if isinstance(tools, LosslessTools) else tools
            for tools in self.sets
        )
        return self._with(sets, lam=self.lam if max_error else 0, bound=None)

    @property
    def finest(self) -> float:
        """Least lambda whose step predicted blocks have; 0 without predicted blocks."""
        return max(
            least_lambda(dependent=tools.dependent) if isinstance(tools, BlockTools) else 0.0
            for tools in self.sets
        )

    @property
    def max_error(self) -> int:
        """Largest maximal error of the sets of tools, in samples."""
        return max(tools.max_error for tools in self.sets)

    @property
    def jpeg_form(self) -> int | None:
        """The form that codes JPEG files, which are kept; None if their samples are coded.

        Files are kept where nothing is lost and lossless samples are among the sets of tools.
        """
        forms = [tools.lossless_form for tools in self.sets if isinstance(tools, LosslessTools)]
        exact = self.lam == 0 or all(tools.without_loss for tools in self.sets)
        return forms[0] if forms and exact and not self.max_error and not self.bound else None

    def each_alone(self) -> "list[EncodeParams]":
        """Return one set of parameters without candidates for each set of tools to try."""
        return [replace(self, tools=tools, candidates=()) for tools in self.sets]

    @property
    def lambda_fixed(self) -> int:
        """Lambda as the search uses it: an integer in 2**-16 squared error per bit."""
        return math.floor(min(float(self.lam), MAX_LAMBDA) * (1 << LAMBDA_FRACTION_BITS) + 0.5)
