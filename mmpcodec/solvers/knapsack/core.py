"""The path for 0-1 knapsacks of one budget; see ``kernels/cpu/knapsack_core.h``.

It runs on the processor for every backend that reduces: lists of states grow and shrink too quickly
for a device.
"""

import os
import time
from dataclasses import dataclass

import numpy as np

from mmpcodec import _cpu
from mmpcodec.solvers.knapsack.problem import Problem

_LIST = 1 << 20
_STORED = 1 << 22
_LEAST_WORK = 1 << 22
_MOST_WORK = 1 << 36


@dataclass(frozen=True)
class Answer:
    """What the lists found.

    Parameters
    ----------
    choices : (G,) int64 array or None
        None where the lists grew too long.
    value : int
        Of the choices, or else of some choice.
    """

    choices: np.ndarray | None
    value: int


def applies(problem: Problem) -> bool:
    """Whether it can solve a reduced problem: items to take or leave, and one budget."""
    return (
        len(problem.capacities) == 1
        and not problem.exact_fill
        and problem.stages > 0
        and bool((problem.options == 2).all())
        and not problem.weights[::2].any()
        and bool((problem.weights[1::2] > 0).all())
    )


def solve(problems: list[Problem], deadline: float | None) -> list[Answer]:
    """Solve instances to which it applies, each by one thread."""
    counts = [problem.stages for problem in problems]
    offsets = np.cumsum([0, *counts])
    found = np.zeros(len(problems), bool)
    values = np.zeros(len(problems), np.int64)
    take = np.zeros(offsets[-1], np.uint8)
    _cpu.knapsack_cores(
        np.concatenate([p.profits[1::2] - p.profits[::2] for p in problems]),
        np.concatenate([p.weights[1::2, 0] for p in problems]),
        offsets,
        np.array([p.capacities[0] for p in problems], np.int64),
        _LIST,
        _STORED,
        np.array([_work(problem) for problem in problems], np.int64),
        -1.0 if deadline is None else max(0.0, deadline - time.monotonic()),
        found,
        values,
        take,
        len(os.sched_getaffinity(0)),
    )
    return [
        Answer(part.astype(np.int64) if done else None, int(value + p.profits[::2].sum()))
        for p, done, value, part in zip(
            problems, found, values, np.split(take, offsets[1:-1]), strict=True
        )
    ]


def _work(problem: Problem) -> int:
    """States after which a dense table is the better way."""
    return min(max(_LEAST_WORK, problem.states * problem.stages // 4), _MOST_WORK)
