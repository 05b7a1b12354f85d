"""``mmpcodec.planning.budget`` under its earlier name."""

from mmpcodec.planning.budget import (
    LAMBDAS,
    OBJECTIVES,
    BudgetCurve,
    Comparison,
    Ladder,
    Plan,
    Point,
    PointCache,
    budget_curve,
    check_weights,
    compare,
    draw_budget,
    encoded,
    greedy_fill,
    least_bytes,
    measure,
    one_lambda,
)
from mmpcodec.planning.budget import LazyPicture as Picture
from mmpcodec.planning.budget import best_plan as exact

__all__ = [
    "LAMBDAS",
    "OBJECTIVES",
    "BudgetCurve",
    "Comparison",
    "Ladder",
    "Picture",
    "Plan",
    "Point",
    "PointCache",
    "budget_curve",
    "check_weights",
    "compare",
    "draw_budget",
    "encoded",
    "exact",
    "greedy_fill",
    "least_bytes",
    "measure",
    "one_lambda",
]
