"""The filling of several volumes, one after the other."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mmpcodec.solvers import dispatch
from mmpcodec.solvers.limits import CallLimits
from mmpcodec.solvers.subset_sum.answers import SubsetSum
from mmpcodec.solvers.subset_sum.arguments import check_whole, weights_of
from mmpcodec.solvers.subset_sum.solve import MEMORY, solve


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
    weights : (N,) array or sequence of integers
        From 0 up, with a sum below 2**63.
    volumes : sequence of int
        Capacities from 0 up.
    method
        As in ``subset_sum``.
    time_limit : float or None
        Seconds for all volumes together; see ``subset_sum``.
    memory_limit, backend
        As in ``subset_sum``.

    Returns
    -------
    list of SubsetSum
        One answer for each volume; the items are indices into ``weights``.

    Raises
    ------
    ParameterError, BackendUnavailable, LimitExceeded
        See ``subset_sum``. Weights and volumes are checked before the first volume is filled.

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
