"""The definition of each operation, in NumPy; the other backends must give equal answers.

Weights are (N,) int64 arrays of numbers from 1 up in C order. "The wanted sum" is the smallest sum
from ``target`` to ``limit``; without such a sum, it is the largest sum below ``target``. "The first
set" with a sum is the set whose bit mask, with bit i for item i, is the smallest number: its
largest index is least, then its second largest, and so on. ``deadline`` is a value of
``time.monotonic`` after which an operation raises ``OutOfTime``.
"""

from bisect import bisect_left

import numpy as np

from mmpcodec.solvers.limits import look


def dense(
    weights: np.ndarray,
    target: int,
    limit: int,
    floor: int,
    items: bool,
    deadline: float | None = None,
) -> tuple[int, np.ndarray | None]:
    """Return the wanted sum and the first set with this sum, from a table of all sums.

    Bellman's recursion also stores, for each sum, the item that first reaches it (Yanasse and Soma;
    Curtis). The wanted sum is at least ``floor``, so a backend may skip sums that later items
    cannot raise to ``floor``. Without ``items``, the set is None.
    """
    reached = np.zeros(limit + 1, bool)
    reached[0] = True
    maker = np.zeros(limit + 1, np.int64)
    for item, weight in enumerate(weights.tolist()):
        look(deadline)
        if weight <= limit:
            new = reached[: limit + 1 - weight] & ~reached[weight:]
            maker[weight:][new] = item
            reached[weight:] |= new
        if reached[target]:
            break
    above = np.flatnonzero(reached[target:])
    best = target + int(above[0]) if above.size else int(np.flatnonzero(reached)[-1])
    if not items:
        return best, None
    chosen, left = [], best
    while left:
        chosen.append(int(maker[left]))
        left -= int(weights[chosen[-1]])
    return best, np.array(chosen[::-1], np.int64)


def sums(weights: np.ndarray, limit: int, deadline: float | None = None) -> np.ndarray:
    """Return the bits of all sums: bit s % 64 of uint64 word s // 64 is 1 if s is a sum."""
    reached = np.zeros(-(-(limit + 1) // 64) * 64, bool)
    reached[0] = True
    for weight in weights.tolist():
        look(deadline)
        reached[weight : limit + 1] |= reached[: max(limit + 1 - weight, 0)].copy()
    return np.packbits(reached, bitorder="little").view(np.uint64)


def meet(
    weights: np.ndarray, target: int, limit: int, deadline: float | None = None
) -> tuple[int, np.ndarray]:
    """Return the wanted sum and the first set with it, from the sums of both halves of items."""
    half = len(weights) // 2
    low = _first_masks(weights[:half], limit, deadline)
    high = _first_masks(weights[half:], limit, deadline)
    rising = sorted(low)
    pairs = []
    for one, mask in high.items():
        place = bisect_left(rising, target - one)
        for other in rising[max(place - 1, 0) : place + 1]:
            if one + other <= limit:
                pairs.append((one + other, mask << half | low[other]))
    above = [pair for pair in pairs if pair[0] >= target]
    best, mask = min(above) if above else min(pairs, key=lambda pair: (-pair[0], pair[1]))
    return best, np.array([i for i in range(len(weights)) if mask >> i & 1], np.int64)


def _first_masks(weights: np.ndarray, limit: int, deadline: float | None) -> dict[int, int]:
    """Return, for each sum up to the limit, the bit mask of the first set with this sum."""
    masks = {0: 0}
    for item, weight in enumerate(weights.tolist()):
        look(deadline)
        new = {one + weight: mask | 1 << item for one, mask in masks.items()}
        masks = {one: mask for one, mask in new.items() if one <= limit} | masks
    return masks


def balanced(
    weights: np.ndarray, capacity: int, items: bool, most: int, deadline: float | None = None
) -> tuple[int, np.ndarray | None]:
    """Return the largest sum not above the capacity, from sets with sums near the capacity.

    Pisinger's algorithm starts with the items before the break item, the first that does not fit. A
    set with a sum up to the capacity may gain a later item; a set with a larger sum may lose an
    earlier item. So no sum is further from the capacity than the heaviest weight. A set with the
    value w contains the first w items. For each sum, ``sets`` keeps a set of the largest value and
    ``whole`` its value; of equal values, the set that the loops below find first.

    Each item fits alone, but all items do not fit together. With ``items``, the answer is
    (-1, None) if more than ``most`` sets were stored, tested after each item: a backend needs
    memory for each stored set. Without ``items``, the set is None.
    """
    front = int(np.searchsorted(np.cumsum(weights), capacity, side="right"))
    heaviest = int(weights.max())
    near = range(capacity - heaviest + 1, capacity + 1)
    # -1: no set has the sum. Above the capacity 0 means the same, because no item can be removed.
    whole = dict.fromkeys(near, -1)
    whole |= dict.fromkeys(range(capacity + 1, capacity + heaviest + 1), 0)
    sets: dict[int, frozenset[int]] = {}
    first = int(weights[:front].sum())
    whole[first], sets[first] = front, frozenset(range(front))
    kept = 0
    for item in range(front, len(weights)):
        look(deadline)
        if whole[capacity] >= 0:
            break
        weight = int(weights[item])
        before, sets_before = dict(whole), dict(sets)
        for one in near:
            if before[one] > whole[one + weight]:
                whole[one + weight] = before[one]
                sets[one + weight] = sets_before[one] | {item}
                kept += 1
        for one in range(capacity + weight, capacity, -1):
            for gone in range(whole[one] - 1, before[one] - 1, -1):
                rest = one - int(weights[gone])
                if gone > whole[rest]:
                    whole[rest] = gone
                    sets[rest] = sets[one] - {gone}
                    kept += 1
        if items and kept > most:
            return -1, None
    best = max(one for one in near if whole[one] >= 0)
    return best, np.array(sorted(sets[best]), np.int64) if items else None
