"""Measure subset sum on classes of instances, beside a Python big integer and OR-Tools.

    python scripts/bench/solvers/subset_sum.py [--or-tools | --cuda]

Prints Markdown tables with the time of one run, or the least time of three short runs. With --cuda,
the tables compare a device with the processor and with K3-32 of Curtis' thesis (table 6.8, GTX
560).
"""

import argparse
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import numpy as np

from mmpcodec.bench.codecs.base import machine
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.subset_sum import all_sums, cpu, subset_sum
from mmpcodec.solvers.subset_sum.methods import DENSE_STEP
from mmpcodec.solvers.subset_sum.quick import greedy

Instance = tuple[np.ndarray, int]
CP_SAT_SECONDS = 10.0
SHORT_SECONDS = 0.5
BIG_INTEGER_STEPS = 3e11
FEW_STEPS = 3e10
"""Exclusive limit of items times capacity for a Python integer beside a device."""
CPU_SECONDS = 1.0
"""Exclusive limit of cpu's predicted time beside a device, in seconds; longer runs are skipped."""
ROOMY = 1 << 36
"""Memory limit of a method in comparisons of whole calls with a device, in bytes."""

THESIS = {
    "Half": (0.00, 0.00, 0.05, 0.08, 0.24, 1.30, 12.57),
    "P": (0.05, 0.06, 0.11, 0.32, 1.33, 7.02, 0.00),
    "Uniform": (0.05, 0.05, 0.05, 0.05, 0.06, 0.07, 0.11),
}
"""Seconds of K3-32 by class, one for each number of items in ``THESIS_ITEMS``."""
THESIS_ITEMS = (10, 30, 100, 300, 1000, 3000, 10000)


def half(count: int) -> Instance:
    """Return multiples of 10 up to 10^6 and a capacity near half their sum with last digit 5."""
    weights = 10 * np.random.default_rng(count).integers(1, 10**5, count, endpoint=True)
    return weights, int(weights.sum()) // 20 * 10 + 5


def p_class(count: int) -> Instance:
    """Return even weights up to 10^6 and an odd capacity near count * 10^6 / 8."""
    weights = 2 * np.random.default_rng(count).integers(1, 5 * 10**5, count, endpoint=True)
    return weights, count * 10**6 // 8 | 1


def uniform(count: int) -> Instance:
    """Return even weights up to 10^6 and the odd capacity 10^6 + 1."""
    weights = 2 * np.random.default_rng(count).integers(1, 5 * 10**5, count, endpoint=True)
    return weights, 10**6 + 1


def even_odd(count: int) -> Instance:
    """Return even weights up to 1000 and an odd capacity near count * 1000 / 4."""
    weights = 2 * np.random.default_rng(count).integers(1, 500, count, endpoint=True)
    return weights, count * 1000 // 4 | 1


