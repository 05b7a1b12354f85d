"""The operations in C++; see ``kernels/cpu/solvers/subset_sum/subset_sum.h``."""

import numpy as np

from mmpcodec import _cpu
from mmpcodec.runtime.machine import processors


def dense(
    weights: np.ndarray, target: int, limit: int, floor: int, items: bool
) -> tuple[int, np.ndarray | None]:
    """See the function in ``reference``."""
    best, chosen = _cpu.dense_subset(weights, target, limit, floor, items, processors())
    return best, np.array(chosen, np.int64) if items else None


def sums(weights: np.ndarray, limit: int) -> np.ndarray:
    """See the function in ``reference``."""
    words = np.empty(limit // 64 + 1, np.uint64)
    _cpu.subset_sums(weights, limit, words, processors())
    return words


def meet(weights: np.ndarray, target: int, limit: int) -> tuple[int, np.ndarray]:
    """See the function in ``reference``."""
    best, chosen = _cpu.meet_subset(weights, target, limit, processors())
    return best, np.array(chosen, np.int64)


def balanced(
    weights: np.ndarray, capacity: int, items: bool, most: int
) -> tuple[int, np.ndarray | None]:
    """See the function in ``reference``."""
    best, chosen = _cpu.balanced_subset(weights, capacity, items, most)
    return best, np.array(chosen, np.int64) if items else None
