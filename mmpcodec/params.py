"""Parameters of encoding and decoding, and every check on them.

``Tools`` are normative: they are written into the header and the decoder obeys them.
``EncodeParams`` adds what only the encoder needs. ``DecodeLimits`` guard a decoder against
files that ask for more than the caller wants to give.
"""

import math
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any

from mmpcodec.checks import check_int, check_number, check_switch
from mmpcodec.errors import ParameterError
from mmpcodec.tools import (
    MAX_REDUNDANCY_RADIUS,
    MAX_STEP,
    MAX_TILE_SIZE,
    MIN_TILE_SIZE,
    PRESETS,
    Tools,
)

MAX_MEDIAN_RADIUS = 127
LAMBDA_FRACTION_BITS = 16
# Beyond this the rate outweighs any distortion of a fragment, and int32 costs would overflow.
MAX_LAMBDA = 2.0**20
STEP_SQUARED = 2788
"""Square of the step for lambda = 1: (3.3 * 16)**2."""
MAX_EFFORT = 9
MAX_THREADS = 1024
RATE_MODELS = ("adaptive", "log2")


MAX_QUALITY = 100


def check_lambda(lam: Any) -> int | float:
    """A lambda as a number of Python.

    Raises
    ------
    ParameterError
        When it is not finite, or negative.
    """
    return check_number("lam", lam, "finite and not negative", lambda number: number >= 0)


def check_median_radius(radius: int, name: str = "radius") -> None:
    """Check the radius of a median filter of pictures; ``name`` is what errors call it.

    Raises
    ------
    ParameterError
        When it is no integer from 1 to 127.
    """
    check_int(name, radius, 1, MAX_MEDIAN_RADIUS)


def lambda_of_quality(quality: float) -> float:
    """The lambda that a quality stands for: 4 (2^((100 - quality) / 10) - 1).

    Ten points less double it, nearly: 75 is 18.6, 50 is 124, 0 is 4092; 100 is lossless.

    Raises
    ------
    ParameterError
        When quality is no number from 0 to 100.

    Examples
    --------
    >>> from mmpcodec.params import lambda_of_quality
    >>> [lambda_of_quality(quality) for quality in (0, 50, 80, 90, 100)]
    [4092.0, 124.0, 12.0, 4.0, 0.0]
    """
    number = check_number(
        "quality", quality, f"from 0 to {MAX_QUALITY}", lambda number: 0 <= number <= MAX_QUALITY
    )
    return 4 * (2 ** ((MAX_QUALITY - number) / 10) - 1)


def check_threads(threads: int | None) -> int | None:
    """A number of threads, as an integer of Python; None leaves it to the backend.

    Raises
    ------
    ParameterError
        When it is no integer from 1 to 1024.
    """
    return None if threads is None else check_int("threads", threads, 1, MAX_THREADS)


def check_progress(progress: Any) -> None:
    """Check what is to be told of progress.

    Raises
    ------
    ParameterError
        When it is neither None nor to be called.
    """
    if progress is not None and not callable(progress):
        raise ParameterError(f"progress = {progress!r}: must be None or a callable")


def check_tile_size(size: int) -> int:
    """The height and width of tiles, as an integer of Python; 0 is one tile.

    Raises
    ------
    ParameterError
        When it is neither 0 nor an integer from 64 to 2**24.
    """
    if not isinstance(size, bool) and isinstance(size, Integral) and size == 0:
        return 0
    return check_int("tile_size", size, MIN_TILE_SIZE, MAX_TILE_SIZE)


AUTO = "auto"
RADIUS_PER_LAMBDA = 4
"""Redundancy radius that an encoder takes if it is left open, in lambda."""
TRIED = ("photo", "text", "mixed", "exact")
"""What "auto" tries; those with prediction are left out where nothing may be lost."""


def preset_names(preset: str, lam: float) -> tuple[str, ...]:
    """The presets that a preset's name stands for: "auto" tries all that suit lambda.

    Raises
    ------
    ParameterError
        When there is no such preset.
    """
    if not isinstance(preset, str) or preset not in (AUTO, *PRESETS):
        raise ParameterError(f"preset = {preset!r}: must be one of {', '.join((AUTO, *PRESETS))}")
    if preset == AUTO:
        return tuple(name for name in TRIED if lam or not PRESETS[name].prediction)
    return (preset,)


def _suits(preset: Tools, given: dict[str, Any]) -> bool:
    """Whether a preset has the switches that are given, and all else given has a part in it."""
    switches = {"prediction", "dictionary", "exact"}
    alike = all(
        check_switch(name, given[name]) == getattr(preset, name) for name in switches & given.keys()
    )
    return alike and not (given.keys() - switches) & set(preset.without_part)


