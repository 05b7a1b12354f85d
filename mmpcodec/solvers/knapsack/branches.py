"""Branch and bound for several budgets, groups and exact fills.

See ``kernels/cpu/solvers/knapsack/branches/branches.h``. It runs on the processor for every
backend that reduces, because the nodes of the search follow one another.
"""

from dataclasses import dataclass

import numpy as np

from mmpcodec import _cpu
from mmpcodec.solvers.knapsack.problem import Problem
from mmpcodec.solvers.limits import seconds_left

MANY_BUDGETS = 3
LEAST_CELLS = 1 << 24
"""Least number of cells for ``MANY_BUDGETS``; the processor fills 2**24 in some hundredths of a
second."""
LEAST_CELLS_OF_FEW = 1 << 31
"""Least number of cells for fewer budgets; the processor fills 2**31 in a second or two, a CUDA
device in some milliseconds."""
LEAST_CELLS_OF_GROUPS = 1 << 33
"""The same if a stage has three options or more: each such stage adds a row to the tableau."""
CELLS_A_STEP = 256
"""Cells of a table for each number of the tableau that may change before the table is filled: a few
hundredths of the time of a table on the processor."""
CELLS_A_STEP_OF_UNITS = 32
"""The same where the number of units is limited: those tables have a second dimension that branch
and bound hardly needs."""
MOST_WORK = (1 << 62) - 1
"""Work of a search without a limit."""
_NONE = -(1 << 63)


@dataclass(frozen=True)
class BranchAnswer:
    """The answer of branch and bound.

    Parameters
    ----------
    choices : (G,) int64 array or None
        A feasible choice; None if none better than the known one was found.
    bound : int or None
        Upper bound of the profit of all choices; None if no choice is feasible.
    proven : bool
        Whether no choice is better than ``choices`` and the known one.
    nodes : int
        Number of nodes of the search.
    """

    choices: np.ndarray | None
    bound: int | None
    proven: bool
    nodes: int


def applies(problem: Problem) -> bool:
    """Return whether branches come before the table of a whole problem, as it is large.

    They always do where the number of units is limited. The answer is the same on every backend,
    so that they return the same choice.
    """
    if problem.limits_units:
        return True
    if len(problem.capacities) >= MANY_BUDGETS:
        return problem.cells >= LEAST_CELLS
    if problem.cells < LEAST_CELLS_OF_FEW:
        return False
    has_groups = int(problem.options.max(initial=1)) > 2
    return not has_groups or problem.cells >= LEAST_CELLS_OF_GROUPS


def work(problem: Problem, cells: int) -> int:
    """Return the work after which a table of ``cells`` cells is predicted to be faster."""
    return cells // (CELLS_A_STEP_OF_UNITS if problem.limits_units else CELLS_A_STEP)


def solve(
    problem: Problem, known: int | None, work: int = MOST_WORK, deadline: float | None = None
) -> BranchAnswer:
    """Search for the best choice.

    Parameters
    ----------
    problem : Problem
        A reduced problem: at least two options in each stage, and the lightest options of all
        stages fit together in each column.
    known : int or None
        Profit of a known choice.
    work : int
        Numbers of the tableau after whose change the search stops.
    deadline : float or None
        Value of ``time.monotonic``.
    """
    choices = np.zeros(problem.stages, np.int64)
    proven, value, bound, nodes = _cpu.knapsack_branches(
        problem.profits,
        problem.weights,
        problem.starts,
        problem.capacities,
        problem.exact_fill,
        _NONE if known is None else known,
        work,
        seconds_left(deadline),
        choices,
    )
    better = value != _NONE and (known is None or value > known)
    return BranchAnswer(
        choices if better else None, None if bound == _NONE else bound, proven, nodes
    )
