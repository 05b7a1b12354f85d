"""All choices one by one, where there are few of them and a table would be large.

Stage by stage, those that can still become feasible stay. They stand in the order of the package,
so the first of the best ones is the choice that it names.
"""

import math

import numpy as np

from mmpcodec.solvers.knapsack.problem import Problem

MOST_CHOICES = 1 << 20
"""Going through these takes less than a tenth of a second."""
LEAST_CELLS = 1 << 24
"""A smaller table is filled in some hundredths of a second."""
CELLS_A_CHOICE = 64
"""Cells of a table that are filled in the time of a choice."""


def applies(problem: Problem) -> bool:
    """Whether this takes less time than a table."""
    if problem.stages >= MOST_CHOICES.bit_length() or problem.cells < LEAST_CELLS:
        return False
    choices = math.prod(problem.options.tolist())
    return choices <= MOST_CHOICES and CELLS_A_CHOICE * choices <= problem.cells


def solve(problem: Problem) -> np.ndarray | None:
    """The choice that the package names, None where none is feasible."""
    capacities = np.array(problem.capacities, np.int64)
    heads = problem.starts.tolist()
    # What is needed of each capacity so far, for an exact fill by the most that the others weigh.
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
        # Sums of what fits and one weight more are below 2**63.
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
