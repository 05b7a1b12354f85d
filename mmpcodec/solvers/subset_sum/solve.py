"""The functions that users call; the package states methods and ties."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmpcodec.errors import LimitExceeded
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.limits import CallLimits, OutOfTime, check_memory, in_time, look
from mmpcodec.solvers.subset_sum import methods, quick
from mmpcodec.solvers.subset_sum.answers import SubsetSum
from mmpcodec.solvers.subset_sum.arguments import check_whole, weights_of
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
    time_limit: float | None = None,
    memory_limit: int = MEMORY,
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
    time_limit : float or None
        Seconds after which the sum of ``greedy`` is returned, with a bound. The limit is tested
        many times a second; a search on a device that has begun always ends.
    memory_limit : int
        Bytes of a method. The choice of the method depends on this limit, not on the machine.
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
    return solve(weights, capacity, items, method, CallLimits(time_limit, memory_limit), backend)


def solve(
    weights: Any, capacity: int, items: bool, method: str, limits: CallLimits, backend: str
) -> SubsetSum:
    """Find the largest sum as ``subset_sum`` does, within the limits of a call."""
    start = time.perf_counter()
    backend = dispatch.named(backend, weights)
    where = dispatch.resolved(__package__, backend)
    values = weights_of(weights)
    capacity = check_whole("capacity", capacity)
    memory = check_memory(limits.memory)
    if method not in ("auto", *methods.NAMES):
        methods.choose(method, {}, memory)
    reduced = reduce(values, capacity)
    if reduced.fits:
        name, taken = "all", np.ones(len(reduced.indices), bool)
        found = bound = reduced.total
    else:
        deadline = limits.deadline
        try:
            found, some, name, where = _solve(
                backend, where, reduced, items, method, memory, deadline
            )
            bound = found
        except OutOfTime:
            some = quick.greedy(reduced.weights, reduced.capacity)
            found, name, bound = int(reduced.weights[some].sum()), "greedy", reduced.capacity
        except MemoryError as error:
            raise LimitExceeded(
                "Memory of subset_sum", f"the machine has less than memory_limit = {memory} bytes"
            ) from error
        taken = some if some is not None else np.zeros(0, bool)
    best = found * reduced.divisor
    return SubsetSum(
        sum=best,
        items=reduced.indices[taken] if items else None,
        exact=best == capacity,
        bound=bound * reduced.divisor,
        method=name,
        backend=where,
        seconds=time.perf_counter() - start,
    )


def reachable(
    weights: Any,
    target: int,
    *,
    method: str = "auto",
    time_limit: float | None = None,
    memory_limit: int = MEMORY,
    backend: str = "auto",
) -> bool:
    """Return whether some items add up to a target.

    Weights, options and other errors are those of ``subset_sum``.

    Raises
    ------
    LimitExceeded
        Also when time runs out before there is an answer.

    Examples
    --------
    >>> from mmpcodec.solvers.subset_sum import reachable
    >>> reachable([3, 5, 8, 10], 12), reachable([3, 5, 8, 10], 13)
    (False, True)
    """
    limits = CallLimits(time_limit, memory_limit)
    found = solve(weights, target, False, method, limits, backend)
    if not (found.exact or found.proven):
        raise LimitExceeded("Time of reachable", f"no answer in time_limit = {time_limit} seconds")
    return found.exact


def fill_volumes(
    weights: Any,
    volumes: Sequence[int],
    *,
    method: str = "auto",
    time_limit: float | None = None,
    memory_limit: int = MEMORY,
    backend: str = "auto",
) -> list[SubsetSum]:
    """Fill volumes one after the other, each as far as the remaining items allow.

    The filling of each volume is optimal unless time runs out; the total over all volumes may not
    be. ``exact`` is True for a volume that is filled completely.

    Parameters
    ----------
    weights
        As in ``subset_sum``, and so are all options and errors. Weights and volumes are checked
        before the first volume is filled.
    volumes : sequence of int
        Capacities from 0 up.
    time_limit : float or None
        Seconds for all volumes together.

    Returns
    -------
    list of SubsetSum
        One answer for each volume; the items are indices into ``weights``.

    Examples
    --------
    >>> from mmpcodec.solvers.subset_sum import fill_volumes
    >>> [found.items.tolist() for found in fill_volumes([3, 5, 8, 10], [13, 12])]
    [[0, 3], [2]]
    """
    backend = dispatch.named(backend, weights)
    dispatch.resolved(__package__, backend)
    values = weights_of(weights)
    rooms = [check_whole(f"volumes[{i}]", one) for i, one in enumerate(volumes)]
    limits = CallLimits(time_limit, memory_limit)
    left = np.arange(len(values))
    answers = []
    for room in rooms:
        found = solve(values[left], room, True, method, limits, backend)
        assert found.items is not None
        answers.append(replace(found, items=left[found.items]))
        left = np.delete(left, found.items)
    return answers


def all_sums(
    weights: Any,
    capacity: int | None = None,
    *,
    time_limit: float | None = None,
    memory_limit: int = MEMORY,
    backend: str = "auto",
) -> NDArray[np.bool_]:
    """Return, for each number up to a capacity, whether it is the sum of some items.

    Parameters
    ----------
    weights : (N,) array or sequence of integers
        From 0 up, with a sum below 2**63.
    capacity : int or None
        The largest number C to test; None for the sum of all items.
    time_limit : float or None
        Seconds after which the search stops without an answer.
    memory_limit, backend
        As in ``subset_sum``, which also lists the errors; here one is raised when time runs out.

    Returns
    -------
    (C + 1,) bool array

    Examples
    --------
    >>> from mmpcodec.solvers.subset_sum import all_sums
    >>> all_sums([2, 3]).astype(int).tolist()
    [1, 0, 1, 1, 0, 1]
    """
    backend = dispatch.named(backend, weights)
    dispatch.resolved(__package__, backend)
    values = weights_of(weights)
    capacity = int(values.sum()) if capacity is None else check_whole("capacity", capacity)
    memory = check_memory(memory_limit)
    reduced = reduce(values, capacity)
    limit = min(reduced.total, reduced.capacity)
    needed = capacity + 1 + limit + 1 + limit // 8
    if needed > memory:
        raise LimitExceeded(
            "Memory of all_sums", f"needs {needed} bytes: must be at most memory_limit = {memory}"
        )
    dense = methods.needs(len(reduced.weights), limit, limit, False)["dense"]
    arguments = reduced.weights, limit
    with in_time("all_sums", time_limit) as deadline:
        words, _ = dispatch.run(__package__, backend, dense.seconds, "sums", *arguments, deadline)
    found = np.unpackbits(words.view(np.uint8), bitorder="little", count=limit + 1)
    answer = np.zeros(capacity + 1, bool)
    answer[: limit * reduced.divisor + 1 : reduced.divisor] = found
    return answer


def _solve(
    backend: str,
    where: str,
    reduced: Reduced,
    items: bool,
    method: str,
    memory: int,
    deadline: float | None,
) -> tuple[int, np.ndarray | None, str, str]:
    """Return the sum, a (N,) bool array of the items taken or None, the method and the backend.

    ``where`` is the backend of the quick methods, whose work is too small to start a device.

    Raises
    ------
    OutOfTime
        When the deadline, a value of ``time.monotonic``, has passed.
    """
    weights, capacity = reduced.weights, reduced.capacity
    taken = quick.greedy(weights, capacity)
    found = int(weights[taken].sum())
    if method == "auto" and found == capacity:
        return found, taken, "greedy", where
    look(deadline)
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
            hit = quick.core(dispatch.operations(__package__, where), weights, capacity, deadline)
            if hit is not None:
                return capacity, hit, "core", where
    if name == "balanced":
        most = (memory - found_needs[name].bytes) // methods.CHANGE_BYTES
        arguments: tuple = weights, capacity, items, most, deadline
        (best, chosen), where = dispatch.run(__package__, where, 0.0, name, *arguments)
        if best < 0:
            # Only the run shows that balanced needs more than the memory.
            found_needs[name] = methods.Need(found_needs[name].nanoseconds, memory + 1)
            name = methods.choose(method, found_needs, memory)
    if name != "balanced":
        arguments = weights, side.target, side.limit
        arguments += (side.floor, items, deadline) if name == "dense" else (deadline,)
        seconds = found_needs[name].seconds
        (best, chosen), where = dispatch.run(__package__, backend, seconds, name, *arguments)
    leaves_out = side.leaves_out and name != "balanced"
    best = reduced.total - best if leaves_out else best
    if not items:
        return best, None, name, where
    mask = np.zeros(count, bool)
    mask[chosen] = True
    return best, ~mask if leaves_out else mask, name, where
