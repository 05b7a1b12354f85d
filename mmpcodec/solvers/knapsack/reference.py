"""The readable definition of the operations on a table of states, in NumPy; judge of the others.

A row holds a value for each state: the most profit of the stages so far whose weights add up to at
most (exactly, with ``exact_fill``) the state's capacities. Rows and decisions belong to the backend
that made them; only ``value_at`` and ``host_row`` look into them.
"""

import os

import numpy as np

from mmpcodec.solvers.knapsack.clock import look
from mmpcodec.solvers.knapsack.problem import Problem

REDUCES = False
"""Whether problems are reduced before they come here."""

DIRECT_CELLS = 0
"""Cells of a table (states times options) that are filled sooner than a problem is reduced."""

SMALL_CELLS = 1 << 24
"""Cells of a table that waits for others, to be filled with them."""

LEAST_STATES = 1 << 22
"""States of lists that are made before a table is thought of."""

LOOK_CELLS = 1 << 27
"""Cells of tables that are filled in about a tenth of a second, between looks at the clock."""

CELLS_A_STATE = 16
"""Cells of a table that are filled in the time of a state of a list."""

_NOTHING = -(1 << 62)
_PART = 1 << 24


def value_bytes(problem: Problem) -> int:
    """Of a state in a row."""
    return 8


def free_bytes() -> int:
    """Memory for rows and decisions that is free."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def start_row(problem: Problem, deadline: float | None = None) -> np.ndarray:
    """The row in front of the first stage.

    Raises
    ------
    OutOfTime
        When the deadline passes before it is there.
    """
    row = np.zeros(problem.states, np.int64)
    if problem.exact_fill:
        fill(row[1:], _NOTHING, deadline)
    return row


def fill(row: np.ndarray, value: int, deadline: float | None) -> None:
    """Make all of a row one value, with looks at the clock and for interrupts."""
    for begin in range(0, len(row), _PART):
        look(deadline)
        row[begin : begin + _PART] = value


def sweep(
    problem: Problem,
    first: int,
    last: int,
    row: np.ndarray,
    keep: bool,
    deadline: float | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """The row behind the stages first to last - 1, from that in front of them.

    That one stays as it is. With ``keep`` also their decisions: for each state the lowest option of
    those that give the most.

    Raises
    ------
    OutOfTime
        When the deadline passes before all is done; a device looks only in front of it.
    """
    lines = max(1, _PART * problem.shape[0] // problem.states)
    decisions = np.zeros((last - first, problem.states), np.uint16) if keep else None
    for stage in range(first, last):
        before = row.reshape(problem.shape)
        after = np.empty(problem.shape, np.int64)
        chosen = np.zeros(problem.shape, np.uint16)
        begin = problem.starts[stage]
        for top in range(0, problem.shape[0], lines):
            bottom = min(top + lines, problem.shape[0])
            after[top:bottom] = _NOTHING
            for option in range(problem.options[stage]):
                look(deadline)
                first_weight, *weights = problem.weights[begin + option].tolist()
                if (problem.weights[begin + option] > problem.capacities).any():
                    continue
                start = max(top, first_weight)
                rest = list(zip(problem.shape[1:], weights, strict=True))
                here = (slice(start, bottom), *(slice(w, None) for _, w in rest))
                there = (
                    slice(start - first_weight, max(bottom - first_weight, 0)),
                    *(slice(0, size - w) for size, w in rest),
                )
                candidates = before[there] + problem.profits[begin + option]
                better = after[here] < candidates
                after[here][better] = candidates[better]
                chosen[here][better] = option
        row = after.ravel()
        if decisions is not None:
            decisions[stage - first] = chosen.ravel()
    return row, decisions


def trace(
    problem: Problem, first: int, last: int, decisions: np.ndarray, state: int, choices: np.ndarray
) -> int:
    """Write choices[first:last], those that lead to a state; return the state in front of them."""
    strides = _strides(problem)
    for stage in reversed(range(first, last)):
        choices[stage] = decisions[stage - first, state]
        state -= int(problem.weights[problem.starts[stage] + choices[stage]] @ strides)
    return state


def value_at(row: np.ndarray, state: int) -> int | None:
    """The value of a state, None where no choice leads there."""
    return None if row[state] < _NOTHING // 2 else int(row[state])


def host_row(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All values as int64, 0 where there is none, and where there is one, both (states,)."""
    feasible = row >= _NOTHING // 2
    return np.where(feasible, row, 0), feasible


def solve_many(problems: list[Problem], memory: int) -> list[tuple[int | None, np.ndarray]]:
    """Value and choices of small problems, at their capacities, in one go.

    All have the same number of capacities and the same ``exact_fill``, and a table of each by
    itself fits in ``memory`` bytes.
    """
    answers: list[tuple[int | None, np.ndarray]] = []
    for problem in problems:
        choices = np.zeros(problem.stages, np.int64)
        row, decisions = sweep(problem, 0, problem.stages, start_row(problem), True)
        assert decisions is not None
        value = value_at(row, problem.states - 1)
        if value is not None:
            trace(problem, 0, problem.stages, decisions, problem.states - 1, choices)
        answers.append((value, choices))
    return answers


def plane_bytes(problem: Problem) -> int:
    """Memory that a bit of the decisions of a stage takes, at most."""
    return 2 * problem.states


def _strides(problem: Problem) -> np.ndarray:
    sizes = [*problem.shape[1:], 1]
    return np.cumprod(sizes[::-1])[::-1].astype(np.int64)
