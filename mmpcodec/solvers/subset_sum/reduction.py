"""What is left of a problem when all that can be said at once has been said."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Reduced:
    """Items that all fit alone but not together, with weights that have no common divisor.

    Parameters
    ----------
    indices : (N,) int64 array
        Of the items in the whole problem, ascending.
    weights : (N,) int64 array
        Divided by ``divisor``.
    capacity : int
        Divided by ``divisor``, rounded down.
    divisor : int
        Of the weights.
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
        """Whether all items fit together; then the other fields need not be looked at."""
        return self.total <= self.capacity


def reduce(weights: np.ndarray, capacity: int) -> Reduced:
    """Leave out what weighs nothing or does not fit, and divide by the greatest common divisor."""
    indices = np.flatnonzero((weights > 0) & (weights <= capacity))
    kept = weights[indices]
    divisor = int(np.gcd.reduce(kept)) if kept.size else 1
    return Reduced(indices, kept // divisor, capacity // divisor, divisor)


@dataclass(frozen=True)
class Side:
    """What to look for: items to take, or items to leave out.

    The answer is the smallest sum from ``target`` to ``limit``; where there is none, the largest
    below ``target``.

    Parameters
    ----------
    target, limit : int
    floor : int
        No answer is below it.
    leaves_out : bool
    """

    target: int
    limit: int
    floor: int
    leaves_out: bool


def lighter_side(reduced: Reduced, found: int) -> Side:
    """The side on which fewer sums are to be looked at, where a sum ``found`` is known.

    What is left out weighs at least total - capacity. A set that weighs that much and loses it with
    any of its items weighs less than an item more, so larger sums need not be looked at.
    """
    out = reduced.total - reduced.capacity
    limit = out + int(reduced.weights.max()) - 1
    if limit < reduced.capacity:
        return Side(out, limit, out, True)
    return Side(reduced.capacity, reduced.capacity, found, False)
