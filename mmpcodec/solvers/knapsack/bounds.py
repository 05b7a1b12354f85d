"""Lagrangian upper bounds of the profit, and greedy choices.

A multiplier for each capacity is the price of a unit of weight. The gain of an option is its profit
minus the price of its weights. The bound is the sum of the largest gain of each stage, plus the
price of all capacities. No choice that fits has more profit (M. Fisher, "The Lagrangian relaxation
method", Management Science 1981). Multipliers are integers in units of 2**-shift, so the bound is
exact for any multipliers.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from mmpcodec.solvers.knapsack.problem import Problem

SMALL_PROFITS = 1 << 29
"""Values below this limit are stored in 32 bits; the mark of an infeasible state is below them."""
_SUM_BITS = 60
_MAX_SHIFT = 40
_ROUNDS = 3
_SHARE_BITS = 20
_PASSES = 2


@dataclass(frozen=True)
class Relaxation:
    """A Lagrangian bound and the gains of all options.

    Parameters
    ----------
    total : int
        The bound in units of 2**-shift.
    gains : (T,) int64 array
        Profit minus price of each option, in units of 2**-shift.
    shift : int
    """

    total: int
    gains: np.ndarray
    shift: int

    @property
    def bound(self) -> int:
        """Integer upper bound of the profit of every choice."""
        return self.total >> self.shift


def relax(problem: Problem) -> Relaxation:
    """Return the bound after each multiplier in turn is optimised with the others fixed.

    Parameters
    ----------
    problem : Problem
        A problem with at least one stage.
    """
    # The price of all capacities together may be as large as the sum of the profits.
    bits = problem.magnitude.bit_length() + len(problem.capacities)
    shift = min(max(_SUM_BITS - bits, 0), _MAX_SHIFT)
    heads = problem.starts[:-1]
    scaled = problem.profits << shift
    multipliers = np.zeros(len(problem.capacities), np.int64)
    most = [
        (1 << _SUM_BITS) // (len(multipliers) * max(capacity, _total(problem, column), 1))
        for column, capacity in enumerate(problem.capacities)
    ]
    for _ in range(_ROUNDS if len(multipliers) > 1 else 1):
        for column, capacity in enumerate(problem.capacities):
            weights = problem.weights[:, column]
            multipliers[column] = 0
            others = scaled - problem.weights @ multipliers
            low, high = 0, most[column]
            while low < high:
                price = (low + high) // 2
                if _lightest_best(others - weights * price, weights, problem) <= capacity:
                    high = price
                else:
                    low = price + 1
            multipliers[column] = low
    gains = scaled - problem.weights @ multipliers
    total = int(np.maximum.reduceat(gains, heads).sum()) + sum(
        int(u) * c for u, c in zip(multipliers, problem.capacities, strict=True)
    )
    return Relaxation(total, gains, shift)


_PEAKS: WeakKeyDictionary[Problem, int] = WeakKeyDictionary()


def peak(problem: Problem) -> int:
    """Return an upper bound of the magnitude of all values in the table; cached by problem."""
    if problem not in _PEAKS:
        _PEAKS[problem] = _peak(problem)
    return _PEAKS[problem]


def _peak(problem: Problem) -> int:
    most = problem.magnitude
    if most < SMALL_PROFITS or problem.exact_fill or problem.profits.min() < 0:
        return most
    lightest = np.minimum.reduceat(problem.weights.max(axis=1), problem.starts[:-1])
    # If each stage has an option of weight 0, values never fall with more capacity or more stages.
    return most if lightest.any() else min(most, relax(problem).bound)


def greedy(problem: Problem, relaxation: Relaxation) -> np.ndarray | None:
    """Return a feasible choice; None if the search finds none, and for every exact fill.

    The search starts once from the lightest option of each stage and once from the option of the
    largest gain. If a start does not fit, lighter options replace its options, in order of rising
    loss of gain, until it fits. Then options of more profit replace others while they fit, in order
    of falling gain. The better result is returned.
    """
    if problem.exact_fill:
        return None
    units = [max(1, (capacity + 1) >> _SHARE_BITS) for capacity in problem.capacities]
    shares = (problem.weights // np.array(units)).sum(axis=1)
    lightest = np.lexsort([-relaxation.gains, shares, problem.stage_of])
    gaining = np.lexsort([shares, -relaxation.gains, problem.stage_of])
    found = [
        _filled(problem, relaxation, order[problem.starts[:-1]]) for order in (lightest, gaining)
    ]
    choices = [choice for choice in found if choice is not None]
    return max(choices, key=problem.value, default=None)


def _filled(problem: Problem, relaxation: Relaxation, chosen: np.ndarray) -> np.ndarray | None:
    """Return a feasible choice from a start; None if no replacements make it fit.

    ``chosen`` holds an index into all options for each stage, the result one into its stage.
    """
    left = [
        capacity - sum(problem.weights[chosen, column].tolist())
        for column, capacity in enumerate(problem.capacities)
    ]
    current = chosen.tolist()
    profits, weights = problem.profits.tolist(), problem.weights.tolist()
    stages = problem.stage_of.tolist()

    def room_with(option: int) -> list[int]:
        now = current[stages[option]]
        return [
            space + before - after
            for space, before, after in zip(left, weights[now], weights[option], strict=True)
        ]

    if min(left) < 0:
        best = np.maximum.reduceat(relaxation.gains, problem.starts[:-1])
        losses = best[problem.stage_of] - relaxation.gains
        for option in np.argsort(losses, kind="stable").tolist():
            room = room_with(option)
            pairs = zip(left, room, strict=True)
            no_worse = all(after >= min(before, 0) for before, after in pairs)
            if no_worse and sum(room) > sum(left):
                current[stages[option]], left = option, room
            if min(left) >= 0:
                break
        else:
            return None
    order = np.argsort(-relaxation.gains, kind="stable").tolist()
    for _ in range(_PASSES):
        for option in order:
            if profits[option] <= profits[current[stages[option]]]:
                continue
            room = room_with(option)
            if min(room) >= 0:
                current[stages[option]], left = option, room
    return np.array(current, np.int64) - problem.starts[:-1]


def hopeless(problem: Problem, relaxation: Relaxation, value: int) -> np.ndarray:
    """Return whether each option has a bound below ``value``, (T,) bool; equal bounds stay."""
    best = np.maximum.reduceat(relaxation.gains, problem.starts[:-1])
    losses = best[problem.stage_of] - relaxation.gains
    return losses > relaxation.total - (value << relaxation.shift)


def _total(problem: Problem, column: int) -> int:
    return sum(np.maximum.reduceat(problem.weights[:, column], problem.starts[:-1]).tolist())


def _lightest_best(gains: np.ndarray, weights: np.ndarray, problem: Problem) -> int:
    """Return the total weight if each stage takes its lightest option of the largest gain."""
    heads = problem.starts[:-1]
    best = np.maximum.reduceat(gains, heads)[problem.stage_of]
    lightest = np.minimum.reduceat(np.where(gains == best, weights, 1 << 62), heads)
    return sum(lightest.tolist())
