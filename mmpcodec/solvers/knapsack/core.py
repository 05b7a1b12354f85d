"""Branch and bound for 0-1 knapsacks of one budget; see ``kernels/cpu/solvers/knapsack/core.h``.

It runs on the processor for every backend that reduces, because the lists of states change their
sizes too quickly for a device.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec import _cpu
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.knapsack.problem import Problem
from mmpcodec.solvers.limits import seconds_left

_STATE_BYTES = 16
_VALUE, _CHOICE = 1, 2
_WORD_BYTES = 8
_MOST_WORK = 1 << 36

SHORT_STATES = 1 << 18
"""Most states of a pass with short lists; large problems try other methods before longer lists."""


@dataclass(frozen=True)
class Answer:
    """The lists' answer: a choice, a value, and whether each is proven to be the best.

    Parameters
    ----------
    choices : (G,) int64 array
        A feasible choice.
    found : bool
        Whether ``choices`` is the best choice that ranks first. If not, the lists exceeded a limit.
    value : int
        Profit of ``choices`` or of a better feasible choice.
    proven : bool
        Whether no choice has more profit than ``value``.
    """

    choices: np.ndarray
    found: bool
    value: int
    proven: bool


def applies(problem: Problem, reduced: Problem) -> bool:
    """Return whether the reduced problem has items of one budget, ordered around the break item."""
    return problem.items is not None and reduced.stages > 0


def solve_short(problems: list[Problem], deadline: float | None) -> list[Answer]:
    """Solve problems with short lists only, each by one thread."""
    return _solve(problems, SHORT_STATES, [SHORT_STATES] * len(problems), deadline)


def solve(
    problems: list[Problem],
    memory: int,
    operation: Any,
    table_memory: int,
    deadline: float | None,
) -> list[Answer]:
    """Solve problems with lists of states in ``memory`` bytes, each by one thread.

    A search stops if a table by ``operation`` in ``table_memory`` bytes is predicted to be faster.
    """
    # Lists grow by doubling and are copied once more, so half of the memory must stay free.
    stored = memory // (2 * processors() * _STATE_BYTES)
    work = [_work(problem, operation, table_memory) for problem in problems]
    return _solve(problems, stored, work, deadline)


def _solve(
    problems: list[Problem], stored: int, work: list[int], deadline: float | None
) -> list[Answer]:
    threads = processors()
    counts = [problem.stages for problem in problems]
    offsets = np.cumsum([0, *counts])
    outcomes = np.zeros(len(problems), np.uint8)
    values = np.zeros(len(problems), np.int64)
    take = np.zeros(offsets[-1], np.uint8)
    _cpu.knapsack_cores(
        np.concatenate([p.profits[1::2] - p.profits[::2] for p in problems]),
        np.concatenate([p.weights[1::2, 0] for p in problems]),
        offsets,
        np.array([p.capacities[0] for p in problems], np.int64),
        stored // 4,
        stored,
        np.array(work, np.int64),
        seconds_left(deadline),
        outcomes,
        values,
        take,
        threads,
    )
    return [
        Answer(
            part.astype(np.int64),
            bool(outcome == _CHOICE),
            int(value + p.profits[::2].sum()),
            bool(outcome >= _VALUE),
        )
        for p, outcome, value, part in zip(
            problems, outcomes, values, np.split(take, offsets[1:-1]), strict=True
        )
    ]


def _work(problem: Problem, operation: Any, memory: int) -> int:
    """Return the states of a pass after which a table is faster; the maximum if none fits."""
    cells = problem.states * problem.stages
    if 4 * _WORD_BYTES * problem.states > memory:
        return _MOST_WORK
    return min(max(operation.LEAST_STATES, cells // operation.CELLS_A_STATE), _MOST_WORK)
