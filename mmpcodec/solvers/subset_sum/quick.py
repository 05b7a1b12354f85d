"""Sets that are found quickly and often hit the capacity."""

from typing import Any

import numpy as np

CORE_ITEMS = 64


def greedy(weights: np.ndarray, capacity: int) -> np.ndarray:
    """Take each item that still fits, heaviest first, of equal ones the first.

    Parameters
    ----------
    weights : (N,) int64 array
    capacity : int

    Returns
    -------
    (N,) bool array
        Which are taken.
    """
    order = np.argsort(-weights, kind="stable")
    falling = weights[order]
    before = np.concatenate([[0], np.cumsum(falling)])
    taken = np.zeros(len(weights), bool)
    place, left = 0, capacity
    while place < len(order):
        stop = int(np.searchsorted(before, before[place] + left, side="right")) - 1
        taken[order[place:stop]] = True
        left -= int(before[stop] - before[place])
        # Weights fall, so the next one that fits is the first that is not above what is left.
        place = max(stop, int(np.searchsorted(-falling, -left, side="left")))
    return taken


def core(work: Any, weights: np.ndarray, capacity: int) -> np.ndarray | None:
    """Greedy for all items but a few, and those solved densely for what is left.

    The few are every (N / 64)-th in ascending order, so they have weights of all sizes and, most
    often, a sum for every number about the middle of their range.

    Parameters
    ----------
    work : module
        The operations of a backend.
    weights : (N,) int64 array
    capacity : int

    Returns
    -------
    (N,) bool array or None
        Which are taken, where they add up to the capacity.
    """
    few = core_items(weights)
    others = np.ones(len(weights), bool)
    others[few] = False
    taken = np.zeros(len(weights), bool)
    room = max(capacity - int(weights[few].sum()) // 2, 0)
    taken[others] = greedy(weights[others], room)
    left = capacity - int(weights[taken].sum())
    if left > int(weights[few].sum()):
        return None
    found, items = work.dense(weights[few], left, left, 0, True)
    taken[few[items]] = True
    return taken if found == left else None


def core_items(weights: np.ndarray) -> np.ndarray:
    """Indices of the few items, ascending."""
    places = np.unique(np.linspace(0, len(weights) - 1, CORE_ITEMS).astype(np.int64))
    return np.sort(np.argsort(weights, kind="stable")[places])