def disturbed(count: int, heaviest: int = 1000) -> Instance:
    """Return multiples of 10, two of them raised by 1; no sum has the capacity's last digit 5."""
    weights = 10 * np.random.default_rng(count).integers(1, heaviest // 10, count, endpoint=True)
    weights[[count // 3, count // 2]] += 1
    return weights, int(weights.sum()) // 20 * 10 + 5


def avis(count: int) -> Instance:
    """Return weights near count^2; any (count - 1) // 2 items are too light, any more too heavy."""
    weights = count * (count + 1) + np.arange(1, count + 1)
    return weights, (count - 1) // 2 * count * (count + 1) + count * (count - 1) // 2


def todd(count: int) -> Instance:
    """Return weights of which no two sets have equal sums, and half their sum as the capacity."""
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
    """Return the largest sum by shifts of a Python integer whose bits are the sums."""
    bits, mask = 1, (2 << capacity) - 1
    for weight in weights.tolist():
        bits |= bits << weight & mask
    return bits.bit_length() - 1


def cp_sat(weights: np.ndarray, capacity: int) -> int | None:
    """Return the largest sum by CP-SAT, or None if it is not proven in ``CP_SAT_SECONDS``."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in weights]
    total = sum(one * int(weight) for one, weight in zip(taken, weights, strict=True))
    model.add(total <= capacity)
    model.maximize(total)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = CP_SAT_SECONDS
    solver.parameters.num_workers = processors()
    proven = solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value) if proven else None


def least_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least wall time of one long run or three short runs, and the answer."""
    times: list[float] = []
    while not times or (len(times) < 3 and times[0] < SHORT_SECONDS):
        start = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - start)
    return min(times), found


def timed(work: Callable[[np.ndarray, int], int | None], instance: Instance, best: int) -> str:
    """Return the seconds of a peer as text, after a check of its answer."""
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
                dense = partial(subset_sum, method="dense", items=items, memory_limit=1 << 34)
                cells.append(timed(lambda *one, dense=dense: dense(*one).sum, instance, found.sum))
            small = count * capacity < BIG_INTEGER_STEPS
            cells.append(timed(big_integer, instance, found.sum) if small else "")
            cells.append(timed(cp_sat, instance, found.sum) if with_cp_sat else "")
            print(f"| {name} | {count} | {' | '.join(cells)} |", flush=True)


def ms(work: Callable[[], Any]) -> tuple[str, Any]:
    """Return the least milliseconds as text, and the answer."""
    seconds, found = least_seconds(work)
    return f"{1000 * seconds:.2f}", found


def kernel_ms(weights: np.ndarray, target: int, limit: int, floor: int, items: bool) -> str:
    """Return the least milliseconds of the kernel ``add_items`` as text, by device events."""
    import cupy

    from mmpcodec.solvers.subset_sum.cuda import DeviceRow

    times: list[float] = []
    while not times or (len(times) < 3 and times[0] < 1000 * SHORT_SECONDS):
        row = DeviceRow(weights, limit, floor, items)
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        row.add_items(target)
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end))
    return f"{min(times):.2f}"


def on_both(weights: np.ndarray, limit: int, floor: int) -> tuple[int, list[str]]:
    """Return the largest sum, and times of cuda, its kernel and cpu, without and with items.

    The processor is left out where its predicted time reaches ``CPU_SECONDS``.
    """
    from mmpcodec.solvers.subset_sum import cuda

    cells = []
    for items in (False, True):
        problem = weights, limit, limit, floor, items
        text, there = ms(partial(cuda.dense, *problem))
        cells += [text, kernel_ms(*problem), ""]
        if len(weights) * limit * DENSE_STEP * 1e-9 / processors() < CPU_SECONDS:
            cells[-1], here = ms(partial(cpu.dense, *problem))
            assert here[0] == there[0]
            assert here[1] is None or np.array_equal(here[1], there[1])
    return there[0], cells


def bench_first_calls() -> None:
    instance = disturbed(1000, 10**6)
    print("| dense on a device | ms |\n|---|---|")
    start = time.perf_counter()
    first: Any = subset_sum(*instance, method="dense", backend="cuda")
    print(f"| first call of a process | {1000 * (time.perf_counter() - start):.0f} |")
    text, again = ms(partial(subset_sum, *instance, method="dense", backend="cuda"))
    assert again.items.tolist() == first.items.tolist()
    print(f"| later | {text} |", flush=True)


def bench_thesis() -> None:
    """Measure the row up to the given capacity, as in the thesis, without a common divisor."""
    print(
        "\n| class | items | solver | ms | row: cuda ms | kernel ms | cpu ms | with items: cuda ms "
        "| kernel ms | cpu ms | thesis ms |\n" + "|---" * 11 + "|"
    )
    classes = {"Half": half, "P": p_class, "Uniform": uniform}
    for name, make in classes.items():
        for count, thesis in zip(THESIS_ITEMS, THESIS[name], strict=True):
            weights, capacity = make(count)
            text, found = ms(partial(subset_sum, weights, capacity))
            cells = [f"{found.method}, {found.backend}", text]
            light = weights[weights <= capacity]
            floor = int(light[greedy(light, capacity)].sum())
            # The row ends at the sum of all items if they fit together.
            limit = min(capacity, int(light.sum()))
            best, more = on_both(light, limit, floor)
            assert best == found.sum
            cells += more
            print(f"| {name} | {count} | {' | '.join(cells)} | {1000 * thesis:.0f} |", flush=True)


