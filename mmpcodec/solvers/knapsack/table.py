"""The dense dynamic programme over all states, within a memory limit.

If the decisions of all stages do not fit, the stages are halved: the row in the middle is computed
without decisions, then the second half is traced back, then the first half. Halving does not change
the choice. Source: D. Hirschberg, "A linear space algorithm for computing maximal common
subsequences", Communications of the ACM 1975.
"""

import math
from typing import Any

import numpy as np

from mmpcodec.errors import LimitExceeded
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.knapsack.problem import MAX_OPTIONS, Problem
from mmpcodec.solvers.limits import check_memory, look

AUTO_CELLS = 1 << 32
"""Cells of tables from which on "auto" starts a device; the processor needs a second or more."""
MAX_BITS = (MAX_OPTIONS - 1).bit_length()
"""Most bits of a decision."""


def table_backend(backend: str, cells: int) -> str:
    """Return the name of the backend that fills tables of ``cells`` cells in total."""
    seconds = math.inf if cells >= AUTO_CELLS else 0.0
    return dispatch.resolved(__package__, backend, seconds=seconds)


def usable_memory(limit: int | None, operation: Any) -> int:
    """Return the bytes that a backend may use: the caller's limit, or half of its free memory.

    Raises
    ------
    ParameterError
        When the limit is no integer from 0 to ``MOST_MEMORY``.
    """
    if limit is None:
        return operation.free_bytes() // 2
    return check_memory(limit)


def table_bytes(problem: Problem, operation: Any, halvings: int = 0, extra: int = 0) -> int:
    """Return the bytes of a table after ``halvings``, with ``extra`` bytes more for each state."""
    # The row before a part, two rows in turn, and the row before each half that waits.
    rows = (3 + halvings) * operation.value_bytes(problem) * problem.states
    bits = (int(problem.options.max(initial=1)) - 1).bit_length()
    a_stage = bits * operation.plane_bytes(problem)
    return rows + _part(problem, halvings) * a_stage + extra * problem.states


def table_fits(problem: Problem, operation: Any, memory: int) -> bool:
    """Return whether ``table_bytes`` are at most ``memory``, from a simple bound if that tells."""
    most = 3 * 8 * problem.states + problem.stages * MAX_BITS * operation.plane_bytes(problem)
    return most <= memory or table_bytes(problem, operation) <= memory


def fits(problem: Problem, operation: Any, memory: int) -> bool:
    """Return whether a table fits into ``memory`` bytes after some number of halvings."""
    halvings = range(max(problem.stages, 1).bit_length() + 1)
    return any(table_bytes(problem, operation, h) <= memory for h in halvings)


def _part(problem: Problem, halvings: int) -> int:
    """Return the number of stages whose decisions are in memory at a time."""
    return max(1, -(-problem.stages >> halvings))


class Table:
    """Rows and decisions of a problem, and the choices that lead to its states.

    Parameters
    ----------
    problem : Problem
    operation : module
        Module of a backend; see ``reference``.
    memory : int
        Memory limit in bytes.
    deadline : float or None
        Value of ``time.monotonic``.
    extra_bytes : int
        Memory of the caller for each state, in bytes.

    Raises
    ------
    LimitExceeded
        When the table does not fit after any number of halvings; nothing is allocated.
    """

    def __init__(
        self,
        problem: Problem,
        operation: Any,
        memory: int,
        deadline: float | None,
        extra_bytes: int = 0,
    ):
        self.problem, self.operation, self.deadline = problem, operation, deadline
        halvings, needs = 0, [table_bytes(problem, operation, 0, extra_bytes)]
        while needs[-1] > memory:
            if _part(problem, halvings) == 1:
                raise LimitExceeded(
                    "Knapsack memory",
                    f"a table of {problem.states} states needs {min(needs)} bytes; the limit is "
                    f"{memory}",
                )
            halvings += 1
            needs.append(table_bytes(problem, operation, halvings, extra_bytes))
        self.part = _part(problem, halvings)
        self.halved = halvings > 0

    def solve(self) -> tuple[int | None, np.ndarray]:
        """Return the value, None if no choice is feasible, and the choices at the capacities.

        Raises
        ------
        OutOfTime
            When the deadline passes before the end.
        """
        choices = np.zeros(self.problem.stages, np.int64)
        if not self.problem.stages:
            row = self._start_row()
            return self.operation.value_at(row, self.problem.states - 1), choices
        feasible = self._recover(self.problem.states - 1, choices)
        return (self.problem.value(choices) if feasible else None), choices

    def fill(self) -> tuple[Any, list | None]:
        """Return the row after all stages, and all decisions; None if they do not fit."""
        return self._sweep(0, self.problem.stages, self._start_row(), not self.halved)

    def trace(self, pieces: list | None, state: int) -> np.ndarray:
        """Return the choices that lead to a feasible state, given the decisions of ``fill``."""
        choices = np.zeros(self.problem.stages, np.int64)
        if pieces is None:
            self._recover(state, choices)
        else:
            self._follow(pieces, state, choices)
        return choices

    def _start_row(self) -> Any:
        return self.operation.start_row(self.problem, self.deadline)

    def _recover(self, state: int, choices: np.ndarray) -> bool:
        # Stack of parts that wait: first stage, last stage + 1, row before the first stage.
        waiting = [(0, self.problem.stages, self._start_row())]
        while waiting:
            first, last, row = waiting.pop()
            while last - first > self.part:
                middle = (first + last + 1) // 2
                waiting.append((first, middle, row))
                row, _ = self._sweep(first, middle, row, False)
                first = middle
            row, pieces = self._sweep(first, last, row, True)
            if last == self.problem.stages and self.operation.value_at(row, state) is None:
                return False
            assert pieces is not None
            state = self._follow(pieces, state, choices)
        return True

    def _follow(self, pieces: list, state: int, choices: np.ndarray) -> int:
        for first, last, decisions in reversed(pieces):
            state = self.operation.trace(self.problem, first, last, decisions, state, choices)
        return state

    def _sweep(self, first: int, last: int, row: Any, keep: bool) -> tuple[Any, list | None]:
        """Sweep some stages, with a test of the deadline about every ``LOOK_CELLS`` cells."""
        pieces = []
        step = max(last - first, 1)
        if self.deadline is not None:
            cells = math.ceil(self.problem.cells / max(self.problem.stages, 1))
            step = max(1, min(step, self.operation.LOOK_CELLS // cells))
        for begin in range(first, last, step):
            look(self.deadline)
            end = min(begin + step, last)
            row, decisions = self.operation.sweep(
                self.problem, begin, end, row, keep, self.deadline
            )
            pieces.append((begin, end, decisions))
        return row, pieces if keep else None
