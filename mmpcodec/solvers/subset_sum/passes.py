"""The plan of a device's passes over the bits of all sums; see ``dense.cu``."""

import numpy as np

THREADS = 1024
MOST_ITEMS = 256
"""Most items of a pass by tiles."""
FEW = 4
"""Most items of a pass word by word over a short row. Over a longer row half as many, because each
subset of the items reads one more word."""
SHORT_WORDS = 1 << 17
"""A row of fewer words is short: the wait for all blocks takes longer than reading the row."""
HALO_SHARE = 4
"""Least ratio of the words of a span (a tile and its halo) to the words of the halo."""

PASS = np.dtype(
    [(name, np.int64) for name in ("first", "count", "low", "high", "halo")]
    + [("weights", np.int64, FEW)]
)
"""A pass: it adds items first to first + count - 1 to words low to high - 1. If halo > 0 it works
by tiles; else it works word by word and ``weights`` has its items' weights, padded with zeros."""


def span_of(limit: int, blocks: int, each: int) -> int:
    """Return the words of a span (a tile and its halo) with which all blocks have work.

    Parameters
    ----------
    limit : int
        The largest sum.
    blocks : int
        Number of blocks that run at once.
    each : int
        Most words of a span for each thread.
    """
    return THREADS * min(-(-tiles_of(limit) // blocks), each)


def tiles_of(limit: int) -> int:
    """Return the number of tiles of a row if the span has one word for each thread."""
    return -(-(limit // 64 + 1) // (THREADS - THREADS // HALO_SHARE))


def plan_passes(weights: np.ndarray, limit: int, floor: int, span: int) -> np.ndarray:
    """Return the passes that add all items in their order.

    Parameters
    ----------
    weights : (N,) int64 array
        From 1 to ``limit``.
    limit : int
        The largest sum.
    floor : int
        Least sum of interest: passes skip sums that later items cannot raise to it.
    span : int
        See ``span_of``.

    Returns
    -------
    (P,) array of PASS
    """
    if not len(weights):
        return np.zeros(0, PASS)
    numbers = np.arange(len(weights))
    # An item reads weight // 64 words below a tile, and one more because of the bit shift.
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
