"""The readable definition of each operation, in NumPy; the judge of the other backends.

Weights are (N,) int64 arrays of numbers from 1 up in C order. Where an operation says "the sum
wanted" it means the smallest sum from ``target`` to ``limit`` or, where there is none, the largest
below ``target``. "The first set" with a sum is the one whose largest index is least, then the
second largest, and so on: read as a binary number with a bit for each item, the smallest.
"""

from bisect import bisect_left

import numpy as np


def dense(
    weights: np.ndarray, target: int, limit: int, floor: int, items: bool
) -> tuple[int, np.ndarray | None]:
    """The sum wanted and the first set with it, from a table of all sums.

    Bellman's recursion with, for each sum, the item that made it (Yanasse and Soma; Curtis). No sum
    wanted is below ``floor``, so a backend may leave out sums that the items still to come cannot
    bring there.
    """
    reached = np.zeros(limit + 1, bool)
    reached[0] = True
    maker = np.zeros(limit + 1, np.int64)
    for item, weight in enumerate(weights.tolist()):
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


def sums(weights: np.ndarray, limit: int) -> np.ndarray:
    """Bit s % 64 of word s // 64 says whether s is a sum; ceil((limit + 1) / 64) uint64."""
    reached = np.zeros(-(-(limit + 1) // 64) * 64, bool)
    reached[0] = True
    for weight in weights.tolist():
        reached[weight : limit + 1] |= reached[: max(limit + 1 - weight, 0)].copy()
    return np.packbits(reached, bitorder="little").view(np.uint64)


def meet(weights: np.ndarray, target: int, limit: int) -> tuple[int, np.ndarray]:
    """The sum wanted and the first set with it, from the sums of both halves of the items."""
    half = len(weights) // 2
    low = _first_masks(weights[:half], limit)
    high = _first_masks(weights[half:], limit)
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


def _first_masks(weights: np.ndarray, limit: int) -> dict[int, int]:
    """From the sums of items to the bits of the first set with each."""
    masks = {0: 0}
    for item, weight in enumerate(weights.tolist()):
        new = {one + weight: mask | 1 << item for one, mask in masks.items()}
        masks = {one: mask for one, mask in new.items() if one <= limit} | masks
    return masks


def balanced(
    weights: np.ndarray, capacity: int, items: bool, most: int
) -> tuple[int, np.ndarray | None]:
    """The largest sum not above the capacity, from sets that are balanced around it.

    Pisinger's algorithm. It begins with the items before the first that does not fit. A set with a
    sum up to the capacity may get a later item, a larger one may lose an earlier item; so all sums
    stay less than the heaviest item away. For each sum the set is kept that has lost the latest
    items only: ``whole[sum]`` items at the front are all there. Of equal ones the set found first
    stays; the loops below say in which order.

    All items fit alone, but not together. With ``items`` the sum is -1 where sets were kept more
    than ``most`` times, looked at after each item: a backend stores something for each.
    """
    front = int(np.searchsorted(np.cumsum(weights), capacity, side="right"))
    heaviest = int(weights.max())
    near = range(capacity - heaviest + 1, capacity + 1)
    # -1 where no set has the sum; above the capacity 0 says as much, as no item is left to go.
    whole = dict.fromkeys(near, -1)
    whole |= dict.fromkeys(range(capacity + 1, capacity + heaviest + 1), 0)
    sets: dict[int, frozenset[int]] = {}
    first = int(weights[:front].sum())
    whole[first], sets[first] = front, frozenset(range(front))
    kept = 0
    for item in range(front, len(weights)):
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
