"""Measure knapsacks: Pisinger's classes, two budgets, multiple choice and batches.

    python scripts/bench/solvers/knapsack.py [--count N] [--range R] [--limit SECONDS] [--judges]
    python scripts/bench/solvers/knapsack.py --cuda [--judges]

Prints Markdown tables. With --judges, HiGHS (through SciPy) also solves each instance; with --cuda,
it solves the multiple-choice instances only. CP-SAT also solves the multiple-choice instances, on
all processors, if OR-Tools is installed. A different value ends the run.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from datetime import date
from functools import partial
from importlib.util import find_spec
from itertools import islice
from statistics import median
from typing import Any

import numpy as np
from knapsack_classes import CLASSES, all_noisy_groups, strongly_correlated

from mmpcodec import LimitExceeded
from mmpcodec.bench.codecs.base import machine
from mmpcodec.bench.timing import median_ms
from mmpcodec.solvers.knapsack import (
    Solution,
    knapsack,
    knapsack_batch,
    multiple_choice,
    value_curve,
)

Judged = tuple[int | None, float]
"""Value, None if it was not proven in time, and wall time in seconds."""


def by_highs(
    profits: np.ndarray,
    weights: np.ndarray,
    capacities: Any,
    stages: np.ndarray | None,
    limit: float,
) -> Judged:
    """Solve a knapsack by HiGHS; ``stages`` has the group of each option, None for 0-1 items."""
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


def by_cp_sat(
    profits: np.ndarray, weights: np.ndarray, capacity: int, stages: np.ndarray, limit: float
) -> Judged:
    """Solve a multiple-choice knapsack of one budget by CP-SAT."""
    from ortools.sat.python import cp_model

    start = time.perf_counter()
    model = cp_model.CpModel()
    takes = [model.new_bool_var("") for _ in profits]
    for stage in range(stages[-1] + 1):
        model.add_exactly_one(takes[i] for i in np.flatnonzero(stages == stage))
    model.add(cp_model.LinearExpr.weighted_sum(takes, weights.tolist()) <= capacity)
    model.maximize(cp_model.LinearExpr.weighted_sum(takes, profits.tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = len(os.sched_getaffinity(0))
    proven = solver.solve(model) == cp_model.OPTIMAL
    seconds = time.perf_counter() - start
    return (round(solver.objective_value) if proven else None), seconds


def judges_of_choices(wanted: bool) -> dict[str, Callable[..., Judged]]:
    """Return the peers that solve multiple-choice knapsacks, by name."""
    judges: dict[str, Callable[..., Judged]] = {"HiGHS": by_highs} if wanted else {}
    if wanted and find_spec("ortools"):
        judges["CP-SAT"] = by_cp_sat
    return judges


def compare(name: str, found: Solution, judge: Judged) -> str:
    """Return a table cell with the judge's seconds; end the run if the values differ."""
    value, seconds = judge
    if value is not None and found.optimal and value != found.value:
        raise SystemExit(f"{name}: {found.value}, but the judge says {value}")
    return f" {seconds:.3f} |" if value is not None else f" not in {seconds:.0f} |"


def row(name: str, found: Solution, judged: Iterable[Judged]) -> None:
    """Print a line of a table."""
    beside = "".join(compare(name, found, judge) for judge in judged)
    proven = "yes" if found.optimal else f"no, at most {found.bound}"
    print(f"| {name} | {found.path} | {found.value} | {proven} | {found.seconds:.4f} |{beside}")


def head(title: str, judges: Collection[str]) -> None:
    titles = "".join(f" {name} s |" for name in judges)
    print(f"\n| {title} | path | value | proven | s |{titles}")
    print("|---|---|---|---|---|" + "---|" * len(judges))


def bench_classes(
    count: int, top: int, limit: float, judges: bool, backend: str = "cpu", names: Any = CLASSES
) -> None:
    head(f"{count} items, coefficients up to {top}, {backend}", ["HiGHS"] * judges)
    for name in names:
        profits, weights = CLASSES[name](np.random.default_rng(count), count, top)
        capacity = int(weights.sum()) // 2
        try:
            found = knapsack(profits, weights, capacity, time_limit=limit, backend=backend)
        except LimitExceeded as error:
            print(f"| {name} | | | {error} | |")
            continue
        row(name, found, [by_highs(profits, weights, capacity, None, limit)] if judges else [])


