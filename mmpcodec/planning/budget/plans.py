"""Which point of each ladder: one lambda for all, greedy steps from there, and the best there is.

Distortions are weighted sums of squared errors. With the objective "total" their sum is to be
small; with "worst" the largest weighted mean squared error of a picture, and of what is equal
there, the sum. Mean squared errors are compared as fractions, so nothing is rounded.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heapify, heappop, heappush

from mmpcodec.codec.distortion import WHITE, Point, psnr_of
from mmpcodec.errors import Infeasible, LimitExceeded, ParameterError
from mmpcodec.planning.budget.ladder import Ladder
from mmpcodec.solvers.knapsack import Solution, multiple_choice
from mmpcodec.solvers.knapsack.problem import MAX_PROFITS

OBJECTIVES = ("total", "worst")
ENOUGH_DB = 0.01
"""Nearer to the best plan than this, one lambda for all is enough."""


@dataclass(frozen=True)
class Plan:
    """A point of each ladder.

    Parameters
    ----------
    points : tuple of Point
        In the order of the ladders.
    bytes : int
        Of all files.
    distortion : int
        Weighted sum of squared errors.
    worst : Fraction
        Largest weighted mean squared error of a picture.
    psnr : float
        In dB, of all pixels, weighted.
    worst_psnr : float
        In dB, of the picture with the largest weighted mean squared error; without the weight.
    proven : bool
        Whether no plan within the budget is better; only an exact plan says so.
    bound_psnr : float
        No plan within the budget has more, in dB: of the exact plan with the objective "total".
    """

    points: tuple[Point, ...]
    bytes: int
    distortion: int
    worst: Fraction
    psnr: float
    worst_psnr: float
    proven: bool = False
    bound_psnr: float = math.inf

    @property
    def lam(self) -> float | None:
        """The lambda of all points, None where they have several."""
        lambdas = {point.lam for point in self.points}
        return lambdas.pop() if len(lambdas) == 1 else None


@dataclass(frozen=True)
class Comparison:
    """The plans for one budget.

    Parameters
    ----------
    one_lambda : Plan or None
        None where no lambda of all ladders fits.
    greedy : Plan
    exact : Plan
    objective : str
    seconds : float
        That the solver took.
    """

    one_lambda: Plan | None
    greedy: Plan
    exact: Plan
    objective: str
    seconds: float

    def loss(self, plan: Plan) -> float:
        """What a plan is behind the exact one, in dB of the objective; may be infinite."""
        if self.objective == "worst":
            ours, best = plan.worst, self.exact.worst
        else:
            ours, best = Fraction(plan.distortion), Fraction(self.exact.distortion)
        if ours == best:
            return 0.0
        return math.inf if best == 0 else 10 * math.log10(ours / best)

    @property
    def one_lambda_is_best(self) -> bool:
        """Whether one lambda for all is proven to be the best that there is."""
        plan, best = self.one_lambda, self.exact
        return (
            plan is not None
            and best.proven
            and plan.distortion == best.distortion
            and (self.objective == "total" or plan.worst == best.worst)
        )

    @property
    def one_lambda_is_enough(self) -> bool:
        """Whether one lambda for all is the best, or within 0.01 dB of a proven best."""
        if self.one_lambda is None or not self.exact.proven:
            return False
        return self.one_lambda_is_best or self.loss(self.one_lambda) <= ENOUGH_DB


def least_bytes(ladders: Sequence[Ladder]) -> int:
    """The smallest total."""
    return sum(min(point.bytes for point in ladder.points) for ladder in ladders)


def check_weights(weights: Sequence[int], pixels: Sequence[int]) -> None:
    """Refuse weights with which squared errors may add up to more than the solver takes.

    Parameters
    ----------
    weights : sequence of int
        Of pictures, from 0 up.
    pixels : sequence of int
        Of each.

    Raises
    ------
    ParameterError
    """
    most = MAX_PROFITS // WHITE**2
    total = sum(weight * count for weight, count in zip(weights, pixels, strict=True))
    if total > most:
        raise ParameterError(
            f"weights in lowest terms times pixels add up to {total}: must be at most {most}; "
            "with fewer digits they are less"
        )


def compare(
    ladders: Sequence[Ladder],
    total: int,
    *,
    objective: str = "total",
    time_limit: float | None = None,
    backend: str = "auto",
) -> Comparison:
    """All plans for a budget.

    Parameters
    ----------
    ladders : sequence of Ladder
        At least one; at least one with a weight above 0.
    total : int
        Bytes of all files together, at most.
    objective : {"total", "worst"}
    time_limit : float or None
        Seconds for the solver.
    backend : str
        Of the solver.

    Raises
    ------
    Infeasible
        When the smallest files together are larger; the message says how large.
    ParameterError
        When an argument is not one of those above.
    """
    found = best_plan(ladders, total, objective=objective, time_limit=time_limit, backend=backend)
    return Comparison(
        one_lambda(ladders, total),
        greedy_fill(ladders, total, objective=objective),
        found[0],
        objective,
        found[1],
    )


def one_lambda(ladders: Sequence[Ladder], total: int) -> Plan | None:
    """The smallest lambda of all ladders whose files fit, None where there is none.

    Errors are those of ``compare``.
    """
    _check(ladders, total)
    at = [{point.lam: point for point in ladder.points} for ladder in ladders]
    for lam in sorted(set(at[0]).intersection(*at[1:])):
        points = [points[lam] for points in at]
        if sum(point.bytes for point in points) <= total:
            return plan_of(ladders, points)
    return None


def greedy_fill(ladders: Sequence[Ladder], total: int, *, objective: str = "total") -> Plan:
    """From one lambda for all, or else the smallest files, single steps as long as one fits.

    A step takes a picture to its next better point, the smallest file of less distortion. With
    "total" it is the one of the most distortion a byte of those that fit, with "worst" that of the
    worst picture. Of equal ones it is that of the first picture. Errors are those of ``compare``.
    """
    _check(ladders, total, objective)
    start = one_lambda(ladders, total)
    points = list(start.points) if start else [_smallest(ladder) for ladder in ladders]
    room = total - sum(point.bytes for point in points)
    rank = _worth if objective == "total" else _error
    steps = [
        (-rank(ladder, point), index)
        for index, (ladder, point) in enumerate(zip(ladders, points, strict=True))
    ]
    heapify(steps)
    while steps:
        _, index = heappop(steps)
        ladder, point = ladders[index], points[index]
        step = _next_better(ladder, point)
        if step is None or not ladder.weight or step.bytes - point.bytes > room:
            # Room only shrinks once no file becomes smaller, and such steps come first.
            if objective == "worst":
                break
            continue
        room -= step.bytes - point.bytes
        points[index] = step
        heappush(steps, (-rank(ladder, step), index))
    return plan_of(ladders, points)


def best_plan(
    ladders: Sequence[Ladder],
    total: int,
    *,
    objective: str = "total",
    time_limit: float | None = None,
    backend: str = "auto",
) -> tuple[Plan, float]:
    """The best plan within a budget, and the seconds that the solver took.

    It is a multiple-choice knapsack in bytes. Where time or memory do not suffice, the plan is the
    best one known, at least as good as ``greedy_fill``, and not proven. Parameters and errors are
    those of ``compare``.
    """
    _check(ladders, total, objective)
    kept = list(ladders) if objective == "total" else _below_worst(ladders, total)
    # Of points that are equally good the solver takes the first.
    kept = [replace(each, points=tuple(sorted(each.points, key=_size))) for each in kept]
    highest = [max(point.distortion for point in ladder.points) for ladder in kept]
    groups = [
        (
            [ladder.weight * (high - point.distortion) for point in ladder.points],
            [point.bytes for point in ladder.points],
        )
        for ladder, high in zip(kept, highest, strict=True)
    ]
    solution = _solve(groups, total, time_limit, backend)
    none_saved = sum(ladder.weight * high for ladder, high in zip(kept, highest, strict=True))
    best = plan_of(ladders, greedy_fill(kept, total).points)
    if solution.value is not None:
        choices = zip(kept, solution.items, strict=True)
        solved = plan_of(ladders, [ladder.points[choice] for ladder, choice in choices])
        best = min(solved, best, key=lambda plan: plan.distortion)
    assert solution.bound is not None
    least = max(none_saved - solution.bound, 0)
    proven = best.distortion == least
    bound = psnr_of(least, _samples(ladders)) if objective == "total" else math.inf
    return replace(best, proven=proven, bound_psnr=bound), solution.seconds


def plan_of(ladders: Sequence[Ladder], points: Sequence[Point]) -> Plan:
    """The plan with these points."""
    pairs = list(zip(ladders, points, strict=True))
    distortion = sum(ladder.weight * point.distortion for ladder, point in pairs)
    weakest, its_point = max(pairs, key=lambda pair: _error(*pair))
    return Plan(
        tuple(points),
        sum(point.bytes for point in points),
        distortion,
        _error(weakest, its_point),
        psnr_of(distortion, _samples(ladders)),
        psnr_of(its_point.distortion, weakest.pixels),
    )


def _solve(groups: list, total: int, time_limit: float | None, backend: str) -> Solution:
    try:
        return multiple_choice(groups, total, time_limit=time_limit, backend=backend)
    except LimitExceeded:
        # Without time there is no table, and still a bound.
        return multiple_choice(groups, total, time_limit=0, backend=backend)


def _below_worst(ladders: Sequence[Ladder], total: int) -> list[Ladder]:
    """The ladders without what is worse than the best worst picture must be."""
    errors = sorted({_error(ladder, point) for ladder in ladders for point in ladder.points})
    low, high = 0, len(errors) - 1
    while low < high:
        middle = (low + high) // 2
        kept = _up_to(ladders, errors[middle])
        if kept is not None and least_bytes(kept) <= total:
            high = middle
        else:
            low = middle + 1
    kept = _up_to(ladders, errors[low])
    assert kept is not None
    return kept


def _up_to(ladders: Sequence[Ladder], error: Fraction) -> list[Ladder] | None:
    kept = []
    for ladder in ladders:
        points = tuple(point for point in ladder.points if _error(ladder, point) <= error)
        if not points:
            return None
        kept.append(replace(ladder, points=points))
    return kept


def _error(ladder: Ladder, point: Point) -> Fraction:
    """Weighted mean squared error."""
    return Fraction(ladder.weight * point.distortion, ladder.pixels)


def _worth(ladder: Ladder, point: Point) -> Fraction | float:
    """Distortion that the next step saves for a byte; infinite where it costs none."""
    step = _next_better(ladder, point)
    if step is None:
        return 0.0
    cost = step.bytes - point.bytes
    gain = ladder.weight * (point.distortion - step.distortion)
    return Fraction(gain, cost) if cost > 0 else math.inf


def _next_better(ladder: Ladder, point: Point) -> Point | None:
    better = [other for other in ladder.points if other.distortion < point.distortion]
    return min(better, key=_size, default=None)


def _smallest(ladder: Ladder) -> Point:
    return min(ladder.points, key=_size)


def _size(point: Point) -> tuple[int, int]:
    """By which smaller files come first, and better ones of a size."""
    return point.bytes, point.distortion


def _samples(ladders: Sequence[Ladder]) -> int:
    """Pixels, weighted."""
    return sum(ladder.weight * ladder.pixels for ladder in ladders)


def _check(ladders: Sequence[Ladder], total: int, objective: str = "total") -> None:
    if objective not in OBJECTIVES:
        raise ParameterError(f"objective = {objective!r}: must be one of {', '.join(OBJECTIVES)}")
    if not ladders:
        raise ParameterError("ladders = []: must be one or more")
    if min(ladder.weight for ladder in ladders) < 0 or not any(each.weight for each in ladders):
        raise ParameterError("weights: must be from 0 up, and one above 0")
    least = least_bytes(ladders)
    if least > total:
        raise Infeasible(
            f"total = {total} bytes: the smallest files of the ladder need {least} bytes together"
        )
