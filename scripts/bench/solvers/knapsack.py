"""Measure knapsacks: multiple choice and value curves, or tables on a GPU.

    python scripts/bench/solvers/knapsack.py [--cuda] [--limit SECONDS] [--judges]

Prints Markdown tables. With --judges, HiGHS (through SciPy) also solves the multiple-choice
instances; so does CP-SAT, on all processors, if OR-Tools is installed. A different value ends the
run.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.util import find_spec
from itertools import islice
from statistics import median
from typing import Any

import numpy as np
from knapsack_classes import all_noisy_groups
from knapsack_peers import Answer, Instance, by_cp_sat, by_highs

from mmpcodec.bench.codecs.base import machine
from mmpcodec.bench.timing import median_ms
from mmpcodec.solvers.knapsack import (
    Solution,
    knapsack,
    knapsack_batch,
    multiple_choice,
    value_curve,
)


def judges_of_choices(wanted: bool) -> dict[str, Callable[..., Answer]]:
    """Return the peers that solve multiple-choice knapsacks, by name."""
    judges: dict[str, Callable[..., Answer]] = {"HiGHS": by_highs} if wanted else {}
    if wanted and find_spec("ortools"):
        judges["CP-SAT"] = partial(by_cp_sat, workers=len(os.sched_getaffinity(0)))
    return judges


def compare(name: str, found: Solution, judge: Callable[[], Answer]) -> str:
    """Return a table cell with the judge's seconds; end the run if the values differ."""
    start = time.perf_counter()
    value = judge()
    seconds = time.perf_counter() - start
    if value is not None and found.optimal and value != found.value:
        raise SystemExit(f"{name}: {found.value}, but the judge says {value}")
    return f" {seconds:.3f} |" if value is not None else f" not in {seconds:.0f} |"


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


def bench_choices(limit: float, judges: bool, device: bool) -> None:
    """Measure multiple choice on a processor; with ``device``, on a device, too."""
    found_judges = judges_of_choices(judges)
    titles = "".join(f" {name} s |" for name in found_judges)
    print(f"\n| multiple choice | path | value | cpu ms | cuda ms |{titles}")
    print("|---|---|---|---|---|" + "---|" * len(found_judges))
    for groups, options, capacity in CHOICES:
        instance = choices(groups, options)
        profits, weights = np.hstack(instance)
        every = Instance(profits, weights, capacity, groups=np.repeat(np.arange(groups), options))
        name = f"{groups} groups of {options}, {capacity}"
        found = multiple_choice(instance, capacity, time_limit=limit, backend="cpu")
        cells = [
            f"{median_ms(partial(multiple_choice, instance, capacity, backend=backend), 3):.2f}"
            for backend in (("cpu", "cuda") if device else ("cpu",))
        ]
        beside = "".join(
            compare(name, found, partial(judge, every, limit)) for judge in found_judges.values()
        )
        print(f"| {name} | {found.path} | {found.value} | {' | '.join(cells)} |{beside}")


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


def bench_device(limit: float, judges: bool) -> None:
    """Measure the cuda backend beside the cpu backend."""
    import cupy

    from mmpcodec.backends.cuda.backend import CudaBackend

    print(f"{date.today()}, {CudaBackend().describe()}")
    bench_paper()
    cupy.get_default_memory_pool().free_all_blocks()
    bench_choices(limit, judges, True)
    noisy = "choice | instances | paths | unproven | median s | 90 % s | most s | all s |"
    print(f"\n| noisy groups, capacity | {noisy}\n|---|---|---|---|---|---|---|---|---|")
    for first_choice in (False, True):
        bench_noisy_groups(10**6, 8, 20, first_choice)
        bench_noisy_groups(10**8, 90, 15, first_choice)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=20)
    parser.add_argument("--judges", action="store_true")
    parser.add_argument("--cuda", action="store_true", help="measure the device")
    options = parser.parse_args()
    if options.cuda:
        bench_device(options.limit, options.judges)
        return
    print(f"{date.today()}, {machine()}, NumPy {np.__version__}")
    bench_choices(options.limit, options.judges, False)
    start = time.perf_counter()
    curve = value_curve(*rectangles())
    seconds = time.perf_counter() - start
    print(f"\nAll {curve.values.size} values of 134 rectangles, 2550 x 2100: {seconds:.3f} s.")


if __name__ == "__main__":
    main()
