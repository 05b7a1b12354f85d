"""Two quick methods that often find a set whose sum is the capacity."""

from typing import Any

import numpy as np

CORE_ITEMS = 64


def greedy(weights: np.ndarray, capacity: int) -> np.ndarray:
    """Take each item that still fits, in order of falling weight, then rising index.

    Parameters
    ----------
    weights : (N,) int64 array
    capacity : int

    Returns
    -------
    (N,) bool array
        Whether each item is taken.
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
        # The weights descend, so the next item that fits is the first one not above `left`.
        place = max(stop, int(np.searchsorted(-falling, -left, side="left")))
    return taken


def core(
    work: Any, weights: np.ndarray, capacity: int, deadline: float | None = None
) -> np.ndarray | None:
    """Take most items greedily and fill the rest of the capacity with a few items by ``dense``.

    The few items are every (N / 64)-th in ascending order of weight. So they have weights of all
    sizes, and most numbers near half of their total weight are sums of some of them.

    Parameters
    ----------
    work : module
        The operations of a backend.
    weights : (N,) int64 array
    capacity : int
    deadline : float or None
        Value of ``time.monotonic``; ``dense`` raises ``OutOfTime`` after it.

    Returns
    -------
    (N,) bool array or None
        Whether each item is taken; None if the sum is not the capacity.
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
    found, items = work.dense(weights[few], left, left, 0, True, deadline)
    taken[few[items]] = True
    return taken if found == left else None


def core_items(weights: np.ndarray) -> np.ndarray:
    """Return the indices of the few items of ``core``, ascending."""
    places = np.unique(np.linspace(0, len(weights) - 1, CORE_ITEMS).astype(np.int64))
    return np.sort(np.argsort(weights, kind="stable")[places])