def bench_two_budgets(limit: float, judges: bool) -> None:
    head("two budgets", ["HiGHS"] * judges)
    for count in (50, 100, 134):
        rng = np.random.default_rng(count)
        weights = rng.integers(1, 101, (count, 2))
        profits = weights.sum(axis=1) + rng.integers(1, 21, count)
        capacities = [int(total) // 2 for total in weights.sum(axis=0)]
        found = knapsack(profits, weights, capacities, time_limit=limit)
        judged = [by_highs(profits, weights, capacities, None, limit)] if judges else []
        row(f"{count} items, {' x '.join(map(str, capacities))}", found, judged)
    start = time.perf_counter()
    curve = value_curve(*rectangles())
    seconds = time.perf_counter() - start
    print(f"\nAll {curve.values.size} values of 134 rectangles, 2550 x 2100: {seconds:.3f} s.")


def rectangles() -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return 134 rectangles and a sheet, as large as instance A33 of Lemos, Longo and Martins."""
    rng = np.random.default_rng(33)
    weights = np.stack([rng.integers(200, 2200, 134), rng.integers(200, 1800, 134)], axis=1)
    return weights.prod(axis=1), weights, [2550, 2100]


def small_sheets() -> list[tuple[np.ndarray, np.ndarray, list[int]]]:
    """Return 630 instances of 20 rectangles and a sheet of 1000 x 1000, as in the same paper."""
    rng = np.random.default_rng(20)
    weights = rng.integers(50, 501, (630, 20, 2))
    return [(some.prod(axis=1), some, [1000, 1000]) for some in weights]


def choices(groups: int, options: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return groups of options whose profits grow with their weights."""
    rng = np.random.default_rng(groups)
    weights = rng.integers(1, 1001, (groups, options))
    profits = weights + rng.integers(1, 201, weights.shape)
    return list(zip(profits, weights, strict=True))


CHOICES = ((100, 10, 50_000), (100, 100, 50_000), (1000, 10, 500_000))


def bench_choices(limit: float, judges: bool) -> None:
    found_judges = judges_of_choices(judges)
    head(f"multiple choice, at most {limit:g} s", found_judges)
    for groups, options, capacity in CHOICES:
        instance = choices(groups, options)
        found = multiple_choice(instance, capacity, time_limit=limit)
        profits, weights = np.hstack(instance)
        stages = np.repeat(np.arange(groups), options)
        judged = [
            judge(profits, weights, capacity, stages, limit) for judge in found_judges.values()
        ]
        row(f"{groups} groups of {options}, {capacity}", found, judged)


def batch(number: int, count: int) -> list[tuple[np.ndarray, np.ndarray, int]]:
    """Return instances of strongly correlated items; the capacity is half the total weight."""
    rng = np.random.default_rng(0)
    drawn = [strongly_correlated(rng, count, 1000) for _ in range(number)]
    return [(profits, weights, int(weights.sum()) // 2) for profits, weights in drawn]


BATCHES = ((1000, 100), (200, 500))


def bench_batches() -> None:
    print("\n| batch | s | ms each |\n|---|---|---|")
    for number, count in BATCHES:
        seconds = knapsack_batch(batch(number, count))[0].seconds
        each = seconds / number * 1e3
        print(f"| {number} strongly correlated of {count} | {seconds:.3f} | {each:.2f} |")


def device_ms(work: Callable[[], Any], runs: int = 7) -> float:
    """Return the median time on the device in milliseconds, after a warm-up."""
    import cupy

    work()
    times = []
    for _ in range(runs):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return median(times)


def first_ms(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def parts_ms(instances: list[tuple[np.ndarray, np.ndarray, list[int]]]) -> list[float]:
    """Return milliseconds of the sweep of a batch, its trace, and the copy of its stages."""
    import cupy

    from mmpcodec.solvers.knapsack import cuda
    from mmpcodec.solvers.knapsack.problem import of_items

    problems = [of_items(*instance, False) for instance in instances]
    stages = cuda.Stages(problems)
    rows = cupy.empty((2, stages.teams, stages.longest), stages.value_type)
    words = cupy.empty(stages.decision_words, np.uint32)
    values = cupy.empty(stages.count, stages.value_type)
    return [
        device_ms(partial(stages.sweep, None, (rows[0], rows[1]), words, values)),
        device_ms(partial(stages.trace, words, values)),
        device_ms(partial(cuda.Stages, problems)),
    ]


def bench_paper() -> None:
    """Measure the parts of the two runs of the paper by Lemos, Longo and Martins."""
    print("\n| | 134 rectangles, 2551 x 2101 states, ms | 630 of 20, 1001 x 1001 states, ms |")
    print("|---|---|---|")
    one, many = rectangles(), small_sheets()
    solve_one = partial(knapsack, *one, backend="cuda")
    solve_many = partial(knapsack_batch, many, backend="cuda")
    lines: dict[str, list[float]] = {"first call": [first_ms(solve_one), first_ms(solve_many)]}
    lines["value and items, from call to answer"] = [median_ms(solve_one), median_ms(solve_many)]
    parts = "on the device: all stages", "trace, and its answer to the host", "stages to the device"
    for instances in ([one], many):
        for name, milliseconds in zip(parts, parts_ms(instances), strict=True):
            lines.setdefault(name, []).append(milliseconds)
    for name, (left, right) in lines.items():
        print(f"| {name} | {left:.2f} | {right:.2f} |")
    curve = median_ms(partial(value_curve, *one, backend="cuda"), 3)
    print(f"| values of all capacities to the host | {curve:.1f} | |")
    cpu = median_ms(partial(knapsack, *one, backend="cpu"), 1)
    few = median_ms(partial(knapsack_batch, many[:63], backend="cpu"), 1)
    print(f"| cpu, {len(os.sched_getaffinity(0))} threads | {cpu:.0f} | 63 of them: {few:.0f} |")
    print("| the paper, on a T4 | 282.71 | 1098.56 |")
    for backend in ("cpu", "cuda"):
        found = knapsack_batch([one, *many[:5]], backend=backend)
        if backend == "cpu":
            judge = found
    same = [(a.value, a.items) == (b.value, b.items) for a, b in zip(found, judge, strict=True)]
    print(f"\nSame values and items as on the processor: {'yes' if all(same) else 'NO'}.")


def bench_noisy_groups(capacity: int, step: int, seconds: float, first_choice: bool) -> None:
    """Solve every ``step``-th instance until ``seconds`` have passed, and print a line.

    The processor searches for any best choice; for first choices, the device fills tables.
    """
    times, paths = [], Counter[str]()
    unproven, start = 0, time.perf_counter()
    for name, (profits, weights) in islice(all_noisy_groups(capacity), 0, None, step):
        if time.perf_counter() - start > seconds:
            break
        found = knapsack(
            profits, weights, capacity, first_choice=first_choice, time_limit=5, backend="cuda"
        )
        taken = list(found.items)
        if profits[taken].sum() != found.value or weights[taken].sum() > capacity:
            raise SystemExit(f"{name}: wrong items")
        times.append(found.seconds)
        paths[found.path] += 1
        unproven += not found.optimal
    by_path = ", ".join(f"{path} {number}" for path, number in sorted(paths.items()))
    numbers = f"{median(times):.4f} | {np.quantile(times, 0.9):.3f} | {max(times):.3f}"
    head = f"| {capacity} | {'first' if first_choice else 'any'} | {len(times)} | {by_path}"
    print(f"{head} | {unproven} | {numbers} | {sum(times):.1f} |")


def bench_device_choices(judges: bool) -> None:
    found_judges = judges_of_choices(judges)
    titles = "".join(f" {name} s |" for name in found_judges)
    print(f"\n| multiple choice | path | cuda ms | cpu ms |{titles}")
    print("|---|---|---|---|" + "---|" * len(found_judges))
    for groups, options, capacity in CHOICES:
        instance = choices(groups, options)
        profits, weights = np.hstack(instance)
        stages = np.repeat(np.arange(groups), options)
        found = multiple_choice(instance, capacity, backend="cuda")
        cuda, cpu = (
            median_ms(partial(multiple_choice, instance, capacity, backend=backend), 3)
            for backend in ("cuda", "cpu")
        )
        name = f"{groups} groups of {options}, {capacity}"
        beside = ""
        for judge in found_judges.values():
            beside += compare(name, found, judge(profits, weights, capacity, stages, 10))
        print(f"| {name} | {found.path} | {cuda:.2f} | {cpu:.1f} |{beside}")


def bench_device_batches() -> None:
    print("\n| batch | cuda s | cpu s |\n|---|---|---|")
    for number, count in BATCHES:
        instances = batch(number, count)
        seconds = [knapsack_batch(instances, backend=b)[0].seconds for b in ("cuda", "cpu")]
        print(f"| {number} strongly correlated of {count} | {seconds[0]:.3f} | {seconds[1]:.3f} |")


def bench_device(judges: bool) -> None:
    """Measure the cuda backend beside the cpu backend."""
    import cupy

    from mmpcodec.backends.cuda.backend import CudaBackend

    print(f"{date.today()}, {CudaBackend().describe()}")
    bench_paper()
    cupy.get_default_memory_pool().free_all_blocks()
    bench_device_choices(judges)
    bench_device_batches()
    noisy = "choice | instances | paths | unproven | median s | 90 % s | most s | all s |"
    print(f"\n| noisy groups, capacity | {noisy}\n|---|---|---|---|---|---|---|---|---|")
    for first_choice in (False, True):
        bench_noisy_groups(10**6, 8, 20, first_choice)
        bench_noisy_groups(10**8, 90, 15, first_choice)
    cupy.get_default_memory_pool().free_all_blocks()
    for count, top, limit in ((1000, 1000, 1), (10_000, 1000, 1), (1000, 10**6, 3)):
        bench_classes(count, top, limit, False, "cuda")
    bench_classes(10_000, 10**6, 3, False, "cuda")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--range", type=int, default=1000)
    parser.add_argument("--limit", type=float, default=20)
    parser.add_argument("--judges", action="store_true")
    parser.add_argument("--cuda", action="store_true", help="measure the device")
    options = parser.parse_args()
    if options.cuda:
        bench_device(options.judges)
        return
    print(f"{date.today()}, {machine()}, NumPy {np.__version__}")
    bench_classes(options.count, options.range, options.limit, options.judges)
    bench_classes(10_000, 10**6, options.limit, options.judges)
    bench_two_budgets(options.limit, options.judges)
    bench_choices(options.limit, options.judges)
    bench_batches()


if __name__ == "__main__":
    main()
