"""The path for 0-1 knapsacks of one budget; see ``kernels/cpu/solvers/knapsack/core.h``.

It runs on the processor for every backend that reduces: lists of states grow and shrink too quickly
for a device.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec import _cpu
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.knapsack.problem import Problem

_STATE_BYTES = 16
_VALUE, _CHOICE = 1, 2
_WORD_BYTES = 8
_MOST_WORK = 1 << 36

SHORT_STATES = 1 << 18
"""States of lists that are always made, whatever the memory: large problems go other ways then."""


@dataclass(frozen=True)
class Answer:
    """What the lists found.

    Parameters
    ----------
    choices : (G,) int64 array
        A good choice.
    found : bool
        Whether it is the one that the package names. If not, the lists grew too long.
    value : int
        Of the choices, or of better ones that exist.
    proven : bool
        Whether no choice has more.
    """

    choices: np.ndarray
    found: bool
    value: int
    proven: bool


def applies(problem: Problem, reduced: Problem) -> bool:
    """Whether it can solve what is left of a problem: items of one budget around the break item."""
    return problem.items is not None and reduced.stages > 0


def solve_short(problems: list[Problem], deadline: float | None) -> list[Answer]:
    """Solve instances to which it applies, where short lists do; each by one thread."""
    return _solve(problems, SHORT_STATES, [SHORT_STATES] * len(problems), deadline)


def solve(
    problems: list[Problem],
    memory: int,
    operation: Any,
    table_memory: int,
    deadline: float | None,
) -> list[Answer]:
    """Solve the instances that branch and bound can take, one thread each, within ``memory``.

    Where lists grow too long, a table by ``operation`` in its own memory may follow.
    """
    # Lists grow by doubling and are copied once more, so half of the memory has to stay free.
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
        -1.0 if deadline is None else max(0.0, deadline - time.monotonic()),
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
    """States of a pass after which a dense table, if there is memory for one, is the better way."""
    cells = problem.states * problem.stages
    if 4 * _WORD_BYTES * problem.states > memory:
        return _MOST_WORK
    return min(max(operation.LEAST_STATES, cells // operation.CELLS_A_STATE), _MOST_WORK)
