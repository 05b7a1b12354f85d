"""Knapsacks by mmpcodec, HiGHS (through SciPy) and CP-SAT; other scripts import this module."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.solvers.knapsack import Solution, knapsack

Answer = int | str | None
"""Value, ``NOTHING`` if no choice is feasible, or None if neither was proven in time."""
NOTHING = "infeasible"


@dataclass(frozen=True)
class Instance:
    """A knapsack.

    Parameters
    ----------
    profits : (N,) array
    weights : (N,) or (N, M) array
    capacities : int or sequence of M int
    copies : float
        Most copies of each item; ``math.inf`` is as many as fit.
    least, most : int, int or None
        Limits of the number of items.
    groups : (N,) array or None
        Ascending numbers of the groups, of which one option each is chosen.
    """

    profits: np.ndarray
    weights: np.ndarray
    capacities: Any
    copies: float = 1
    least: int = 0
    most: int | None = None
    groups: np.ndarray | None = None

    def bounds(self) -> np.ndarray:
        """Return the most copies of each item that fit, (N,)."""
        return (
            np.full(len(self.profits), self.copies)
            if self.copies == 1
            else np.minimum(self.capacities // self.weights, self.copies)
        )

    def rows(self) -> list[tuple[np.ndarray, float, float]]:
        """Return coefficients, least and largest sum of each constraint."""
        limits = zip(np.atleast_2d(self.weights.T), np.atleast_1d(self.capacities), strict=True)
        rows = [(weights, -math.inf, float(capacity)) for weights, capacity in limits]
        if self.least or self.most is not None:
            most = math.inf if self.most is None else self.most
            rows.append((np.ones_like(self.profits), self.least, most))
        if self.groups is not None:
            numbers = range(self.groups[-1] + 1)
            rows += [((self.groups == number).astype(int), 1, 1) for number in numbers]
        return rows

    def solve(self, limit: float) -> Solution:
        """Solve the knapsack with mmpcodec, on a processor."""
        return knapsack(
            self.profits,
            self.weights,
            self.capacities,
            copies=None if self.copies == 1 else self.copies,
            least_items=self.least or None,
            most_items=self.most,
            time_limit=limit,
            backend="cpu",
        )


def by_mmpcodec(instance: Instance, limit: float) -> Answer:
    found = instance.solve(limit)
    value = NOTHING if found.value is None else found.value
    return value if found.optimal else None


def by_highs(instance: Instance, limit: float) -> Answer:
    from scipy.optimize import Bounds, LinearConstraint, milp

    rows, lows, highs = zip(*instance.rows(), strict=True)
    found = milp(
        -instance.profits.astype(float),
        integrality=np.ones(len(instance.profits)),
        bounds=Bounds(0, instance.bounds()),
        constraints=LinearConstraint(np.stack(rows).astype(float), lows, highs),
        options={"mip_rel_gap": 0, "time_limit": limit},
    )
    if found.status == 2:
        return NOTHING
    return round(-found.fun) if found.status == 0 else None


def by_cp_sat(instance: Instance, limit: float, workers: int = 1) -> Answer:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    units = [model.new_int_var(0, int(most), "") for most in instance.bounds()]
    total = cp_model.LinearExpr.weighted_sum
    for row, low, high in instance.rows():
        if low > -math.inf:
            model.add(total(units, row.tolist()) >= int(low))
        if high < math.inf:
            model.add(total(units, row.tolist()) <= int(high))
    model.maximize(total(units, instance.profits.tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = workers
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return NOTHING
    return round(solver.objective_value) if status == cp_model.OPTIMAL else None
