"""Measure knapsacks of several budgets from files of the OR-Library beside HiGHS.

    python scripts/bench/solvers/budgets.py FILE... [--most N] [--limit SECONDS]

The files are those of J. E. Beasley's OR-Library, mknap1 and mknapcb1 to mknapcb9, from
people.brunel.ac.uk/~mastjjb/jeb/orlib/mknapinfo.html, and hp, pb, pet, sento, weing and weish, the
problems of its mknap2 as one file each, from SAC-94. Of a file with more than N problems, N at
equal distances are measured. HiGHS is that of SciPy, with a gap of 0. Both solve each
problem in turn, and the least processor time of all threads counts. A different value ends the run.
The script prints the rows of docs/benchmarks/data/solvers.jsonl, with times in ms.
"""

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from knapsack_peers import Instance, by_highs

from mmpcodec.errors import ParameterError
from mmpcodec.solvers.or_library import OrProblem, read_problem

RUNS = 3
LONG_MS = 1000
"""Longer runs are not repeated."""
MOST_PROBLEMS = 1000


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the answer and the processor time in ms."""
    start = time.process_time()
    answer = work()
    return answer, 1000 * (time.process_time() - start)


def problems(path: Path, most: int) -> list[tuple[str, OrProblem]]:
    """Return the names and the problems of a file, at most ``most``."""
    data, found = path.read_bytes(), []
    for number in range(1, MOST_PROBLEMS):
        try:
            found.append((f"{path.stem}-{number}", read_problem(data, path.name, number)))
        except ParameterError:
            break
    if len(found) == 1:
        return [(path.stem, found[0][1])]
    return found[:: max(1, len(found) // most)][:most]


def decimal(value: int, decimals: int) -> int | str:
    """Return a value as the file counts it; text if it has decimals."""
    return f"{value / 10**decimals:,.{decimals}f}" if decimals else value


def measured(name: str, problem: OrProblem, limit: float) -> dict[str, object]:
    """Return the row of a problem."""
    numbers = np.array(problem.profits), np.array(problem.weights), problem.capacities
    instance = Instance(*numbers)
    best_ms, highs_ms, highs = float("inf"), float("inf"), None
    for _ in range(RUNS):
        found, own = timed(partial(instance.solve, limit))
        highs, other = timed(partial(by_highs, instance, limit))
        best_ms, highs_ms = min(best_ms, own), min(highs_ms, other)
        if max(own, other) > LONG_MS:
            break
    if highs is not None and found.optimal and highs != found.value:
        raise SystemExit(f"{name}: mmpcodec {found.value}, HiGHS {highs}")
    assert found.value is not None
    return {
        "problem": name,
        "items": len(problem.profits),
        "budgets": len(problem.capacities),
        "path": found.path,
        "value": decimal(found.value, problem.decimals),
        "proven": "yes" if found.optimal else "no",
        "mmp_ms": float(f"{best_ms:.3g}"),
        "highs_ms": float(f"{highs_ms:.3g}") if highs is not None else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure knapsacks of several budgets.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--most", type=int, default=3, help="Most problems of a file.")
    parser.add_argument("--limit", type=float, default=60.0, help="Seconds for each problem.")
    options = parser.parse_args()
    print(f"HiGHS of SciPy {version('scipy')}")
    for path in options.files:
        for name, problem in problems(path, options.most):
            row = {"run": "knapsack-budgets-cpu", **measured(name, problem, options.limit)}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
