"""Exact reductions of a problem before the search."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Reduced:
    """Items of positive weight that each fit alone, in units of their greatest common divisor.

    Parameters
    ----------
    indices : (N,) int64 array
        Indices of the items in the original problem, ascending.
    weights : (N,) int64 array
        Weights divided by ``divisor``.
    capacity : int
        Capacity divided by ``divisor``, rounded down.
    divisor : int
        Greatest common divisor of the original weights; 1 without items.
    """

    indices: np.ndarray
    weights: np.ndarray
    capacity: int
    divisor: int

    @property
    def total(self) -> int:
        """Sum of the weights."""
        return int(self.weights.sum())

    @property
    def fits(self) -> bool:
        """Whether all items fit together."""
        return self.total <= self.capacity


def reduce(weights: np.ndarray, capacity: int) -> Reduced:
    """Remove items of weight 0 and items that do not fit, then divide by the common divisor."""
    indices = np.flatnonzero((weights > 0) & (weights <= capacity))
    kept = weights[indices]
    divisor = int(np.gcd.reduce(kept)) if kept.size else 1
    return Reduced(indices, kept // divisor, capacity // divisor, divisor)


@dataclass(frozen=True)
class Side:
    """A search for the items to take, or for the items to leave out.

    The answer is the smallest sum from ``target`` to ``limit``; without such a sum, it is the
    largest sum below ``target``.

    Parameters
    ----------
    target, limit : int
    floor : int
        Lower bound of the answer.
    leaves_out : bool
        Whether the search is for the items to leave out.
    """

    target: int
    limit: int
    floor: int
    leaves_out: bool


def lighter_side(reduced: Reduced, found: int) -> Side:
    """Return the search with the smaller limit; ``found`` is the sum of a known set.

    The items left out weigh at least total - capacity. In a best answer they exceed it by less than
    the heaviest weight, because otherwise one more item would fit.
    """
    out = reduced.total - reduced.capacity
    limit = out + int(reduced.weights.max()) - 1
    if limit < reduced.capacity:
        return Side(out, limit, out, True)
    return Side(reduced.capacity, reduced.capacity, found, False)
