"""Enumeration of all choices, for problems with few choices and a large table.

Each stage extends all partial choices and keeps those that can still become feasible, in the order
of the package. So the first best choice of the list is the one that ranks first.
"""

import math

import numpy as np

from mmpcodec.solvers.knapsack.problem import Problem

MOST_CHOICES = 1 << 20
"""Largest number of choices; their enumeration takes less than 0.1 s."""
LEAST_CELLS = 1 << 24
"""Least number of cells; a smaller table is filled in some hundredths of a second."""
CELLS_A_CHOICE = 64
"""Cells of a table that are filled in the time of one choice."""


def applies(problem: Problem) -> bool:
    """Return whether enumeration takes less time than a table."""
    if problem.stages >= MOST_CHOICES.bit_length() or problem.cells < LEAST_CELLS:
        return False
    choices = math.prod(problem.options.tolist())
    return choices <= MOST_CHOICES and CELLS_A_CHOICE * choices <= problem.cells


def solve(problem: Problem) -> np.ndarray | None:
    """Return the best choice that ranks first; None if no choice is feasible."""
    capacities = np.array(problem.capacities, np.int64)
    heads = problem.starts.tolist()
    # Least weight so far in each column: for an exact fill, the later stages must reach the rest.
    needed = [0 if not problem.exact_fill else capacity for capacity in problem.capacities]
    tops = np.maximum.reduceat(problem.weights, heads[:-1]).tolist()
    least = [needed]
    for top in tops[:0:-1]:
        needed = [max(need - weight, 0) for need, weight in zip(needed, top, strict=True)]
        least.append(needed)
    weights, profits = np.zeros((1, len(capacities)), np.int64), np.zeros(1, np.int64)
    steps: list[tuple[int, np.ndarray]] = []
    for first, last, need in zip(heads, heads[1:], reversed(least), strict=False):
        before = len(profits)
        # A sum that fits plus one more weight is below 2**63.
        weights = (problem.weights[first:last, None] + weights).reshape(-1, len(capacities))
        profits = (problem.profits[first:last, None] + profits).ravel()
        kept = np.flatnonzero((weights <= capacities).all(axis=1) & (weights >= need).all(axis=1))
        weights, profits = weights[kept], profits[kept]
        steps.append((before, kept))
    if not len(profits):
        return None
    choices = np.zeros(problem.stages, np.int64)
    place = int(profits.argmax())
    for stage in reversed(range(problem.stages)):
        before, kept = steps[stage]
        choices[stage], place = divmod(int(kept[place]), before)
    return choices
