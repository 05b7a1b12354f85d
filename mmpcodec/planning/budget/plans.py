"""Plans: the choice of one point of each ladder, by one lambda, by greedy steps, or optimally.

Distortions are weighted sums of squared errors. The objective "total" minimises their sum. The
objective "worst" minimises the largest weighted mean squared error of a picture; of plans with
equal largest errors, it takes the smallest sum. Mean squared errors are compared as fractions,
without rounding.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heapify, heappop, heappush

from mmpcodec.codec.distortion import Point, white_in_bytes
from mmpcodec.depth import BYTE
from mmpcodec.errors import Infeasible, LimitExceeded, ParameterError
from mmpcodec.planning.budget.ladder import Ladder
from mmpcodec.solvers.knapsack import Solution, multiple_choice
from mmpcodec.solvers.knapsack.problem import MAX_PROFITS

OBJECTIVES = ("total", "worst")
ENOUGH_DB = 0.01
"""Largest loss against the best plan, in dB, at which one lambda for all is enough."""


@dataclass(frozen=True)
class Plan:
    """A choice of one point of each ladder.

    Parameters
    ----------
    points : tuple of Point
        One point for each ladder.
    bytes : int
        Size of all files together, in bytes.
    distortion : int
        Weighted sum of squared errors.
    worst : Fraction
        Largest weighted mean squared error of a picture.
    psnr : float
        Weighted PSNR of all pixels, in dB.
    worst_psnr : float
        PSNR in dB, without weight, of the picture with the largest weighted mean squared error.
    proven : bool
        Whether it is proven that no plan within the budget is better. Only ``best_plan`` sets it.
    bound_psnr : float
        Upper bound in dB of ``psnr`` for all plans within the budget. Only ``best_plan`` sets it,
        for the objective "total".
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
        """The common lambda of all points; None if they have several."""
        lambdas = {point.lam for point in self.points}
        return lambdas.pop() if len(lambdas) == 1 else None


@dataclass(frozen=True)
class Comparison:
    """The plans for one budget.

    Parameters
    ----------
    one_lambda : Plan or None
        None if no lambda that all ladders have fits into the budget.
    greedy : Plan
    exact : Plan
        The best plan.
    objective : str
    seconds : float
        Time of the solver in seconds.
    """

    one_lambda: Plan | None
    greedy: Plan
    exact: Plan
    objective: str
    seconds: float

    def loss(self, plan: Plan) -> float:
        """Return the loss of a plan against the best plan, in dB of the objective.

        The loss is infinite if only the best plan is lossless.
        """
        if self.objective == "worst":
            ours, best = plan.worst, self.exact.worst
        else:
            ours, best = Fraction(plan.distortion), Fraction(self.exact.distortion)
        if ours == best:
            return 0.0
        return math.inf if best == 0 else 10 * math.log10(ours / best)

    @property
    def one_lambda_is_best(self) -> bool:
        """Whether it is proven that one lambda for all is a best plan."""
        plan, best = self.one_lambda, self.exact
        return (
            plan is not None
            and best.proven
            and plan.distortion == best.distortion
            and (self.objective == "total" or plan.worst == best.worst)
        )

    @property
    def one_lambda_is_enough(self) -> bool:
        """Whether one lambda for all is within 0.01 dB of a proven best plan."""
        if self.one_lambda is None or not self.exact.proven:
            return False
        return self.one_lambda_is_best or self.loss(self.one_lambda) <= ENOUGH_DB


def least_bytes(ladders: Sequence[Ladder]) -> int:
    """Return the size of the smallest files of all ladders together, in bytes."""
    return sum(min(point.bytes for point in ladder.points) for ladder in ladders)


def check_weights(
    weights: Sequence[int], pixels: Sequence[int], depths: Sequence[int] | None = None
) -> None:
    """Check that weighted squared errors stay within the range of the solver.

    Parameters
    ----------
    weights : sequence of int
        Weights of the pictures, at least 0.
    pixels : sequence of int
        Number of pixels of each picture.
    depths : sequence of int or None
        Bits per sample of each picture; None means 8.

    Raises
    ------
    ParameterError
        When the sum of weights times pixels is too large.
    """
    largest = max(math.ceil(white_in_bytes(depth) ** 2) for depth in depths or (BYTE,))
    most = MAX_PROFITS // largest
    total = sum(weight * count for weight, count in zip(weights, pixels, strict=True))
    if total > most:
        raise ParameterError(
            f"weights in lowest terms times pixels add up to {total}: must be at most {most}; "
            "weights of fewer digits have a smaller sum"
        )


