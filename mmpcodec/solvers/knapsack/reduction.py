"""Reductions of a problem that keep the best choice that ranks first."""

import math
from dataclasses import dataclass, replace

import numpy as np

from mmpcodec.solvers.knapsack.bounds import Relaxation, greedy, hopeless, relax
from mmpcodec.solvers.knapsack.problem import Problem

_MAX_PAIRS = 1 << 22
_MAX_GROUP = 1 << 11


@dataclass(frozen=True)
class Reduced:
    """The open stages of a problem, and the decisions of the settled stages.

    Parameters
    ----------
    problem : Problem
        The open stages: those with more than one option left.
    settled : (G,) int64 array
        Option of each stage of the original problem; meaningless for open stages.
    open : int64 array
        Indices of the open stages in the original problem.
    names : int64 array
        For each option left in an open stage, its index in the original stage.
    """

    problem: Problem
    settled: np.ndarray
    open: np.ndarray
    names: np.ndarray

    def choices(self, of_open: np.ndarray) -> np.ndarray:
        """Return the choices of the original problem, given the choices of the open stages."""
        choices = self.settled.copy()
        choices[self.open] = self.names[self.problem.starts[:-1] + of_open]
        return choices

    def then(self, further: "Reduced") -> "Reduced":
        """Return this reduction followed by a reduction of its problem."""
        first = self.problem.starts[:-1]
        names = self.names[first[further.open][further.problem.stage_of] + further.names]
        settled = self.choices(further.settled)
        return Reduced(further.problem, settled, self.open[further.open], names)


def reduce(problem: Problem) -> Reduced | None:
    """Remove options without a known choice; return None if no choice is feasible.

    An option is removed if it does not fit beside the lightest options of all other stages. Without
    exact fill, it is also removed if another option of its stage weighs no more and has more
    profit, or equal profit and a lower index. The least weight of each stage is subtracted. The
    capacities shrink to the sum of the heaviest options, and capacities and weights are divided by
    the common divisor of the weights.
    """
    weights, capacities = problem.weights.copy(), list(problem.capacities)
    alive = np.ones(len(weights), bool)
    if not problem.exact_fill:
        alive &= ~_dominated(problem)
    heads = problem.starts[:-1]
    while problem.stages:
        alive &= (weights <= np.array(capacities)).all(axis=1)
        if not np.logical_or.reduceat(alive, heads).all():
            return None
        # Capacities are below 2**62, so removed options are heavier than each of them.
        least = np.minimum.reduceat(np.where(alive[:, None], weights, 1 << 62), heads)
        if not least.any():
            break
        for column in range(len(capacities)):
            capacities[column] -= sum(least[:, column].tolist())
        if min(capacities) < 0:
            return None
        weights -= least[problem.stage_of]
    if not problem.stages:
        return None if problem.exact_fill and any(capacities) else _without(problem, alive)
    tops = np.maximum.reduceat(np.where(alive[:, None], weights, 0), heads)
    rooms = [sum(tops[:, column].tolist()) for column in range(len(capacities))]
    roomy = all(c >= room for c, room in zip(capacities, rooms, strict=True))
    if roomy and not problem.exact_fill:
        alive = _first_best(problem, alive)
    for column, room in enumerate(rooms):
        values = weights[alive, column]
        divisor = int(np.gcd.reduce(values))
        if problem.exact_fill and (
            capacities[column] > room or capacities[column] % max(divisor, 1)
        ):
            return None
        capacities[column] = min(capacities[column], room) // max(divisor, 1)
        weights[:, column] //= max(divisor, 1)
    return _without(replace(problem, weights=weights, capacities=tuple(capacities)), alive)


def exclude(
    problem: Problem, value: int | None = None
) -> tuple[Reduced, Relaxation, np.ndarray | None]:
    """Remove options whose bound is below the profit of a known choice.

    Parameters
    ----------
    problem : Problem
        A problem with at least one stage.
    value : int or None
        Profit of a choice that is known to exist.

    Returns
    -------
    reduced : Reduced
    relaxation : Relaxation
        Bound of the given problem.
    choices : (G,) int64 array or None
        A greedy choice of the given problem.
    """
    relaxation = relax(problem)
    choices = greedy(problem, relaxation)
    known = [
        v for v in (value, None if choices is None else problem.value(choices)) if v is not None
    ]
    alive = np.ones(len(problem.profits), bool)
    if known:
        alive = ~hopeless(problem, relaxation, max(known))
    return _without(problem, alive), relaxation, choices


def _without(problem: Problem, alive: np.ndarray) -> Reduced:
    """Settle the stages with one option alive; the capacities shrink by the weights of these."""
    heads = problem.starts[:-1]
    counts = np.add.reduceat(alive.astype(np.int64), heads) if problem.stages else heads
    indices = np.arange(len(alive)) - heads[problem.stage_of]
    settled = np.zeros(problem.stages, np.int64)
    settled[problem.stage_of[alive]] = indices[alive]
    fixed = np.flatnonzero(counts == 1)
    spent = problem.weights[heads[fixed] + settled[fixed]]
    capacities = tuple(
        capacity - sum(spent[:, column].tolist())
        for column, capacity in enumerate(problem.capacities)
    )
    left = alive & (counts > 1)[problem.stage_of]
    still_open = np.flatnonzero(counts > 1)
    starts = np.concatenate([[0], np.cumsum(counts[still_open])]).astype(np.int64)
    rest = Problem(
        problem.profits[left], problem.weights[left], starts, capacities, problem.exact_fill
    )
    return Reduced(rest, settled, still_open, indices[left])


def _first_best(problem: Problem, alive: np.ndarray) -> np.ndarray:
    """Return a (T,) bool mask of the first most profitable option alive of each stage."""
    profits = np.where(alive, problem.profits, np.iinfo(np.int64).min + 1)
    order = np.lexsort([np.arange(len(profits)), -profits, problem.stage_of])
    first = np.zeros_like(alive)
    first[order[problem.starts[:-1]]] = True
    return first


def _dominated(problem: Problem) -> np.ndarray:
    """Return whether another option of the stage dominates each option, (T,) bool.

    Stages of more than ``_MAX_GROUP`` options are not tested.
    """
    dominated = np.zeros(len(problem.profits), bool)
    for size in np.unique(problem.options):
        if not 2 <= size <= _MAX_GROUP:
            continue
        before = np.tri(size, size, -1, dtype=bool)
        members = problem.starts[:-1][problem.options == size][:, None] + np.arange(size)
        parts = math.ceil(members.size * size / _MAX_PAIRS)
        for part in np.array_split(members, min(parts, len(members))):
            profits, weights = problem.profits[part], problem.weights[part]
            lighter = (weights[:, None, :, :] <= weights[:, :, None, :]).all(axis=3)
            more = profits[:, None, :] > profits[:, :, None]
            equal = profits[:, None, :] == profits[:, :, None]
            dominated[part] = (lighter & (more | (equal & before))).any(axis=2)
    return dominated