@dataclass(frozen=True)
class EncodeParams:
    """Everything that decides the bytes of an encoded picture.

    Parameters
    ----------
    lam : float
        Lagrange multiplier in squared error per bit, any finite number from 0 up;
        0 is lossless. Values above 2**20 act as 2**20.
    tools : Tools
        Normative tools, written into the header.
    rate_model : {"adaptive", "log2"}
        Rate of an index in the search: from the adaptive counts, or log2 of the dictionary size
        as on the GPU of the dissertation. The bytes are coded with the counts either way.
    effort : int
        How hard to search for blocks, 1 (quick) to 9; for prediction only. The format and the
        time to decode are the same.
    candidates : tuple of Tools
        Other sets of tools to try: the file is that of least D + lambda R, of equals the smallest,
        then the first.
    """

    lam: float = 32.0
    tools: Tools = PRESETS["plain"]
    rate_model: str = "adaptive"
    effort: int = 6
    candidates: tuple[Tools, ...] = ()

    def __post_init__(self):
        object.__setattr__(self, "lam", check_lambda(self.lam))
        if not isinstance(self.rate_model, str) or self.rate_model not in RATE_MODELS:
            raise ParameterError(
                f"rate_model = {self.rate_model!r}: must be one of {', '.join(RATE_MODELS)}"
            )
        object.__setattr__(self, "effort", check_int("effort", self.effort, 1, MAX_EFFORT))
        if self.lam == 0 and any(tools.prediction for tools in (self.tools, *self.candidates)):
            raise ParameterError("lam = 0: must be above 0 with prediction, which always loses")

    @classmethod
    def from_options(
        cls,
        lam: float = 32.0,
        *,
        preset: str = AUTO,
        rate_model: str = "adaptive",
        effort: int = 6,
        **tools: Any,
    ) -> "EncodeParams":
        """Parameters from a preset and single tools that override it.

        "auto" leaves out the presets in which one of these tools has no part.

        Raises
        ------
        ParameterError
            For an unknown preset or tool, or a value outside its range.
        """
        lam = check_lambda(lam)
        names = preset_names(preset, lam)
        known = {field.name for field in fields(Tools)}
        unknown = sorted(set(tools) - known)
        if unknown:
            raise ParameterError(
                f"unknown option {unknown[0]!r}: known are preset, rate_model, effort, "
                + ", ".join(sorted(known))
            )
        given = {name: value for name, value in tools.items() if value is not None}
        if preset == AUTO:
            names = tuple(name for name in names if _suits(PRESETS[name], given))
            if not names:
                raise ParameterError(
                    f"preset = 'auto': none at lambda {lam} has a part for all of "
                    + ", ".join(f"{name} = {value!r}" for name, value in given.items())
                )
        first, *others = (replace(PRESETS[name], **given) for name in names)
        return cls(lam, first, rate_model, effort, tuple(others))

    @property
    def coded_tools(self) -> Tools:
        """The tools as a file will name them: what was left open comes from lambda.

        The step is 3.3 times the root of lambda, which was measured to be best, in integers.
        """
        tools = self.tools
        if tools.redundancy_radius is None:
            radius = (RADIUS_PER_LAMBDA * self.lambda_fixed) >> LAMBDA_FRACTION_BITS
            tools = replace(tools, redundancy_radius=min(radius, MAX_REDUNDANCY_RADIUS))
        if tools.prediction and not tools.step:
            step = math.isqrt((self.lambda_fixed * STEP_SQUARED) >> LAMBDA_FRACTION_BITS)
            tools = replace(tools, step=min(max(1, step), MAX_STEP))
        return tools

    def at(self, lam: float) -> "EncodeParams":
        """The same with another lambda; at 0 without those candidates that always lose."""
        ways = (self.tools, *self.candidates)
        if lam == 0:
            ways = tuple(tools for tools in ways if not tools.prediction) or ways
        return replace(self, lam=lam, tools=ways[0], candidates=ways[1:])

    def each_alone(self) -> "list[EncodeParams]":
        """The same for each set of tools among which the cheapest is to be found."""
        return [
            replace(self, tools=tools, candidates=()) for tools in (self.tools, *self.candidates)
        ]

    @property
    def lambda_fixed(self) -> int:
        """The multiplier as the search uses it: an integer in 2**-16 squared error per bit."""
        return math.floor(min(float(self.lam), MAX_LAMBDA) * (1 << LAMBDA_FRACTION_BITS) + 0.5)


@dataclass(frozen=True)
class DecodeLimits:
    """What a decoder may be asked to allocate; checked before anything is allocated.

    Parameters
    ----------
    max_pixels : int
        Most pixels of a picture, counted in whole 16x16 fragments.
    max_dimension : int
        Most pixels in a row or a column.
    """

    max_pixels: int = 1 << 28
    max_dimension: int = 32768

    def __post_init__(self):
        for field in fields(self):
            check_int(field.name, getattr(self, field.name), 1, 1 << 62)
