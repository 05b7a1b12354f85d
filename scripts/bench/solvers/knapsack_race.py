"""Race knapsacks of one capacity against Combo, minknap, HiGHS and CP-SAT, in processor time.

    python scripts/bench/solvers/knapsack_race.py [--count N] [--range R] [--limit SECONDS]
        [--combo LIBRARY] [--minknap PROGRAM] [--noisy FOLDER --files N] [--units]

Prints the rows of docs/benchmarks/data/solvers.jsonl, with the least processor time of three runs
in ms, peers and ours in turn, all threads added. The items of our answer are added up again. A
peer with a smaller value is wrong, and its cell says so; one with a larger value ends the run. The
script names the peers that are not there.

- Combo by D. Pisinger: combo.c, as in github.com/SuneGadegaard/SSCFLPsolver, with MAXSTATES raised
  to 150000000 and the function ``long combo_value(long n, const long *p, const long *w, long c)``,
  which fills its items and calls ``combo(first, last, c, 0, 1L << 60, 1, 0)``; compiled by
  ``gcc -O3 -shared -fPIC``.
- minknap of github.com/fontanf/knapsacksolver: its program, with ``--algorithm
  dynamic-programming-primal-dual``; its time includes reading the file.
- HiGHS through SciPy and CP-SAT of OR-Tools, on one thread, if they are installed.
- With --noisy, the folder problemInstances of github.com/JorikJooken/knapsackProblemInstances: N
  files of each capacity 10^6 and 10^8, drawn with seed 1, beside Combo.
- With --units, three of the classes with copies, or with limits of the number of items, without
  Combo and minknap.
"""

import argparse
import ctypes
import json
import math
import os
import random
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
from knapsack_classes import CLASSES
from knapsack_peers import Answer, Instance, by_cp_sat, by_highs, by_mmpcodec

from mmpcodec.bench.codecs.base import machine

Solve = Callable[[Instance], Answer]

OURS = "mmpcodec"
KEYS = {
    OURS: "mmp_ms",
    "Combo": "combo_ms",
    "minknap": "minknap_ms",
    "HiGHS": "highs_ms",
    "CP-SAT": "cpsat_ms",
}
RUNS = 3
LONG, SHORT = 2.0, 0.01
"""A run of more than ``LONG`` seconds is not repeated; after one of less than ``SHORT`` seconds, a
run is the mean of ``CALLS`` calls."""
CALLS = 50


def by_combo(library: str) -> Solve:
    solve = ctypes.CDLL(library).combo_value
    solve.restype = ctypes.c_long
    solve.argtypes = [ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]

    def run(instance: Instance) -> int:
        profits, weights = instance.profits, instance.weights
        return solve(len(profits), profits.ctypes.data, weights.ctypes.data, instance.capacities)

    return run


