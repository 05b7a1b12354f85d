"""A drawing of the budget curve and the plans on it."""

import io
import math
from collections.abc import Sequence
from typing import Any

from mmpcodec.budget.curve import BudgetCurve
from mmpcodec.budget.ladder import Ladder, psnr_of
from mmpcodec.budget.plans import Comparison, Plan, plan_of
from mmpcodec.errors import MissingExtra

_INCHES = (8.0, 5.5)
_DPI = 110
_SCALES = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"), (1, "bytes"))
_CURVE, _ONE, _GREEDY, _EXACT, _BUDGET = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#6b6b6b"


def figure_class() -> Any:
    """The class of a drawing.

    Raises
    ------
    MissingExtra
        When matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("plot: needs matplotlib; install mmpcodec[bench]") from error
    return Figure


def draw_budget(
    ladders: Sequence[Ladder], curve: BudgetCurve, found: Comparison, total: int
) -> bytes:
    """Quality against bytes: the best for each budget, one lambda for all, and the plans.

    Parameters
    ----------
    ladders : sequence of Ladder
    curve : BudgetCurve
        Of the ladders.
    found : Comparison
    total : int
        The budget in bytes.

    Returns
    -------
    bytes
        A PNG file. Points without any error have no place in it.

    Raises
    ------
    MissingExtra
        When matplotlib is missing.
    """

    def quality(plan: Plan) -> float:
        return plan.psnr if found.objective == "total" else psnr_of(float(plan.worst), 1)

    figure = figure_class()(_INCHES, dpi=_DPI, layout="constrained")
    axes = figure.add_subplot()
    scale, unit = next(pair for pair in _SCALES if curve.bytes[-1] >= pair[0])
    finite = [math.isfinite(psnr) for psnr in curve.psnr]
    best = "best for each budget" + (f", to {curve.unit} bytes" if curve.unit > 1 else "")
    axes.plot(
        curve.bytes[finite] / scale,
        curve.psnr[finite],
        drawstyle="steps-post",
        color=_CURVE,
        linewidth=1.6,
        label=best,
    )
    commons = _commons(ladders)
    axes.plot(
        [plan.bytes / scale for plan in commons],
        [quality(plan) for plan in commons],
        "o",
        color=_ONE,
        markersize=5,
        label="one lambda for all",
    )
    for plan in commons:
        axes.annotate(
            f"{plan.lam:g}",
            (plan.bytes / scale, quality(plan)),
            xytext=(5, -10),
            textcoords="offset points",
            fontsize=8,
            color=_BUDGET,
        )
    axes.axvline(total / scale, color=_BUDGET, linestyle="--", linewidth=1, label="budget")
    for plan, marker, color, label in (
        (found.greedy, "s", _GREEDY, "greedy fill"),
        (found.exact, "D", _EXACT, "exact"),
    ):
        axes.plot(
            [plan.bytes / scale],
            [quality(plan)],
            marker,
            markerfacecolor="none",
            markeredgecolor=color,
            markeredgewidth=1.8,
            markersize=8 if marker == "s" else 11,
            linestyle="none",
            label=label,
        )
    axes.set_xlabel(f"{unit} of all files")
    axes.set_ylabel(
        "PSNR of all pixels, dB" if found.objective == "total" else "PSNR of the worst picture, dB"
    )
    pictures = f"{len(ladders)} picture{'' if len(ladders) == 1 else 's'}"
    axes.set_title(f"{pictures}, budget {total / scale:.6g} {unit}")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=9, loc="lower right")
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()


def _commons(ladders: Sequence[Ladder]) -> list[Plan]:
    """A plan for each lambda that all ladders have and that loses something."""
    at = [{point.lam: point for point in ladder.points} for ladder in ladders]
    shared = sorted(set(at[0]).intersection(*at[1:]))
    plans = [plan_of(ladders, [points[lam] for points in at]) for lam in shared]
    return [plan for plan in plans if plan.distortion]
