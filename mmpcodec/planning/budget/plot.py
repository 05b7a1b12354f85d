"""A drawing of the budget curve and the plans on it."""

import io
import math
from collections.abc import Sequence
from typing import Any

from mmpcodec.errors import MissingExtra, install
from mmpcodec.planning.budget.curve import BudgetCurve
from mmpcodec.planning.budget.ladder import Ladder
from mmpcodec.planning.budget.plans import Comparison, Plan, plan_of, psnr_of_plan

_INCHES = (8.0, 5.5)
_DPI = 110
_SCALES = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"), (1, "bytes"))
_MARGIN = 2.0
"""Smallest distance of the line of lossless points above all other points, in dB."""
_CURVE, _ONE, _GREEDY, _EXACT, _BUDGET = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#6b6b6b"


def figure_class() -> Any:
    """Return matplotlib's class of figures.

    Raises
    ------
    MissingExtra
        When matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra(f"plot: needs matplotlib; {install('bench')}") from error
    return Figure


def draw_budget(
    ladders: Sequence[Ladder], curve: BudgetCurve, found: Comparison, total: int
) -> bytes:
    """Draw quality against bytes: the best for each budget, one lambda for all, and the plans.

    Parameters
    ----------
    ladders : sequence of Ladder
    curve : BudgetCurve
        Curve of the ladders.
    found : Comparison
    total : int
        The budget in bytes.

    Returns
    -------
    bytes
        A PNG file. Lossless points lie on a line at the top. Of overlapping labels, only the label
        of the smaller lambda is drawn.

    Raises
    ------
    MissingExtra
        When matplotlib is missing.
    """

    def quality(plan: Plan) -> float:
        return psnr_of_plan(ladders, plan, found.objective)

    commons = _commons(ladders)
    marked = [*commons, found.greedy, found.exact]
    # The curve extends to the last mark and the budget, because more bytes are never worse.
    ends = [*curve.bytes.tolist(), max(total, curve.bytes[-1], *(plan.bytes for plan in marked))]
    best = [*curve.psnr.tolist(), curve.psnr[-1]]
    lossless = _lossless_line([*best, *(quality(plan) for plan in marked)])

    def height(psnr: float) -> float:
        return psnr if math.isfinite(psnr) else lossless

    figure = figure_class()(_INCHES, dpi=_DPI, layout="constrained")
    axes = figure.add_subplot()
    scale, unit = next(pair for pair in _SCALES if curve.bytes[-1] >= pair[0])
    axes.plot(
        [size / scale for size in ends],
        [height(psnr) for psnr in best],
        drawstyle="steps-post",
        color=_CURVE,
        linewidth=1.6,
        label="best for each budget" + (f", to {curve.unit} bytes" if curve.unit > 1 else ""),
    )
    axes.plot(
        [plan.bytes / scale for plan in commons],
        [height(quality(plan)) for plan in commons],
        "o",
        color=_ONE,
        markersize=5,
        label="one lambda for all",
    )
    labels = [
        axes.annotate(
            f"{plan.lam:g}",
            (plan.bytes / scale, height(quality(plan))),
            xytext=(5, -10),
            textcoords="offset points",
            fontsize=8,
            color=_BUDGET,
        )
        for plan in commons
    ]
    axes.axvline(total / scale, color=_BUDGET, linestyle="--", linewidth=1, label="budget")
    for plan, marker, color, label in (
        (found.greedy, "s", _GREEDY, "greedy fill"),
        (found.exact, "D", _EXACT, "exact"),
    ):
        axes.plot(
            [plan.bytes / scale],
            [height(quality(plan))],
            marker,
            markerfacecolor="none",
            markeredgecolor=color,
            markeredgewidth=1.8,
            markersize=8 if marker == "s" else 11,
            linestyle="none",
            label=label,
        )
    if any(math.isinf(psnr) for psnr in [*best, *(quality(plan) for plan in marked)]):
        axes.axhline(lossless, color=_BUDGET, linewidth=0.8, zorder=0)
        axes.set_yticks([tick for tick in axes.get_yticks() if tick < lossless - _MARGIN / 2])
        axes.set_yticks([lossless], ["lossless"], minor=True)
        axes.tick_params(axis="y", which="minor", length=0)
    axes.set_xlabel(f"{unit} of all files")
    axes.set_ylabel(
        "PSNR of all pixels, dB" if found.objective == "total" else "PSNR of the worst picture, dB"
    )
    pictures = f"{len(ladders)} picture{'' if len(ladders) == 1 else 's'}"
    axes.set_title(f"{pictures}, budget {total / scale:.6g} {unit}")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=9, loc="lower right")
    _drop_crowded(figure, labels)
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()


def _lossless_line(psnr: Sequence[float]) -> float:
    """Return the PSNR in dB at which infinite PSNR is drawn, above all finite PSNR."""
    finite = [number for number in psnr if math.isfinite(number)]
    if not finite:
        return 0.0
    return max(finite) + max(_MARGIN, (max(finite) - min(finite)) / 8)


def _drop_crowded(figure: Any, labels: Sequence[Any]) -> None:
    """Hide labels that overlap an earlier visible label."""
    figure.draw_without_rendering()
    kept: list[Any] = []
    for label in labels:
        box = label.get_window_extent().padded(1)
        if any(box.overlaps(other) for other in kept):
            label.set_visible(False)
        else:
            kept.append(box)


def _commons(ladders: Sequence[Ladder]) -> list[Plan]:
    """Return a plan for each lambda that all ladders have."""
    at = [{point.lam: point for point in ladder.points} for ladder in ladders]
    shared = sorted(set(at[0]).intersection(*at[1:]))
    return [plan_of(ladders, [points[lam] for points in at]) for lam in shared]
