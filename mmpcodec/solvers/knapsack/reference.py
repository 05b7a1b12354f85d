"""The definition of the operations on a table of states, in NumPy.

The other backends must give equal answers. A row holds a value for each state: the largest profit
of the stages so far whose weights add up to at most (with ``exact_fill``, exactly) the capacities
of the state. Each backend has its own format of rows and decisions. A caller reads a row only
through ``value_at`` and ``host_row``, and decisions only through ``trace``.
"""

import numpy as np

from mmpcodec.runtime.machine import free_bytes as free_bytes
from mmpcodec.solvers.knapsack.problem import Problem
from mmpcodec.solvers.limits import look

REDUCES = False
"""Whether problems are reduced before a table is filled."""

DIRECT_CELLS = 0
"""Most cells (states times options) of a table that is filled faster than a problem is reduced."""

SMALL_CELLS = 1 << 24
"""Most cells of a table that ``solve_many`` fills together with others."""

LEAST_STATES = 1 << 22
"""Least number of states that the lists of a pass may make before a table replaces them."""

LOOK_CELLS = 1 << 27
"""Cells of tables between two tests of the deadline, filled in about 0.1 s."""

CELLS_A_STATE = 16
"""Cells of a table that are filled in the time of one state of a list."""

_NOTHING = -(1 << 62)
_PART = 1 << 24


def value_bytes(problem: Problem) -> int:
    """Return the size of a value in a row, in bytes."""
    return 8


def start_row(problem: Problem, deadline: float | None = None) -> np.ndarray:
    """Return the row before the first stage.

    Raises
    ------
    OutOfTime
        When the deadline passes before the row is complete.
    """
    row = np.zeros(problem.states, np.int64)
    if problem.exact_fill:
        fill(row[1:], _NOTHING, deadline)
    return row


def fill(row: np.ndarray, value: int, deadline: float | None) -> None:
    """Set all values of a row in parts; between parts the deadline is tested and Ctrl+C works."""
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
    """Return the row after the stages first to last - 1, given the row before them.

    The given row stays unchanged. With ``keep``, also return the decisions: for each stage and
    state the lowest option of the largest value. Else the decisions are None.

    Raises
    ------
    OutOfTime
        When the deadline passes before the sweep ends. A device does not test it during a sweep.
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
    """Write choices[first:last] that lead to a state; return the state before stage ``first``."""
    strides = _strides(problem)
    for stage in reversed(range(first, last)):
        choices[stage] = decisions[stage - first, state]
        state -= int(problem.weights[problem.starts[stage] + choices[stage]] @ strides)
    return state


def value_at(row: np.ndarray, state: int) -> int | None:
    """Return the value of a state; None if no choice leads to the state."""
    return None if row[state] < _NOTHING // 2 else int(row[state])


def host_row(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all values, int64 and 0 if infeasible, and their feasibility, bool; both (states,)."""
    feasible = row >= _NOTHING // 2
    return np.where(feasible, row, 0), feasible


def solve_many(problems: list[Problem], memory: int) -> list[tuple[int | None, np.ndarray]]:
    """Return the value and the choices of each small problem at its capacities.

    All problems have equal numbers of capacities and equal ``exact_fill``. The table of each single
    problem fits in ``memory`` bytes. The value is None if no choice is feasible.
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
    """Return an upper bound of the bytes that one bit of the decisions of a stage needs."""
    return 2 * problem.states


def _strides(problem: Problem) -> np.ndarray:
    sizes = [*problem.shape[1:], 1]
    return np.cumprod(sizes[::-1])[::-1].astype(np.int64)
