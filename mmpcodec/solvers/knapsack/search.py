"""The search for any best choice of a 0-1 knapsack of one budget, in C++.

See ``kernels/cpu/solvers/knapsack/solve.h``. It runs on the processor for every backend that
reduces, step by step in an order that depends on the problem only, so its choice is the same on
all of them. The memory of lists and log is that of the processor for the same reason.
"""

import time
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate

import numpy as np

from mmpcodec import _cpu
from mmpcodec.errors import LimitExceeded
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.knapsack import reference
from mmpcodec.solvers.knapsack.problem import ItemList
from mmpcodec.solvers.subset_sum import subset_sum

_STATE_BYTES = 24
_LOG_BYTES = 8
_LISTS = 4
"""Lists that a search holds at once, with room for doubled ones."""
_ROW_BYTES = 32
"""Bytes of a state of a table, for its rows and decisions."""
_LEAST_LIST = 1 << 18
_LEAST_LOG = 1 << 22
"""States of a list and of the log that need no memory limit."""
_MOST_LOG = (1 << 32) - 1
_MAX_TOTAL = (1 << 63) - 1


class Ending(IntEnum):
    """How a search ended; see ``solve.h``."""

    LIMIT = 0
    SETTLED = 1
    LISTS = 2
    BOUND = 3
    PROPORTIONAL = 4


PATHS = {Ending.SETTLED: "reduction", Ending.LISTS: "core", Ending.BOUND: "bound"}
"""Path of the solution for each outcome that is proven."""


@dataclass(frozen=True)
class AnyBest:
    """A choice and what is known about it.

    Parameters
    ----------
    taken : (N,) uint8 array
        Whether each item is taken.
    value : int
        Profit of the choice.
    bound : int
        Upper bound of the profit of all choices.
    path : str or None
        Method that proved the choice the best; None if it is not proven.
    """

    taken: np.ndarray
    value: int
    bound: int
    path: str | None


def best_choices(
    listed: list[ItemList], memory: int, deadline: float | None, backend: str
) -> list[AnyBest]:
    """Search for a best choice of each problem of one budget, each by one thread.

    Parameters
    ----------
    listed : list of ItemList
    memory : int
        Bytes for lists, and for a table that may be faster than long lists.
    deadline : float or None
        Value of ``time.monotonic`` at which the search stops. Without one, problems whose profits
        are one multiple of the weights go to ``subset_sum``.
    backend : str
        Backend of ``subset_sum``.
    """
    threads = min(processors(), len(listed))
    offsets = np.array([*accumulate((len(items.profits) for items in listed), initial=0)], np.int64)
    outcomes = np.zeros(len(listed), np.uint8)
    values, bounds = np.zeros((2, len(listed)), np.int64)
    taken = np.empty(offsets[-1], np.uint8)
    limits = [
        max(memory // (threads * _LISTS * _STATE_BYTES), _LEAST_LIST),
        min(max(memory // (2 * threads * _LOG_BYTES), _LEAST_LOG), _MOST_LOG),
        memory // _ROW_BYTES,
        reference.LEAST_STATES,
        reference.CELLS_A_STATE,
    ]
    _cpu.knapsack_solve(
        _joined([items.profits for items in listed]),
        _joined([items.weights[:, 0] for items in listed]),
        offsets,
        np.array([items.capacities[0] for items in listed], np.int64),
        limits,
        -1.0 if deadline is None else max(0.0, deadline - time.monotonic()),
        outcomes,
        values,
        bounds,
        taken,
        threads,
    )
    found = []
    ends = offsets.tolist()
    rows = zip(
        listed, outcomes.tolist(), values.tolist(), bounds.tolist(), ends, ends[1:], strict=False
    )
    for items, outcome, value, bound, first, last in rows:
        one = AnyBest(taken[first:last], value, bound, PATHS.get(Ending(outcome)))
        if outcome == Ending.PROPORTIONAL:
            one = _by_sum(items, backend) or one
        found.append(one)
    return found


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.ascontiguousarray(parts[0]) if len(parts) == 1 else np.concatenate(parts)


def _by_sum(items: ItemList, backend: str) -> AnyBest | None:
    """Solve items whose profits are one multiple of the weights; None if memory does not suffice.

    The items of the largest sum of weights have the largest profit.
    """
    weights, capacity = items.weights[:, 0], items.capacities[0]
    taken = ((items.profits > 0) & (weights == 0)).astype(np.uint8)
    some = np.flatnonzero((items.profits > 0) & (weights > 0) & (weights <= capacity))
    if sum(weights[some].tolist()) > _MAX_TOTAL:
        return None
    try:
        best = subset_sum(weights[some], capacity, backend=backend)
    except LimitExceeded:
        return None
    taken[some[best.items]] = 1
    value = int(items.profits[taken.astype(bool)].sum())
    return AnyBest(taken, value, value, "subset sum")
