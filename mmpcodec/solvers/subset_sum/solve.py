"""The search for the largest sum not above a capacity; the package states methods and ties."""

import time
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import LimitExceeded
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.subset_sum import methods, quick
from mmpcodec.solvers.subset_sum.answers import SubsetSum
from mmpcodec.solvers.subset_sum.arguments import MAX_TOTAL, weights_of
from mmpcodec.solvers.subset_sum.reduction import Reduced, lighter_side, reduce

MEMORY = 1 << 32
"""Default memory limit of a method, in bytes."""
CORE_SHARE = 4
"""Least ratio of the chosen method's predicted time to the predicted time of ``core``."""


def subset_sum(
    weights: Any,
    capacity: int,
    *,
    items: bool = True,
    method: str = "auto",
    memory: int = MEMORY,
    backend: str = "auto",
) -> SubsetSum:
    """Find the largest sum of items that is not above a capacity.

    Parameters
    ----------
    weights : (N,) array or sequence of integers
        From 0 up, with a sum below 2**63.
    capacity : int
        From 0 up, without upper limit.
    items : bool
        Whether to return the items. Without them, ``dense`` and ``balanced`` need much less memory.
    method : {"auto", "dense", "balanced", "meet"}
        "meet" takes at most 62 items.
    memory : int
        Memory limit of a method in bytes. The choice of the method depends on this limit, not on
        the machine.
    backend : {"auto", "cpu", "cuda", "reference"}
        "auto" takes cuda if the weights lie in device memory or a device is predicted to be faster;
        else it takes the processor.

    Returns
    -------
    SubsetSum

    Raises
    ------
    ParameterError
        When an argument is invalid.
    BackendUnavailable
        When the backend cannot run here.
    LimitExceeded
        When the named method, or with "auto" every method, needs more than the memory limit, or
        when a named device has too little memory.

    Examples
    --------
    >>> from mmpcodec.solvers.subset_sum import subset_sum
    >>> found = subset_sum([3, 5, 8, 10], 12)
    >>> found.sum, found.items.tolist()
    (11, [0, 2])
    """
    start = time.perf_counter()
    backend = dispatch.named(backend, weights)
    where = dispatch.resolved(__package__, backend)
    values = weights_of(weights)
    capacity = check_int("capacity", capacity, 0)
    memory = check_int("memory", memory, 0, MAX_TOTAL)
    if method not in ("auto", *methods.NAMES):
        methods.choose(method, {}, memory)
    reduced = reduce(values, capacity)
    if reduced.fits:
        name, taken = "all", np.ones(len(reduced.indices), bool)
        found = reduced.total
    else:
        try:
            name, where, found, some = _solve(backend, where, reduced, items, method, memory)
        except MemoryError as error:
            raise LimitExceeded(
                "Memory of subset_sum", f"the machine has less than memory = {memory} bytes"
            ) from error
        taken = some if some is not None else np.zeros(0, bool)
    best = found * reduced.divisor
    return SubsetSum(
        sum=best,
        items=reduced.indices[taken] if items else None,
        exact=best == capacity,
        proven=True,
        method=name,
        backend=where,
        seconds=time.perf_counter() - start,
    )


def reachable(
    weights: Any,
    target: int,
    *,
    method: str = "auto",
    memory: int = MEMORY,
    backend: str = "auto",
) -> bool:
    """Return whether some items add up to a target.

    Parameters
    ----------
    weights : array of int
        As in ``subset_sum``.
    target : int
        Sum to reach.
    method, memory, backend
        As in ``subset_sum``.

    Raises
    ------
    ParameterError, BackendUnavailable, LimitExceeded
        See ``subset_sum``.

    Examples
    --------
    >>> from mmpcodec.solvers.subset_sum import reachable
    >>> reachable([3, 5, 8, 10], 12), reachable([3, 5, 8, 10], 13)
    (False, True)
    """
    return subset_sum(
        weights, target, items=False, method=method, memory=memory, backend=backend
    ).exact


def _solve(
    backend: str, where: str, reduced: Reduced, items: bool, method: str, memory: int
) -> tuple[str, str, int, np.ndarray | None]:
    """Return the method, the backend, the sum, and a (N,) bool array of the items taken, or None.

    ``where`` is the backend of the quick methods, whose work is too small to start a device.
    """
    weights, capacity = reduced.weights, reduced.capacity
    taken = quick.greedy(weights, capacity)
    found = int(weights[taken].sum())
    if method == "auto" and found == capacity:
        return "greedy", where, found, taken
    side = lighter_side(reduced, found)
    count, heaviest = len(weights), int(weights.max())
    found_needs = methods.needs(count, side.limit, heaviest, items)
    name = methods.choose(method, found_needs, memory)
    if method == "auto":
        few = weights[quick.core_items(weights)]
        most = min(int(few.sum()), capacity)
        core = methods.needs(len(few), most, heaviest, True)["dense"]
        cheap = core.nanoseconds * CORE_SHARE <= found_needs[name].nanoseconds
        if cheap and core.bytes <= memory:
            hit = quick.core(dispatch.operations(__package__, where), weights, capacity)
            if hit is not None:
                return "core", where, capacity, hit
    if name == "balanced":
        most = (memory - found_needs[name].bytes) // methods.CHANGE_BYTES
        arguments: tuple = weights, capacity, items, most
        (best, chosen), where = dispatch.run(__package__, where, 0.0, name, *arguments)
        if best < 0:
            # Only the run shows that balanced needs more than the memory.
            found_needs[name] = methods.Need(found_needs[name].nanoseconds, memory + 1)
            name = methods.choose(method, found_needs, memory)
    if name != "balanced":
        arguments = weights, side.target, side.limit
        arguments += (side.floor, items) if name == "dense" else ()
        seconds = found_needs[name].seconds
        (best, chosen), where = dispatch.run(__package__, backend, seconds, name, *arguments)
    leaves_out = side.leaves_out and name != "balanced"
    best = reduced.total - best if leaves_out else best
    if not items:
        return name, where, best, None
    mask = np.zeros(count, bool)
    mask[chosen] = True
    return name, where, best, ~mask if leaves_out else mask