HARD: list[tuple[str, Callable[[int], Instance], list[int]]] = [
    ("even-odd, not divided", even_odd, [1000, 10000]),
    ("disturbed", disturbed, [1000, 10000]),
    ("disturbed, to 10^6", lambda count: disturbed(count, 10**6), [100, 300, 1000, 3000, 10000]),
    ("Avis", avis, [100, 500, 1000]),
]
"""Classes in which no sum is the capacity, so that the row takes all items."""


def bench_hard() -> None:
    print(
        "\n| class | items | sums | row: cuda ms | kernel ms | cpu ms | with items: cuda ms "
        "| kernel ms | cpu ms | Python integer ms |\n" + "|---" * 10 + "|"
    )
    for name, make, counts in HARD:
        for count in counts:
            weights, capacity = make(count)
            best, cells = on_both(weights, capacity, 0)
            peer = ""
            if count * capacity < FEW_STEPS:
                peer, found = ms(partial(big_integer, weights, capacity))
                assert found == best
            print(f"| {name} | {count} | {capacity} | {' | '.join(cells)} | {peer} |", flush=True)


def bench_device_meet() -> None:
    print("\n| Todd, meet | cpu ms | cuda ms |\n|---|---|---|")
    for count in (24, 32, 40, 44, 48):
        instance = todd(count)
        options: dict[str, Any] = {"method": "meet", "memory_limit": ROOMY}
        here_ms, here = ms(partial(subset_sum, *instance, backend="cpu", **options))
        there_ms, there = ms(partial(subset_sum, *instance, backend="cuda", **options))
        assert here.sum == there.sum
        assert np.array_equal(here.items, there.items)
        print(f"| {count} | {here_ms} | {there_ms} |", flush=True)


def bench_device_all_sums() -> None:
    from mmpcodec.solvers.subset_sum import cuda

    print("\n| all sums of | up to | cpu ms | cuda ms | bits: cpu ms | cuda ms | kernel ms |")
    print("|---" * 7 + "|")
    for count, heaviest in ((1000, 1000), (10000, 1000), (100, 10**6), (1000, 10**6)):
        weights, _ = disturbed(count, heaviest)
        total = int(weights.sum())
        here_ms, here = ms(partial(all_sums, weights, backend="cpu"))
        there_ms, there = ms(partial(all_sums, weights, backend="cuda"))
        assert np.array_equal(here, there)
        bits_here, _ = ms(partial(cpu.sums, weights, total))
        bits_there, _ = ms(partial(cuda.sums, weights, total))
        kernel = kernel_ms(weights, -1, total, 0, False)
        cells = " | ".join((here_ms, there_ms, bits_here, bits_there, kernel))
        print(f"| {count} items to {heaviest} | {total} | {cells} |", flush=True)


def bench_device() -> None:
    from mmpcodec.backends.cuda.backend import CudaBackend

    print(f"{date.today()}, {CudaBackend().describe()}, {processors()} processors\n")
    bench_first_calls()
    bench_thesis()
    bench_hard()
    bench_device_meet()
    bench_device_all_sums()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--or-tools", action="store_true", help="measure CP-SAT as well")
    parser.add_argument("--cuda", action="store_true", help="measure a device beside cpu")
    arguments = parser.parse_args()
    if arguments.cuda:
        bench_device()
        return
    print(f"{date.today()}, {machine()}\n")
    bench_classes(arguments.or_tools)


if __name__ == "__main__":
    main()