def compare(
    ladders: Sequence[Ladder],
    total: int,
    *,
    objective: str = "total",
    time_limit: float | None = None,
    backend: str = "auto",
) -> Comparison:
    """Return the three plans for a budget.

    Parameters
    ----------
    ladders : sequence of Ladder
        At least one ladder; at least one has a positive weight.
    total : int
        The budget: largest size of all files together, in bytes.
    objective : {"total", "worst"}
    time_limit : float or None
        Time limit of the solver in seconds.
    backend : str
        Backend of the solver.

    Raises
    ------
    Infeasible
        When the smallest files together exceed the budget. The message names their size.
    ParameterError
        When an argument is invalid.
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
    """Return the plan of the smallest lambda whose files fit together; None if there is none.

    See ``compare`` for parameters and errors.
    """
    _check(ladders, total)
    at = [{point.lam: point for point in ladder.points} for ladder in ladders]
    for lam in sorted(set(at[0]).intersection(*at[1:])):
        points = [points[lam] for points in at]
        if sum(point.bytes for point in points) <= total:
            return plan_of(ladders, points)
    return None


def greedy_fill(ladders: Sequence[Ladder], total: int, *, objective: str = "total") -> Plan:
    """Improve the plan of one lambda, or of the smallest files, by single steps while they fit.

    A step replaces the point of a picture by the smallest file of less distortion. "total" takes
    the step that saves the most distortion per byte among the steps that fit. "worst" takes the
    step of the picture with the largest error. Of equal steps, the first picture's is taken. See
    ``compare`` for parameters and errors.
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
            # Steps to smaller files come first. After them the room shrinks, so no later try fits.
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
    """Return the best plan within a budget, and the time of the solver in seconds.

    The problem is a multiple-choice knapsack in bytes. If time or memory do not suffice, the plan
    is not proven: it is the best known plan, at least as good as the plan of ``greedy_fill``. See
    ``compare`` for parameters and errors.
    """
    _check(ladders, total, objective)
    kept = list(ladders) if objective == "total" else _below_worst(ladders, total)
    # The solver takes the first of equally good points, so the smallest file comes first.
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
    bound = psnr_of_all(ladders, least) if objective == "total" else math.inf
    return replace(best, proven=proven, bound_psnr=bound), solution.seconds


def plan_of(ladders: Sequence[Ladder], points: Sequence[Point]) -> Plan:
    """Return the plan of the given points, one for each ladder."""
    pairs = list(zip(ladders, points, strict=True))
    distortion = sum(ladder.weight * point.distortion for ladder, point in pairs)
    weakest, its_point = max(pairs, key=lambda pair: _error(*pair))
    return Plan(
        tuple(points),
        sum(point.bytes for point in points),
        distortion,
        _error(weakest, its_point),
        psnr_of_all(ladders, distortion),
        weakest.psnr(its_point),
    )


def psnr_of_all(ladders: Sequence[Ladder], distortion: float) -> float:
    """Return the weighted PSNR of all pixels in dB, for a weighted sum of squared errors.

    The square of the peak is the weighted mean of its squares over all pixels.
    """
    power = sum(each.weight * each.pixels * white_in_bytes(each.depth) ** 2 for each in ladders)
    return 10 * math.log10(power / distortion) if distortion > 0 else math.inf


def psnr_of_worst(ladders: Sequence[Ladder], error: Fraction) -> float:
    """Return the PSNR in dB of a mean squared error, for the objective "worst".

    The square of the peak is the mean of its squares over all pixels.
    """
    whole = [replace(each, weight=1) for each in ladders]
    return psnr_of_all(whole, float(error) * sum(each.pixels for each in ladders))


def psnr_of_plan(ladders: Sequence[Ladder], plan: Plan, objective: str) -> float:
    """Return the PSNR in dB that an objective maximises."""
    return plan.psnr if objective == "total" else psnr_of_worst(ladders, plan.worst)


def _solve(groups: list, total: int, time_limit: float | None, backend: str) -> Solution:
    try:
        return multiple_choice(groups, total, time_limit=time_limit, backend=backend)
    except LimitExceeded:
        # With a time limit of 0, the solver needs no table and still returns a bound.
        return multiple_choice(groups, total, time_limit=0, backend=backend)


def _below_worst(ladders: Sequence[Ladder], total: int) -> list[Ladder]:
    """Return the ladders without points whose error exceeds the smallest feasible largest error."""
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
    """Return the weighted mean squared error of a point."""
    return Fraction(ladder.weight * point.distortion, ladder.pixels)


def _worth(ladder: Ladder, point: Point) -> Fraction | float:
    """Return the weighted distortion that the next step saves per byte.

    It is infinite if the file does not grow, and 0 if there is no step.
    """
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
    """Return a sort key: smaller files first, then less distortion."""
    return point.bytes, point.distortion


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
