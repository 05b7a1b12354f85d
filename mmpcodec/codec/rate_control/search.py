"""The search for the lambda that keeps a target.

It knows the codec as a function that encodes one picture with several sets of tools. It starts at
the lambda that a forecast names, comes near by passes of little effort, keeps the sets of tools
that can still win, and ends with passes at the effort that was asked for. No encoding is made
twice, and the file is the best of all that keep the target.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mmpcodec.codec.colour import layout_of, split
from mmpcodec.codec.distortion import Point, psnr_of
from mmpcodec.codec.encoding import Pass
from mmpcodec.codec.levels import Levels
from mmpcodec.codec.rate_control.bracketing import Tried, approach
from mmpcodec.codec.rate_control.forecast import Forecast
from mmpcodec.codec.rate_control.quality import ScoreForecast, seen_areas
from mmpcodec.codec.rate_control.targets import (
    LOSSLESS_SCORE,
    MAX_BYTES,
    SSIMULACRA2,
    Target,
    check_unbounded,
)
from mmpcodec.codec.weighting.areas import areas_in
from mmpcodec.depth import coded_depth
from mmpcodec.errors import Infeasible
from mmpcodec.format.layouts import weight_of
from mmpcodec.params import EncodeParams
from mmpcodec.presets import presets_where
from mmpcodec.quality import LEAST_LAMBDA, MAX_LAMBDA
from mmpcodec.samples import form_of
from mmpcodec.tools import BlockTools

if TYPE_CHECKING:
    from mmpcodec.codec.encoding import Encoding

RESOLUTION = 1 / 128
"""Least difference of the logarithms of two lambdas between which another is tried."""
MOST_SMALL = 1 << 16
"""Number of samples below which a picture is small."""
QUICK_EFFORT = 1
RATE_GAIN = {1: 0.0, 2: 0.03, 3: 0.065, 4: 0.075, 5: 0.085, 6: 0.105, 7: 0.11, 8: 0.115, 9: 0.125}
"""Typical part of the rate that each effort saves against QUICK_EFFORT, at equal distortion."""
QUICK_MARGIN = 1.1
"""Candidates of at most this factor of the least cost at QUICK_EFFORT are kept."""
FULL_MARGIN = 1.0
"""The factor at full effort: a set of tools that codes no layer there is not tried again."""
LOSSLESS_MARGIN = 1.1
"""Factor by which the lower bound of the bytes of a lossless file may be too high."""
SIZE_WINDOW = (-0.02, 0.0)
"""Accepted logarithm of bytes over target: files up to 2 % smaller."""
PSNR_WINDOW = (-0.05, 0.0)
"""Accepted dB below the target: a PSNR up to 0.05 dB higher."""
SCORE_WINDOW = (-0.5, 0.0)
"""Accepted points below the target: a score up to 0.5 points higher."""
LEAST_SLOPE = -5.0
"""Flattest assumed slope of excess over the logarithm of lambda, in heights of the window."""
QUICK_WINDOWS = 5.0
"""Distance from the target at which the search at QUICK_EFFORT ends, in heights of the window."""


@dataclass(frozen=True)
class _SizeGoal:
    """The file of the least distortion among those of at most ``limit`` bytes."""

    limit: int

    direction = 1
    """1 if a larger lambda lowers the excess, else -1."""
    window = SIZE_WINDOW
    gain_of_rate = 0.5
    """Drop of the excess when more effort saves a part of the rate, divided by this part. More
    effort also lowers the distortion, which takes a share of the gain."""
    only_lossless = False
    """Whether no lossy file keeps the target."""

    def excess(self, point: Point) -> float:
        """Return how far a point misses the target; at most 0 where it keeps the target."""
        # The logarithm needs bytes above 0, so half a byte stands for 0.
        return math.log(point.bytes / (self.limit or 0.5))

    def rank(self, point: Point) -> tuple[int, int]:
        """Sort key of points that keep the target, best first."""
        return point.distortion, point.bytes

    def room(self, point: Point) -> int:
        """Return the largest size in bytes of a lossless file that is better than the point."""
        return self.limit

    def nearest(self, points: Sequence[Point]) -> str:
        """Return the nearest point, in words, where no point keeps the target."""
        point = min(points, key=lambda point: point.bytes)
        return f"the smallest file, at lambda {point.lam:g}, has {point.bytes} bytes"


@dataclass(frozen=True)
class _PsnrGoal:
    """The smallest file of at least ``least`` dB; attributes and methods as in ``_SizeGoal``."""

    least: float
    pixels: int
    depth: int

    direction = -1
    window = PSNR_WINDOW
    gain_of_rate = 2.5
    only_lossless = False

    def excess(self, point: Point) -> float:
        # Half a squared level stands for no error, so that differences are finite.
        excess = self.least - psnr_of(max(point.distortion, 0.5), self.pixels, self.depth)
        return excess if point.distortion else min(excess, -1.0)

    def rank(self, point: Point) -> tuple[int, int]:
        return point.bytes, point.distortion

    def room(self, point: Point) -> int:
        return point.bytes

    def nearest(self, points: Sequence[Point]) -> str:
        point = min(points, key=lambda point: point.distortion)
        psnr = psnr_of(point.distortion, self.pixels, self.depth)
        return f"the best file, at lambda {point.lam:g}, has {psnr:.2f} dB"


@dataclass(frozen=True)
class _ScoreGoal:
    """The smallest file of a SSIMULACRA2 of at least ``least``; the rest as in ``_SizeGoal``."""

    least: float

    direction = -1
    window = SCORE_WINDOW
    gain_of_rate = 10.0

    @property
    def only_lossless(self) -> bool:
        return self.least == LOSSLESS_SCORE

    def excess(self, point: Point) -> float:
        assert point.score is not None
        excess = self.least - point.score
        # A smaller lossy file may keep the target too.
        return excess if point.distortion else min(excess, -1.0)

    def rank(self, point: Point) -> tuple[int, int]:
        return point.bytes, point.distortion

    def room(self, point: Point) -> int:
        return point.bytes

    def nearest(self, points: Sequence[Point]) -> str:
        point = min(points, key=self.excess)
        return f"the best file, at lambda {point.lam:g}, has {point.score:.2f}"


def _goal(target: Target, pixels: int, depth: int) -> _SizeGoal | _PsnrGoal | _ScoreGoal:
    """Return the target in bytes, dB or points of one picture."""
    if target.name == SSIMULACRA2:
        return _ScoreGoal(target.value)
    if target.name == "psnr":
        return _PsnrGoal(target.value, pixels, depth)
    limit = target.value if target.name == "size" else target.value * pixels / 8
    return _SizeGoal(math.floor(min(limit, MAX_BYTES)))


@dataclass(frozen=True)
class Attempt:
    """A picture encoded with one lambda.

    Parameters
    ----------
    encoding : Encoding
        File of the cheapest sets of tools.
    distortion : int
        See ``Point``.
    costs : tuple of float
        Rate-distortion cost of each set of tools alone.
    used : frozenset of int
        Numbers of the sets of tools that code a layer.
    score : float or None
        SSIMULACRA2; None if the target is not a score.
    """

    encoding: "Encoding"
    distortion: int
    costs: tuple[float, ...]
    used: frozenset[int]
    score: float | None = None


Encoded = Callable[[Sequence[EncodeParams]], Attempt]


def reach(
    target: Target,
    samples: np.ndarray,
    levels: Levels,
    candidates: Sequence[EncodeParams],
    encoded: Encoded,
    *,
    on_pass: Callable[[Pass], Any] | None = None,
    picture: int = 0,
) -> "Encoding":
    """Return the best file of a picture, among those tried, that keeps a target.

    Parameters
    ----------
    target : Target
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        Coded levels of the picture.
    levels : Levels
    candidates : sequence of EncodeParams
        Candidates, one set of tools each; their lambda is ignored.
    encoded : callable
        ``encoded(candidates)`` encodes the picture with candidates of one lambda and returns an
        ``Attempt``.
    on_pass : callable or None
        ``on_pass(Pass)`` is called after each pass.
    picture : int
        Number of the picture in its batch, for ``Pass``.

    Raises
    ------
    ParameterError
        When a candidate has a maximal error.
    Infeasible
        When no lambda keeps the target. The message names the nearest file.
    MmpError
        The errors of ``encoded``.
    """
    bound = max(candidate.tools.max_error for candidate in candidates)
    check_unbounded(f"target_{target.name}", bound)
    height, width = samples.shape[:2]
    goal = _goal(target, height * width, levels.depth)
    search = _Search(goal, samples, levels, candidates, encoded, on_pass, picture)
    search.run()
    if search.best is None:
        nearest = search.goal.nearest(search.points())
        raise Infeasible(f"{target}: {nearest}{_advice(target, candidates)}")
    point, encoding = search.best
    return replace(encoding, passes=tuple(search.passes), ssimulacra2=point.score)


def expected_lambda(
    target: Target, samples: np.ndarray, levels: Levels, candidates: Sequence[EncodeParams]
) -> float:
    """Return the lambda at which a target is predicted to be reached; see ``reach``."""

    def encoded(candidates: Sequence[EncodeParams]) -> Attempt:
        raise NotImplementedError

    goal = _goal(target, math.prod(samples.shape[:2]), levels.depth)
    return _Search(goal, samples, levels, candidates, encoded, None, 0).expected_lambda()


def _advice(target: Target, candidates: Sequence[EncodeParams]) -> str:
    """Return what a message adds if other presets come nearer to the target, or ""."""
    if target.name in ("psnr", SSIMULACRA2):
        return "; preset lossless is lossless"
    if all(candidate.tools.lossless for candidate in candidates):
        able = presets_where(lambda tools: not tools.lossless)
        return f"; {able} makes smaller files"
    return ""


class _Search:
    """The search for the lambda of one picture; see ``reach`` for the arguments."""

    def __init__(
        self,
        goal: _SizeGoal | _PsnrGoal | _ScoreGoal,
        samples: np.ndarray,
        levels: Levels,
        candidates: Sequence[EncodeParams],
        encoded: Encoded,
        on_pass: Callable[[Pass], Any] | None,
        picture: int,
    ):
        self.goal = goal
        self.passes: list[Pass] = []
        self.best: tuple[Point, Encoding] | None = None
        self._samples = samples
        self._levels = levels
        self._effort = candidates[0].effort
        self._candidates = list(candidates)
        self._lossless = [
            candidate for candidate in candidates if not isinstance(candidate.tools, BlockTools)
        ]
        self._encoded = encoded
        self._on_pass = on_pass
        self._picture = picture
        self._made: dict[tuple[float, int], tuple[Point, dict[EncodeParams, tuple[float, bool]]]]
        self._made = {}

    def points(self) -> list[Point]:
        """Return the points of all passes at full effort."""
        return [point for (_, effort), (point, _) in self._made.items() if effort == self._effort]

    @property
    def _bounds(self) -> tuple[float, float]:
        """The places of the largest and the least lambda, in ascending order."""
        low, high = sorted(self.goal.direction * math.log(x) for x in (LEAST_LAMBDA, MAX_LAMBDA))
        return low, high

    def expected_lambda(self) -> float:
        """Return the lambda of the predicted place of the target."""
        return self._lambda(self._forecast(self._bounds)[0])

    def run(self) -> None:
        goal, bounds = self.goal, self._bounds
        bottom, top = goal.window
        if goal.only_lossless and self._lossless:
            self._point(0.0, self._effort)
            return
        start, slope = self._forecast(bounds)
        quick = (
            QUICK_EFFORT
            if any(isinstance(candidate.tools, BlockTools) for candidate in self._candidates)
            else self._effort
        )
        around = QUICK_WINDOWS * (top - bottom)
        tried = approach(
            lambda x: self._excess(x, quick),
            start,
            slope=slope,
            bounds=bounds,
            window=(-around, around),
            resolution=8 * RESOLUTION,
        )
        if self._is_perfect():
            return
        near = min(tried, key=lambda place: abs(place.y))
        self._narrow(self._lambda(near.x), quick, QUICK_MARGIN)
        slope = _slope(tried, slope)
        gain = RATE_GAIN[self._effort] if quick < self._effort else 0.0
        expected = near.y - goal.gain_of_rate * gain
        missing = 0.0 if bottom <= expected <= top else (bottom + top) / 2 - expected
        approach(
            lambda x: self._excess(x, self._effort, narrow=True),
            near.x + missing / slope,
            slope=slope,
            bounds=bounds,
            window=goal.window,
            resolution=RESOLUTION,
            known=tried if quick == self._effort else (),
        )
        if self.best is None and self._lossless:
            self._point(0.0, self._effort)

    def _forecast(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the predicted place of the target, and the slope of the excess there."""
        expected = self._expected()

        def excess(x: float) -> float:
            return self.goal.excess(expected(self._lambda(x)))

        low, high = bounds
        while high - low > 2 * RESOLUTION:
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        step = 0.25
        rise = (excess(low + step) - excess(low - step)) / (2 * step)
        return low, min(rise, LEAST_SLOPE * (self.goal.window[1] - self.goal.window[0]))

    def _expected(self) -> Callable[[float], Point]:
        """Return what predicts the point of a lambda."""
        if not isinstance(self.goal, _ScoreGoal):
            bits, scale = self._levels.bits, self._levels.scale**2
            form, layout = form_of(self._samples), layout_of(self._samples, 1.0)
            planes = split(self._samples, bits, layout)
            weights = [weight_of(form, layout, layer) for layer in range(len(planes))]
            forecast = Forecast(planes, weights, coded_depth(bits))
            if scale == 1:
                return forecast.at

            def expected(lam: float) -> Point:
                found = forecast.at(lam * scale)
                return Point(lam, found.bytes, math.ceil(found.distortion / scale))

            return expected
        height, width = self._samples.shape[:2]
        areas = [self._samples[area] for area in areas_in(height, width)]
        params = self._candidates[0]
        seen = seen_areas(areas)
        shown = [self._levels.shown_colours(self._levels.samples(area)) for area in seen]
        depth = shown[0][1] if shown else self._levels.depth
        scores = ScoreForecast([area for area, _ in shown], depth, params.tune, height * width)
        # Nothing is known of the bytes, and there is some distortion.
        return lambda lam: Point(lam, 0, 1, scores.at(lam))

    def _lambda(self, x: float) -> float:
        """Return the lambda of a place, rounded to four digits."""
        return min(float(f"{math.exp(self.goal.direction * x):.4g}"), MAX_LAMBDA)

    def _excess(self, x: float, effort: int, narrow: bool = False) -> float:
        lam = self._lambda(x)
        point = self._point(lam, effort)
        if narrow:
            self._narrow(lam, effort, FULL_MARGIN)
        # A lossless file is one of those that lambda chose from, so it costs at least as much.
        least = point.cost / lam / 8
        if self._lossless and least <= LOSSLESS_MARGIN * self.goal.room(point):
            self._point(0.0, self._effort)
        if self._is_perfect():
            return sum(self.goal.window) / 2
        return self.goal.excess(point)

    def _is_perfect(self) -> bool:
        """Return whether no file can be better than the best so far."""
        return self.best is not None and self.goal.rank(self.best[0])[0] == 0

    def _point(self, lam: float, effort: int) -> Point:
        """Return the point of a lambda and an effort; a pass computes it if it is not known."""
        if (lam, effort) in self._made:
            return self._made[lam, effort][0]
        candidates = self._at(lam, effort)
        trial = self._encoded(candidates)
        point = Point(lam, len(trial.encoding.data), trial.distortion, trial.score)
        self._made[lam, effort] = (
            point,
            {
                candidate: (cost, number in trial.used)
                for number, (candidate, cost) in enumerate(
                    zip(self._candidates_at(lam), trial.costs, strict=True)
                )
            },
        )
        if effort == self._effort and self.goal.excess(point) <= 0:
            rank = self.goal.rank
            if self.best is None or rank(point) < rank(self.best[0]):
                self.best = point, trial.encoding
        height, width = self._samples.shape[:2]
        psnr = psnr_of(point.distortion, height * width, self._levels.depth)
        self.passes.append(Pass(lam, effort, point.bytes, psnr, self._picture, point.score))
        if self._on_pass is not None:
            self._on_pass(self.passes[-1])
        return point

    def _candidates_at(self, lam: float) -> list[EncodeParams]:
        return self._candidates if lam else self._lossless

    def _at(self, lam: float, effort: int) -> list[EncodeParams]:
        """Return the candidates at a lambda. Effort matters only with prediction.

        The forecast may be far off on a small picture, so all candidates are tried on it.
        """
        return [
            replace(
                candidate,
                lam=lam,
                effort=effort if isinstance(candidate.tools, BlockTools) else self._effort,
                classifies=candidate.classifies and self._samples.size >= MOST_SMALL,
            )
            for candidate in self._candidates_at(lam)
        ]

    def _narrow(self, lam: float, effort: int, margin: float) -> None:
        """Keep the candidates that code a layer or cost at most ``margin`` times the least.

        Lossless samples do not depend on lambda and are tried at lambda 0 only.
        """
        found = self._made[lam, effort][1]
        candidates = [
            candidate for candidate in self._candidates if not candidate.tools.lossless
        ] or self._candidates
        most = margin * min(found[candidate][0] for candidate in candidates)
        self._candidates = [
            candidate
            for candidate in candidates
            if found[candidate][1] or found[candidate][0] <= most
        ]


def _slope(tried: Sequence[Tried], slope: float) -> float:
    """Return the slope between the last two places, within a factor of 2 of the assumed one."""
    if len(tried) < 2 or tried[-1].x == tried[-2].x:
        return slope
    measured = (tried[-1].y - tried[-2].y) / (tried[-1].x - tried[-2].x)
    return min(max(measured, 2 * slope), slope / 2)
