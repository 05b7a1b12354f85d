"""The operations in C++; see ``kernels/cpu/solvers/knapsack/sweep.h``."""

import numpy as np

from mmpcodec import _cpu
from mmpcodec.runtime.machine import free_bytes as free_bytes
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.knapsack import reference
from mmpcodec.solvers.knapsack.bounds import SMALL_PROFITS, peak
from mmpcodec.solvers.knapsack.problem import Problem
from mmpcodec.solvers.knapsack.reference import CELLS_A_STATE as CELLS_A_STATE
from mmpcodec.solvers.knapsack.reference import DIRECT_CELLS as DIRECT_CELLS
from mmpcodec.solvers.knapsack.reference import LEAST_STATES as LEAST_STATES
from mmpcodec.solvers.knapsack.reference import LOOK_CELLS as LOOK_CELLS
from mmpcodec.solvers.knapsack.reference import SMALL_CELLS as SMALL_CELLS
from mmpcodec.solvers.limits import OutOfTime, seconds_left

REDUCES = True


def value_bytes(problem: Problem) -> int:
    """See the function in ``reference``; 4 if all values fit into 32 bits, else 8."""
    return 4 if peak(problem) < SMALL_PROFITS else 8


def start_row(problem: Problem, deadline: float | None = None) -> np.ndarray:
    """See the function in ``reference``."""
    row = np.zeros(problem.states, np.int32 if value_bytes(problem) == 4 else np.int64)
    if problem.exact_fill:
        reference.fill(row[1:], _nothing(row), deadline)
    return row


def sweep(
    problem: Problem,
    first: int,
    last: int,
    row: np.ndarray,
    keep: bool,
    deadline: float | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """See the function in ``reference``."""
    if first == last:
        return row, np.zeros(0, np.uint64) if keep else None
    after = np.empty_like(row)
    other = np.empty_like(row) if last - first > 1 else after
    decisions = np.empty(
        int(problem.bits[first:last].sum()) * plane_bytes(problem) // 8 * keep, np.uint64
    )
    done = _cpu.knapsack_sweep(
        problem.profits,
        problem.weights,
        problem.starts,
        problem.shape,
        first,
        last,
        row,
        after,
        other,
        decisions,
        seconds_left(deadline),
        processors(),
    )
    if not done:
        raise OutOfTime
    return after, decisions if keep else None


def trace(
    problem: Problem, first: int, last: int, decisions: np.ndarray, state: int, choices: np.ndarray
) -> int:
    """See the function in ``reference``."""
    return _cpu.knapsack_trace(
        problem.weights, problem.starts, problem.shape, first, last, decisions, state, choices
    )


def value_at(row: np.ndarray, state: int) -> int | None:
    """See the function in ``reference``."""
    return None if row[state] < _nothing(row) // 2 else int(row[state])


def host_row(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See the function in ``reference``."""
    feasible = row >= _nothing(row) // 2
    return np.where(feasible, row, 0).astype(np.int64), feasible


def solve_many(problems: list[Problem], memory: int) -> list[tuple[int | None, np.ndarray]]:
    """See the function in ``reference``."""
    options = np.cumsum([0, *(len(problem.profits) for problem in problems)])
    firsts = np.cumsum([0, *(problem.stages for problem in problems)])
    starts = [p.starts[:-1] + first for p, first in zip(problems, options[:-1], strict=True)]
    feasible = np.zeros(len(problems), bool)
    values = np.zeros(len(problems), np.int64)
    choices = np.zeros(firsts[-1], np.int64)
    _cpu.knapsack_sweep_many(
        np.concatenate([problem.profits for problem in problems]),
        np.concatenate([problem.weights for problem in problems]),
        np.concatenate([*starts, options[-1:]]),
        firsts,
        [problem.shape for problem in problems],
        problems[0].exact_fill,
        feasible,
        values,
        choices,
        processors(),
    )
    return [
        (int(value) if some else None, part)
        for value, some, part in zip(values, feasible, np.split(choices, firsts[1:-1]), strict=True)
    ]


def plane_bytes(problem: Problem) -> int:
    """See the function in ``reference``; one bit for each state, in whole 64-bit words."""
    return -(-problem.states // 64) * 8


def _nothing(row: np.ndarray) -> int:
    return -(1 << (8 * row.itemsize - 2))
