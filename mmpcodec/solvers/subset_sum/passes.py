"""What a device does in one pass over the bits of all sums; see ``subset_sum_dense.cu``."""

import numpy as np

THREADS = 1024
MOST_ITEMS = 256
"""Of a pass."""
FEW = 4
"""Items that are added word by word where the row is short; else half as many, since each set of
them is another word to read."""
SHORT_WORDS = 1 << 17
"""Of a row, up to which waiting for all blocks takes more time than reading."""
HALO_SHARE = 4
"""Least ratio of the words of a tile and its halo to the words of the halo."""

PASS = np.dtype(
    [(name, np.int64) for name in ("first", "count", "low", "high", "halo")]
    + [("weights", np.int64, FEW)]
)
"""Of items first to first + count - 1, over words low to high - 1. By tiles where it has a halo,
else of few items with these weights, and 0 for none."""


def span_of(limit: int, blocks: int, each: int) -> int:
    """Words of a tile and its halo, chosen so that all blocks have work.

    Parameters
    ----------
    limit : int
        The largest sum.
    blocks : int
        That run at once.
    each : int
        The most words of a thread.
    """
    return THREADS * min(-(-tiles_of(limit) // blocks), each)


def tiles_of(limit: int) -> int:
    """Tiles of the shortest span that a row has."""
    return -(-(limit // 64 + 1) // (THREADS - THREADS // HALO_SHARE))


def plan_passes(weights: np.ndarray, limit: int, floor: int, span: int) -> np.ndarray:
    """The passes that add items in their order.

    Parameters
    ----------
    weights : (N,) int64 array
        From 1 to ``limit``.
    limit : int
        The largest sum.
    floor : int
        Sums that later items cannot bring there are of no use.
    span : int
        See ``span_of``.

    Returns
    -------
    (P,) array of PASS
    """
    if not len(weights):
        return np.zeros(0, PASS)
    numbers = np.arange(len(weights))
    # An item needs the words below a tile that its weight reaches down to, and one for the shift.
    reach = np.concatenate([[0], np.cumsum(weights // 64 + 1)])
    ends = np.searchsorted(reach, reach[:-1] + span // HALO_SHARE, side="right") - 1
    ends = np.minimum(ends, numbers + MOST_ITEMS)
    few = FEW if limit // 64 < SHORT_WORDS else FEW // 2
    tiled = ends - numbers > few
    ends = np.where(tiled, ends, np.minimum(numbers + few, len(weights)))
    nexts, firsts = ends.tolist(), [0]
    while nexts[firsts[-1]] < len(weights):
        firsts.append(nexts[firsts[-1]])
    first = np.array(firsts)
    last = ends[first] - 1
    before = np.cumsum(weights)
    after = before[-1] - before
    passes = np.zeros(len(first), PASS)
    passes["first"], passes["count"] = first, last + 1 - first
    passes["low"] = np.maximum(floor - after[first], 0) // 64
    passes["high"] = np.minimum(before[last], limit) // 64 + 1
    passes["halo"] = np.where(tiled[first], reach[last + 1] - reach[first], 0)
    for place in range(FEW):
        item = np.minimum(first + place, last)
        there = ~tiled[first] & (first + place <= last)
        passes["weights"][:, place] = np.where(there, weights[item], 0)
    return passes
