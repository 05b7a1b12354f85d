"""Budgets: a limit in bytes for the files of several pictures together.

``measure`` encodes each picture at several lambdas, its ladder, through a cache. ``compare``
chooses one point of each ladder by three methods. ``budget_curve`` finds the best quality for all
budgets, and ``draw_budget`` draws it. ``solvers.knapsack`` finds the best plan.

>>> from mmpcodec.planning.budget import Ladder, Point, compare
>>> a = Ladder("a", 100, (Point(8, 8, 1), Point(16, 2, 16), Point(32, 1, 22)))
>>> b = Ladder("b", 100, (Point(8, 7, 0), Point(16, 6, 3), Point(32, 4, 25)))
>>> found = compare([a, b], 14)
>>> [plan.distortion for plan in (found.one_lambda, found.greedy, found.exact)]
[19, 16, 4]
"""

from mmpcodec.codec.distortion import Point
from mmpcodec.planning.budget.cache import PointCache
from mmpcodec.planning.budget.curve import BudgetCurve, budget_curve
from mmpcodec.planning.budget.ladder import LAMBDAS, Ladder, LazyPicture, encoded, measure
from mmpcodec.planning.budget.plans import (
    OBJECTIVES,
    Comparison,
    Plan,
    best_plan,
    check_weights,
    compare,
    greedy_fill,
    least_bytes,
    one_lambda,
)
from mmpcodec.planning.budget.plot import draw_budget

__all__ = [
    "LAMBDAS",
    "OBJECTIVES",
    "BudgetCurve",
    "Comparison",
    "Ladder",
    "LazyPicture",
    "Plan",
    "Point",
    "PointCache",
    "best_plan",
    "budget_curve",
    "check_weights",
    "compare",
    "draw_budget",
    "encoded",
    "greedy_fill",
    "least_bytes",
    "measure",
    "one_lambda",
]
