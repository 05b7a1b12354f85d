"""Measure knapsacks: Pisinger's classes, two budgets, multiple choice and batches.

    python scripts/bench_knapsack.py [--count N] [--range R] [--limit SECONDS] [--judges]

Prints Markdown tables. With --judges HiGHS, through SciPy, solves each instance as well, and a
value that differs ends the run.
"""

import argparse
import os
import platform
import time
from datetime import date
from typing import Any

import numpy as np
from knapsack_classes import CLASSES, strongly_correlated

from mmpcodec.solvers.knapsack import (
    Solution,
    knapsack,
    knapsack_batch,
    multiple_choice,
    value_curve,
)


def judged(
    profits: np.ndarray,
    weights: np.ndarray,
    capacities: Any,
    stages: np.ndarray | None,
    limit: float,
) -> tuple[int | None, float]:
    """Value by HiGHS, None where it was not proven in time, and seconds.

    ``stages`` says of which group each option is, None for items to take or leave.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    start = time.perf_counter()
    constraints = [LinearConstraint(np.atleast_2d(weights.T), ub=np.atleast_1d(capacities))]
    if stages is not None:
        one_each = stages == np.arange(stages.max() + 1)[:, None]
        constraints.append(LinearConstraint(one_each.astype(float), 1, 1))
    options = {"mip_rel_gap": 0, "time_limit": limit}
    found = milp(
        -profits.astype(float),
        integrality=np.ones(len(profits)),
        bounds=Bounds(0, 1),
        constraints=constraints,
        options=options,
    )
    seconds = time.perf_counter() - start
    return (round(-found.fun) if found.status == 0 else None), seconds


def row(name: str, found: Solution, judge: tuple[int | None, float] | None) -> None:
    """Print a line; ends the run where the judge says otherwise."""
    beside = ""
    if judge is not None:
        value, seconds = judge
        if value is not None and found.optimal and value != found.value:
            raise SystemExit(f"{name}: {found.value}, but HiGHS says {value}")
        beside = f" {seconds:.3f} |" if value is not None else f" not in {seconds:.0f} |"
    proven = "yes" if found.optimal else f"no, at most {found.bound}"
    print(f"| {name} | {found.path} | {found.value} | {proven} | {found.seconds:.4f} |{beside}")


def head(title: str, judges: bool) -> None:
    print(f"\n| {title} | path | value | proven | s |" + (" HiGHS s |" if judges else ""))
    print("|---|---|---|---|---|" + ("---|" if judges else ""))


def bench_classes(count: int, top: int, limit: float, judges: bool) -> None:
    head(f"{count} items, coefficients up to {top}", judges)
    for name, make in CLASSES.items():
        profits, weights = make(np.random.default_rng(count), count, top)
        capacity = int(weights.sum()) // 2
        found = knapsack(profits, weights, capacity, time_limit=limit)
        row(name, found, judged(profits, weights, capacity, None, limit) if judges else None)


def bench_two_budgets(limit: float, judges: bool) -> None:
    head("two budgets", judges)
    for count in (50, 100, 134):
        rng = np.random.default_rng(count)
        weights = rng.integers(1, 101, (count, 2))
        profits = weights.sum(axis=1) + rng.integers(1, 21, count)
        capacities = [int(total) // 2 for total in weights.sum(axis=0)]
        found = knapsack(profits, weights, capacities, time_limit=limit)
        judge = judged(profits, weights, capacities, None, limit) if judges else None
        row(f"{count} items, {' x '.join(map(str, capacities))}", found, judge)
    rng = np.random.default_rng(33)
    weights = np.stack([rng.integers(200, 2200, 134), rng.integers(200, 1800, 134)], axis=1)
    start = time.perf_counter()
    curve = value_curve(weights.prod(axis=1), weights, [2550, 2100])
    seconds = time.perf_counter() - start
    print(f"\nAll {curve.values.size} values of 134 rectangles, 2550 x 2100: {seconds:.3f} s.")


def bench_choices(limit: float, judges: bool) -> None:
    head("multiple choice", judges)
    for groups, options, capacity in ((100, 10, 50_000), (100, 100, 50_000), (1000, 10, 500_000)):
        rng = np.random.default_rng(groups)
        weights = rng.integers(1, 1001, (groups, options))
        profits = weights + rng.integers(1, 201, weights.shape)
        found = multiple_choice(
            list(zip(profits, weights, strict=True)), capacity, time_limit=limit
        )
        stages = np.repeat(np.arange(groups), options)
        judge = None
        if judges:
            judge = judged(profits.ravel(), weights.ravel(), capacity, stages, limit)
        row(f"{groups} groups of {options}, {capacity}", found, judge)


def bench_batches() -> None:
    print("\n| batch | s | ms each |\n|---|---|---|")
    rng = np.random.default_rng(0)
    for batch, count in ((1000, 100), (200, 500)):
        instances = []
        for _ in range(batch):
            profits, weights = strongly_correlated(rng, count, 1000)
            instances.append((profits, weights, int(weights.sum()) // 2))
        seconds = knapsack_batch(instances)[0].seconds
        each = seconds / batch * 1e3
        print(f"| {batch} strongly correlated of {count} | {seconds:.3f} | {each:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--range", type=int, default=1000)
    parser.add_argument("--limit", type=float, default=20)
    parser.add_argument("--judges", action="store_true")
    options = parser.parse_args()
    threads = len(os.sched_getaffinity(0))
    print(f"{date.today()}, {platform.machine()}, {threads} processors, NumPy {np.__version__}")
    bench_classes(options.count, options.range, options.limit, options.judges)
    bench_two_budgets(options.limit, options.judges)
    bench_choices(options.limit, options.judges)
    bench_batches()


if __name__ == "__main__":
    main()
