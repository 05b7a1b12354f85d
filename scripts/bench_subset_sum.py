"""Measure subset sum on classes of instances, beside a Python big integer and CP-SAT.

    python scripts/bench_subset_sum.py [--cp-sat]

Prints Markdown tables: seconds of a run, the least of three where they are short.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import numpy as np

from mmpcodec.solvers.subset_sum import all_sums, subset_sum

Instance = tuple[np.ndarray, int]
CP_SAT_SECONDS = 10.0
SHORT_SECONDS = 0.5
BIG_INTEGER_STEPS = 3e11


def half(count: int) -> Instance:
    """Multiples of 10 up to 10^6, half their sum, last digit 5."""
    weights = 10 * np.random.default_rng(count).integers(1, 10**5, count, endpoint=True)
    return weights, int(weights.sum()) // 20 * 10 + 5


def p_class(count: int) -> Instance:
    """Even weights up to 10^6, an odd capacity of an eighth of count * 10^6."""
    weights = 2 * np.random.default_rng(count).integers(1, 5 * 10**5, count, endpoint=True)
    return weights, count * 10**6 // 8 | 1


def uniform(count: int) -> Instance:
    """Even weights up to the odd capacity 10^6 + 1."""
    weights = 2 * np.random.default_rng(count).integers(1, 5 * 10**5, count, endpoint=True)
    return weights, 10**6 + 1


def even_odd(count: int) -> Instance:
    """Even weights up to 1000, an odd capacity of a quarter of count * 1000."""
    weights = 2 * np.random.default_rng(count).integers(1, 500, count, endpoint=True)
    return weights, count * 1000 // 4 | 1


def disturbed(count: int, heaviest: int = 1000) -> Instance:
    """Multiples of 10, and two items with last digit 1: no sum has the capacity's last digit 5."""
    weights = 10 * np.random.default_rng(count).integers(1, heaviest // 10, count, endpoint=True)
    weights[[count // 3, count // 2]] += 1
    return weights, int(weights.sum()) // 20 * 10 + 5


def avis(count: int) -> Instance:
    """Weights about count^2, of which any half is too much and any less too little."""
    weights = count * (count + 1) + np.arange(1, count + 1)
    return weights, (count - 1) // 2 * count * (count + 1) + count * (count - 1) // 2


def todd(count: int) -> Instance:
    """Weights of which no two sets have equal sums."""
    top = count.bit_length() - 1
    powers = [2 ** (top + count + 1) + 2 ** (top + j) + 1 for j in range(1, count + 1)]
    return np.array(powers), sum(powers) // 2


CLASSES: list[tuple[str, Callable[[int], Instance], list[int]]] = [
    ("Half", half, [100, 1000, 10000]),
    ("P", p_class, [100, 1000, 10000]),
    ("Uniform", uniform, [100, 1000, 10000]),
    ("even-odd", even_odd, [100, 1000, 10000]),
    ("disturbed", disturbed, [100, 1000, 10000]),
    ("disturbed, to 10^6", lambda count: disturbed(count, 10**6), [100, 500, 1000]),
    ("Avis", avis, [50, 100, 500]),
    ("Todd", todd, [20, 30, 40]),
]


def big_integer(weights: np.ndarray, capacity: int) -> int:
    """The largest sum, by shifting one large number."""
    bits, mask = 1, (2 << capacity) - 1
    for weight in weights.tolist():
        bits |= bits << weight & mask
    return bits.bit_length() - 1


def cp_sat(weights: np.ndarray, capacity: int) -> int | None:
    """The largest sum, or None where it is not proven in time."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in weights]
    total = sum(one * int(weight) for one, weight in zip(taken, weights, strict=True))
    model.add(total <= capacity)
    model.maximize(total)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = CP_SAT_SECONDS
    solver.parameters.num_workers = len(os.sched_getaffinity(0))
    proven = solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value) if proven else None


def least_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Wall time, and the answer."""
    times: list[float] = []
    while not times or (len(times) < 3 and times[0] < SHORT_SECONDS):
        start = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - start)
    return min(times), found


def timed(work: Callable[[np.ndarray, int], int | None], instance: Instance, best: int) -> str:
    """Seconds of a peer, checked."""
    seconds, found = least_seconds(lambda: work(*instance))
    assert found is None or found == best
    return f"{seconds:.4f}" if found is not None else f"> {CP_SAT_SECONDS:.0f}"


def bench_classes(with_cp_sat: bool) -> None:
    print(
        "| class | items | c - sum | method | s | dense s | its sum only s | Python s | CP-SAT s |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, make, counts in CLASSES:
        for count in counts:
            instance = make(count)
            capacity = instance[1]
            seconds, found = least_seconds(partial(subset_sum, *instance))
            cells = [f"{capacity - found.sum}", found.method, f"{seconds:.4f}"]
            for items in (True, False):
                if name == "Todd":
                    cells.append("")
                    continue
                dense = partial(subset_sum, method="dense", items=items, memory=1 << 34)
                cells.append(timed(lambda *one, dense=dense: dense(*one).sum, instance, found.sum))
            small = count * capacity < BIG_INTEGER_STEPS
            cells.append(timed(big_integer, instance, found.sum) if small else "")
            cells.append(timed(cp_sat, instance, found.sum) if with_cp_sat else "")
            print(f"| {name} | {count} | {' | '.join(cells)} |", flush=True)


def bench_all_sums() -> None:
    print("\n| all sums of | up to | s | Python s |\n|---|---|---|---|")
    for count, heaviest in ((1000, 1000), (10000, 1000), (100, 10**6)):
        weights, _ = disturbed(count, heaviest)
        total = int(weights.sum())
        seconds, found = least_seconds(partial(all_sums, weights))
        assert found[total]
        peer = timed(big_integer, (weights, total), total)
        print(f"| {count} items to {heaviest} | {total} | {seconds:.4f} | {peer} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cp-sat", action="store_true", help="measure CP-SAT of OR-Tools as well")
    threads = len(os.sched_getaffinity(0))
    arguments = parser.parse_args()
    print(f"{date.today()}, {platform.machine()}, {threads} processors\n")
    bench_classes(arguments.cp_sat)
    bench_all_sums()


if __name__ == "__main__":
    main()
