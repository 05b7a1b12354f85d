"""The set of all sums of items."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmpcodec.errors import LimitExceeded
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.limits import check_memory, in_time
from mmpcodec.solvers.subset_sum.arguments import check_whole, weights_of
from mmpcodec.solvers.subset_sum.methods import needs
from mmpcodec.solvers.subset_sum.reduction import reduce
from mmpcodec.solvers.subset_sum.solve import MEMORY


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
    dense = needs(len(reduced.weights), limit, limit, False)["dense"]
    arguments = reduced.weights, limit
    with in_time("all_sums", time_limit) as deadline:
        words, _ = dispatch.run(__package__, backend, dense.seconds, "sums", *arguments, deadline)
    found = np.unpackbits(words.view(np.uint8), bitorder="little", count=limit + 1)
    answer = np.zeros(capacity + 1, bool)
    answer[: limit * reduced.divisor + 1 : reduced.divisor] = found
    return answer
