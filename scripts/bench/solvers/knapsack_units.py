"""Measure knapsacks with copies, or with limits of the number of items, beside HiGHS and CP-SAT.

    python scripts/bench/solvers/knapsack_units.py [--counts N,N] [--range R] [--limit SECONDS]

Prints Markdown tables of processor time in ms, the least of three runs in turn, on one thread.
HiGHS runs through SciPy. OR-Tools is left out, with a note, if it is not installed. A different
value ends the run.
"""

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from knapsack_classes import strongly_correlated, uncorrelated, weakly_correlated

from mmpcodec.solvers.knapsack import knapsack

CLASSES = {
    "uncorrelated": uncorrelated,
    "weakly": weakly_correlated,
    "strongly": strongly_correlated,
}
Answer = tuple[int | str | None, str]
"""Value, ``NOTHING`` if no choice is feasible, None if neither was proven in time; and the path."""
NOTHING = "infeasible"
RUNS = 3
LONG = 2.0
"""Seconds of a run after which it is not repeated."""


@dataclass(frozen=True)
class Instance:
    """A knapsack of one budget; ``math.inf`` copies are as many as fit."""

    profits: np.ndarray
    weights: np.ndarray
    capacity: int
    copies: float = 1
    least: int = 0
    most: int | None = None

    @property
    def bounds(self) -> np.ndarray:
        """Most copies of each item that fit, (N,)."""
        return np.minimum(self.capacity // self.weights, self.copies)


def by_mmpcodec(instance: Instance, limit: float) -> Answer:
    found = knapsack(
        instance.profits,
        instance.weights,
        instance.capacity,
        copies=None if instance.copies == 1 else instance.copies,
        least_items=instance.least or None,
        most_items=instance.most,
        time_limit=limit,
        backend="cpu",
    )
    value = NOTHING if found.value is None else found.value
    return (value if found.optimal else None), found.path


def by_highs(instance: Instance, limit: float) -> Answer:
    from scipy.optimize import Bounds, LinearConstraint, milp

    rows, lows, highs = [instance.weights], [-math.inf], [float(instance.capacity)]
    if instance.least or instance.most is not None:
        rows.append(np.ones_like(instance.weights))
        lows.append(instance.least)
        highs.append(math.inf if instance.most is None else instance.most)
    found = milp(
        -instance.profits.astype(float),
        integrality=np.ones(len(instance.profits)),
        bounds=Bounds(0, instance.bounds),
        constraints=LinearConstraint(np.stack(rows), lows, highs),
        options={"mip_rel_gap": 0, "time_limit": limit},
    )
    if found.status == 2:
        return NOTHING, ""
    return (round(-found.fun) if found.status == 0 else None), ""


def by_cp_sat(instance: Instance, limit: float) -> Answer:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    units = [model.new_int_var(0, int(most), "") for most in instance.bounds]
    total = cp_model.LinearExpr.weighted_sum
    model.add(total(units, instance.weights.tolist()) <= instance.capacity)
    if instance.least:
        model.add(sum(units) >= instance.least)
    if instance.most is not None:
        model.add(sum(units) <= instance.most)
    model.maximize(total(units, instance.profits.tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return NOTHING, ""
    return (round(solver.objective_value) if status == cp_model.OPTIMAL else None), ""


Solver = Callable[[Instance, float], Answer]


def measure(instance: Instance, solvers: dict[str, Solver], limit: float) -> tuple[str, str]:
    """Return the path of mmpcodec and the cells of a table; end the run if values differ."""
    times, values, path = dict.fromkeys(solvers, math.inf), {}, ""
    for _ in range(RUNS):
        for name, solve in solvers.items():
            if LONG < times[name] < math.inf:
                continue
            begin = time.process_time()
            values[name], found = solve(instance, limit)
            times[name] = min(times[name], time.process_time() - begin)
            path = path or found
    if len({value for value in values.values() if value is not None}) > 1:
        raise SystemExit(f"values differ: {values}")
    cells = [
        f"not in {1000 * times[name]:.0f}" if values[name] is None else f"{1000 * times[name]:.1f}"
        for name in solvers
    ]
    return path, " | ".join(cells)


def instances(count: int, top: int) -> dict[str, Instance]:
    """Return the instances of one size by name; a quarter of all weights fits."""
    made: dict[str, Instance] = {}
    for name, draw in CLASSES.items():
        profits, weights = draw(np.random.default_rng(count), count, top)
        given: Callable[..., Instance] = partial(
            Instance, profits, weights, int(weights.sum()) // 4
        )
        usual = len(knapsack(profits, weights, given().capacity).items)
        made |= {
            f"{name}, up to 10 copies": given(copies=10),
            f"{name}, any copies": given(copies=math.inf),
            f"{name}, at most {usual * 4 // 5}": given(most=usual * 4 // 5),
            f"{name}, at least {usual + 2}": given(least=usual + 2),
            f"{name}, exactly {usual - 1}": given(least=usual - 1, most=usual - 1),
        }
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", default="100,1000", help="numbers of items")
    parser.add_argument("--range", type=int, default=10**4, help="largest weight")
    parser.add_argument("--limit", type=float, default=10, help="seconds for each solver")
    arguments: Any = parser.parse_args()
    solvers: dict[str, Solver] = {"mmpcodec": by_mmpcodec, "HiGHS": by_highs}
    if find_spec("ortools"):
        solvers["CP-SAT"] = by_cp_sat
    else:
        print("CP-SAT is left out: OR-Tools is not installed.")
    for count in map(int, arguments.counts.split(",")):
        print(
            f"\n| {count} items, weights up to {arguments.range} | path | {' | '.join(solvers)} |"
        )
        print("|---|---|" + "---|" * len(solvers))
        for name, instance in instances(count, arguments.range).items():
            path, cells = measure(instance, solvers, arguments.limit)
            print(f"| {name} | {path} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
