"""The best quality for every budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.planning.budget.ladder import Ladder
from mmpcodec.planning.budget.plans import (
    OBJECTIVES,
    least_bytes,
    plan_of,
    psnr_of_all,
    psnr_of_plan,
)
from mmpcodec.solvers.knapsack import choice_curve

MAX_CELLS = 1 << 31
"""Largest work of a curve, in states times points; about a second on two processor cores."""
MAX_STATES = 1 << 25
"""Largest number of states; more states take gigabytes of memory."""


@dataclass(frozen=True)
class BudgetCurve:
    """The best quality for each budget, as a staircase.

    Parameters
    ----------
    bytes : (S,) int64 array
        Budgets at which the quality rises, ascending.
    psnr : (S,) float64 array
        In dB. For "total", the weighted PSNR of all pixels. For "worst", the PSNR of the largest
        weighted mean squared error of a picture.
    unit : int
        Sizes were rounded up to multiples of this number of bytes.
    """

    bytes: np.ndarray
    psnr: np.ndarray
    unit: int


def budget_curve(
    ladders: Sequence[Ladder],
    *,
    objective: str = "total",
    max_cells: int = MAX_CELLS,
    backend: str = "auto",
) -> BudgetCurve:
    """Compute the best quality for all budgets, from the smallest files to the best files.

    Parameters
    ----------
    ladders : sequence of Ladder
    objective : {"total", "worst"}
    max_cells : int
        Largest number of cells of the table. If the table were larger, the bytes above the smallest
        files are rounded up to multiples of a power of two, and the curve is a lower bound.
    backend : str
        Backend of the solver.

    Raises
    ------
    ParameterError
        For an unknown objective.
    """
    if objective not in OBJECTIVES:
        raise ParameterError(f"objective = {objective!r}: must be one of {', '.join(OBJECTIVES)}")
    return _worst(ladders) if objective == "worst" else _total(ladders, max_cells, backend)


def _total(ladders: Sequence[Ladder], max_cells: int, backend: str) -> BudgetCurve:
    smallest = [min(point.bytes for point in ladder.points) for ladder in ladders]
    best = [min(point.distortion for point in ladder.points) for ladder in ladders]
    steps = [
        np.array([point.bytes - least for point in ladder.points], np.int64)
        for ladder, least in zip(ladders, smallest, strict=True)
    ]
    costs = [
        np.array([ladder.weight * (point.distortion - least) for point in ladder.points], np.int64)
        for ladder, least in zip(ladders, best, strict=True)
    ]
    most = min(max_cells // sum(map(len, steps)), MAX_STATES)
    largest = max(int(step.max()) for step in steps)
    unit = 1
    while unit < largest and sum(int((-(-step // unit)).max()) for step in steps) >= most:
        unit *= 2
    steps = [-(-step // unit) for step in steps]
    # Beyond the smallest files of least distortion, more bytes do not help.
    room = sum(int(step[cost == cost.min()].min()) for step, cost in zip(steps, costs, strict=True))
    groups = [(-cost, step) for cost, step in zip(costs, steps, strict=True)]
    values = choice_curve(groups, room, backend=backend).values
    places = np.flatnonzero(np.r_[True, np.diff(values) > 0])
    floor = sum(ladder.weight * least for ladder, least in zip(ladders, best, strict=True))
    psnr = [psnr_of_all(ladders, floor - value) for value in values[places].tolist()]
    return BudgetCurve(sum(smallest) + places * unit, np.array(psnr), unit)


def _worst(ladders: Sequence[Ladder]) -> BudgetCurve:
    errors = sorted(
        {
            Fraction(ladder.weight * point.distortion, ladder.pixels)
            for ladder in ladders
            for point in ladder.points
        },
        reverse=True,
    )
    sizes: list[int] = []
    psnr: list[float] = []
    for error in errors:
        kept = [
            [point for point in ladder.points if _within(ladder, point.distortion, error)]
            for ladder in ladders
        ]
        if not all(kept):
            break
        points = [min(some, key=lambda point: point.bytes) for some in kept]
        size = sum(point.bytes for point in points)
        if sizes and sizes[-1] == size:
            sizes.pop(), psnr.pop()
        sizes.append(size)
        psnr.append(psnr_of_plan(ladders, plan_of(ladders, points), "worst"))
    assert sizes[0] == least_bytes(ladders)
    return BudgetCurve(np.array(sizes, np.int64), np.array(psnr), 1)


def _within(ladder: Ladder, distortion: int, error: Fraction) -> bool:
    return Fraction(ladder.weight * distortion, ladder.pixels) <= error
