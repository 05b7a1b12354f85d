"""How good a choice can be at most, and a good one to begin with.

With a multiplier for each capacity as the price of its units, each stage for itself takes the
option of the largest profit less price; what the capacities cost in all is added. No choice that
fits is worth more (M. Fisher, "The Lagrangian relaxation method", Management Science 1981).
Multipliers are integers in units of 2**-shift, so the bound is exact whatever they are.
"""

from dataclasses import dataclass

import numpy as np

from mmpcodec.solvers.knapsack.problem import Problem

_SUM_BITS = 60
_MAX_SHIFT = 40
_ROUNDS = 3
_SHARE_BITS = 20
_PASSES = 2


@dataclass(frozen=True)
class Relaxation:
    """A Lagrangian bound and the options' part in it.

    Parameters
    ----------
    total : int
        The bound in units of 2**-shift.
    gains : (T,) int64 array
        Profit less price of each option, in the same units.
    shift : int
    """

    total: int
    gains: np.ndarray
    shift: int

    @property
    def bound(self) -> int:
        """No choice has more profit."""
        return self.total >> self.shift


def relax(problem: Problem) -> Relaxation:
    """The bound for good multipliers, one after the other made the best while the others stay.

    Parameters
    ----------
    problem : Problem
        With a stage.
    """
    # The prices of all capacities together may be as large as the profits.
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


def greedy(problem: Problem, relaxation: Relaxation) -> np.ndarray | None:
    """A choice that fits, None where this way finds none; never for an exact fill.

    Each stage begins with its lightest option; then options replace them where that adds profit
    and fits, those that gain most beyond their price first.
    """
    if problem.exact_fill:
        return None
    units = [max(1, (capacity + 1) >> _SHARE_BITS) for capacity in problem.capacities]
    shares = (problem.weights // np.array(units)).sum(axis=1)
    lightest = np.lexsort([-relaxation.gains, shares, problem.stage_of])
    chosen = lightest[problem.starts[:-1]]
    left = [
        capacity - sum(problem.weights[chosen, column].tolist())
        for column, capacity in enumerate(problem.capacities)
    ]
    if min(left) < 0:
        return None
    current = chosen.tolist()
    profits, weights = problem.profits.tolist(), problem.weights.tolist()
    stages = problem.stage_of.tolist()
    order = np.argsort(-relaxation.gains, kind="stable").tolist()
    for _ in range(_PASSES):
        for option in order:
            now = current[stages[option]]
            if profits[option] <= profits[now]:
                continue
            room = [
                space + before - after
                for space, before, after in zip(left, weights[now], weights[option], strict=True)
            ]
            if min(room) >= 0:
                current[stages[option]], left = option, room
    return np.array(current, np.int64) - problem.starts[:-1]


def hopeless(problem: Problem, relaxation: Relaxation, value: int) -> np.ndarray:
    """Options, (T,) bool, with which no choice is worth ``value``; those that tie stay."""
    best = np.maximum.reduceat(relaxation.gains, problem.starts[:-1])
    losses = best[problem.stage_of] - relaxation.gains
    return losses > relaxation.total - (value << relaxation.shift)


def _total(problem: Problem, column: int) -> int:
    return sum(np.maximum.reduceat(problem.weights[:, column], problem.starts[:-1]).tolist())


def _lightest_best(gains: np.ndarray, weights: np.ndarray, problem: Problem) -> int:
    """Weight of the options of the largest gain, the lightest of each stage."""
    heads = problem.starts[:-1]
    best = np.maximum.reduceat(gains, heads)[problem.stage_of]
    lightest = np.minimum.reduceat(np.where(gains == best, weights, 1 << 62), heads)
    return sum(lightest.tolist())
