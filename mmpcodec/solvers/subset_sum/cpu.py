"""The operations in C++; see ``kernels/cpu/solvers/subset_sum/subset_sum.h``."""

import numpy as np

from mmpcodec import _cpu
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.limits import OutOfTime, seconds_left

Found = tuple[int, list[int]] | None
"""The sum and the items of a subset; None if time has run out."""


def dense(
    weights: np.ndarray,
    target: int,
    limit: int,
    floor: int,
    items: bool,
    deadline: float | None = None,
) -> tuple[int, np.ndarray | None]:
    """See the function in ``reference``."""
    left = seconds_left(deadline)
    found = _cpu.dense_subset(weights, target, limit, floor, items, left, processors())
    return _subset(found, items)


def sums(weights: np.ndarray, limit: int, deadline: float | None = None) -> np.ndarray:
    """See the function in ``reference``."""
    words = np.empty(limit // 64 + 1, np.uint64)
    if not _cpu.subset_sums(weights, limit, words, seconds_left(deadline), processors()):
        raise OutOfTime
    return words


def meet(
    weights: np.ndarray, target: int, limit: int, deadline: float | None = None
) -> tuple[int, np.ndarray | None]:
    """See the function in ``reference``."""
    found = _cpu.meet_subset(weights, target, limit, seconds_left(deadline), processors())
    return _subset(found, True)


def balanced(
    weights: np.ndarray, capacity: int, items: bool, most: int, deadline: float | None = None
) -> tuple[int, np.ndarray | None]:
    """See the function in ``reference``."""
    found = _cpu.balanced_subset(weights, capacity, items, most, seconds_left(deadline))
    return _subset(found, items)


def _subset(found: Found, items: bool) -> tuple[int, np.ndarray | None]:
    if found is None:
        raise OutOfTime
    best, chosen = found
    return best, np.array(chosen, np.int64) if items else None