def by_minknap(program: str, limit: float) -> Solve:
    def run(instance: Instance) -> int | None:
        profits, weights = instance.profits.tolist(), instance.weights.tolist()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "items")
            lines = [f"{len(profits)} {instance.capacities}"]
            lines += [f"{p} {w}" for p, w in zip(profits, weights, strict=True)]
            file.write_text("\n".join(lines) + "\n")
            command = [program, "--algorithm", "dynamic-programming-primal-dual"]
            command += ["--input", str(file), "--format", "standard", "--time-limit", str(limit)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        words = [line.split() for line in done.stdout.splitlines()]
        found = {each[0]: each[1] for each in words if each and each[0] in ("Value:", "Bound:")}
        value = found.get("Value:")
        return int(value) if value is not None and value == found.get("Bound:") else None

    return run


def processor_seconds() -> float:
    """Return the processor time of this process and of the programs that it ran."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def race(solvers: dict[str, Solve], instance: Instance, limit: float) -> dict[str, float | None]:
    """Return the least processor time of each solver, None where nothing was proven in time."""
    times: dict[str, float | None] = {}
    values: dict[str, Answer] = {}
    for run in range(RUNS):
        for name, solve in solvers.items():
            before = times.get(name, 0.0)
            if before is None or before > LONG:
                continue
            calls = CALLS if run and before is not None and before < SHORT else 1
            start = processor_seconds()
            for _ in range(calls):
                values[name] = solve(instance)
            seconds = (processor_seconds() - start) / calls
            proven = values[name] is not None
            times[name] = (min(seconds, before or seconds) if run else seconds) if proven else None
    found, best = instance.solve(limit), values[OURS]
    taken, counts = list(found.items), np.array(found.counts, int)
    assert counts @ instance.weights[taken] <= instance.capacities
    assert not isinstance(best, int) or counts @ instance.profits[taken] == best
    for name, value in values.items():
        if best is not None and value is not None and value != best:
            if isinstance(value, str) or isinstance(best, str) or value > best:
                raise SystemExit(f"another answer: {values}")
            times[name] = math.nan
    return times


def cell(seconds: float | None) -> float | str:
    """Return milliseconds with three digits, or a word: without a proof, or with a wrong value."""
    if seconds is None:
        return "not proven"
    return "wrong" if math.isnan(seconds) else float(f"{1000 * seconds:.3g}")


def noisy(solvers: dict[str, Solve], folder: str, files: int, limit: float) -> None:
    """Print the total time of files of each capacity, and of those that all solvers prove."""
    print(f"\n| capacity | files | {' | '.join(f'{name}, s' for name in solvers)} |")
    print("|---" * (2 + len(solvers)) + "|")
    for capacity in (10**6, 10**8):
        names = sorted(n for n in os.listdir(folder) if f"_c_{capacity}_" in n)
        totals = dict.fromkeys(solvers, 0.0)
        proven = dict.fromkeys(solvers, 0)
        for name in random.Random(1).sample(names, files):
            numbers = np.array(Path(folder, name, "test.in").read_text().split(), np.int64)
            items = numbers[1:-1].reshape(-1, 3)
            profits, weights = np.ascontiguousarray(items[:, 1:].T)
            instance = Instance(profits, weights, int(numbers[-1]))
            for solver, seconds in race(solvers, instance, limit).items():
                totals[solver] += seconds or 0.0
                proven[solver] += seconds is not None
        cells = [f"{totals[s]:.3f} ({proven[s]} proven)" for s in solvers]
        print(f"| {capacity} | {files} | {' | '.join(cells)} |", flush=True)


def instances(name: str, count: int, top: int, units: bool) -> Iterator[tuple[str, Instance]]:
    """Yield the instances of one class and size; of ``units``, a quarter of all weights fits."""
    profits, weights = CLASSES[name](np.random.default_rng(count), count, top)
    capacity = int(weights.sum()) // (4 if units else 2)
    if not units:
        yield name, Instance(profits, weights, capacity)
        return
    given = partial(Instance, profits, weights, capacity)
    usual = len(given().solve(3600).items)
    yield f"{name}, up to 10 copies", given(copies=10)
    yield f"{name}, any copies", given(copies=math.inf)
    yield f"{name}, at most {usual * 4 // 5}", given(most=usual * 4 // 5)
    yield f"{name}, at least {usual + 2}", given(least=usual + 2)
    yield f"{name}, exactly {usual - 1}", given(least=usual - 1, most=usual - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--range", type=int, nargs="+", default=[1000])
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--classes", nargs="+", choices=CLASSES, default=list(CLASSES))
    parser.add_argument("--combo")
    parser.add_argument("--minknap")
    parser.add_argument("--general", action="store_true", help="also HiGHS and CP-SAT")
    parser.add_argument("--units", action="store_true", help="copies and numbers of items")
    parser.add_argument("--noisy")
    parser.add_argument("--files", type=int, default=60)
    options = parser.parse_args()
    limit = options.limit
    solvers: dict[str, Solve] = {OURS: partial(by_mmpcodec, limit=limit)}
    if options.combo and not options.units:
        solvers["Combo"] = by_combo(options.combo)
    if options.minknap and not options.units:
        solvers["minknap"] = by_minknap(options.minknap, limit)
    if options.general:
        solvers["HiGHS"] = partial(by_highs, limit=limit)
        if find_spec("ortools"):
            solvers["CP-SAT"] = partial(by_cp_sat, limit=limit)
    missing = {"Combo", "minknap", "HiGHS", "CP-SAT"} - solvers.keys()
    print(f"{machine()}; {date.today()}; without {', '.join(sorted(missing)) or 'none'}\n")
    if options.noisy:
        noisy(solvers, options.noisy, options.files, limit)
        return
    run = "knapsack-units-cpu" if options.units else "knapsack-race-cpu"
    classes = options.classes[: 3 if options.units else None]
    for top, count, name in product(options.range, options.count, classes):
        for shown, instance in instances(name, count, top, options.units):
            times = race(solvers, instance, limit)
            row = {"class": shown, "items": count, "range": top}
            row |= {KEYS[solver]: cell(times[solver]) for solver in solvers}
            print(json.dumps({"run": run} | row), flush=True)


if __name__ == "__main__":
    main()
