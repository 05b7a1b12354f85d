"""Maximum sums of a sequence. See the package for sums, ties and empty answers."""

from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of, on_device
from mmpcodec.solvers.grid import Exact, exact
from mmpcodec.solvers.max_sum import operations
from mmpcodec.solvers.max_sum.answers import Interval, IntervalCensus


def max_interval(
    values: Any,
    *,
    min_length: int = 1,
    max_length: int | None = None,
    allow_empty: bool = False,
    backend: str = "auto",
) -> Interval:
    """The interval of the largest sum.

    Parameters
    ----------
    values : (N,) array of integers or floating-point numbers
    min_length, max_length : int, int or None
        Lengths that it may have.
    allow_empty : bool
        Answer with an empty interval where no sum is positive.
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        See ``exact`` and ``operations.limits``.

    Examples
    --------
    >>> from mmpcodec.solvers.max_sum import max_interval
    >>> max_interval([3, 2, -7, 11, 10, -6, 4, 9, -6])
    Interval(start=3, stop=8, sum=28)
    """
    given = exact(values, 1, backend)
    lengths = operations.limits("length", min_length, max_length, len(given.values))
    found = operations.get(backend, given.values).max_interval(given.values, lengths)
    if allow_empty and found[0] <= 0:
        return Interval(0, 0, given.number(0))
    return _interval(given, found)


def interval_census(values: Any, *, backend: str = "auto") -> IntervalCensus:
    """How many intervals have the largest sum, and the longest and shortest of them.

    Pieces of sum zero count: of (5, -5, 5) two single values and the whole have the sum 5, so
    ``count`` is 3, ``disjoint`` 2, the longest has 3 values and the shortest 1. Where no value is
    positive, a value alone has the largest sum, and with it zeros beside each other.

    Parameters
    ----------
    values : (N,) array of integers or floating-point numbers
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        See ``exact``.
    """
    given = exact(values, 1, backend)
    most, count, disjoint, longest, shortest = operations.get(
        backend, given.values
    ).interval_census(given.values)
    return IntervalCensus(
        given.number(most),
        count,
        disjoint,
        _interval(given, longest),
        _interval(given, shortest),
    )


def sums_through(values: Any, *, backend: str = "auto") -> Any:
    """The largest sum of an interval that contains each value: the vector M of the thesis.

    Parameters
    ----------
    values : (N,) array of integers or floating-point numbers
    backend : {"auto", "cpu", "cuda", "reference"}

    Returns
    -------
    (N,) int64 array, or float64 for floating-point values
        Where the values lie, in host memory or on the device.

    Raises
    ------
    ParameterError
        See ``exact``.
    """
    given = exact(values, 1, backend)
    sums = operations.get(backend, given.values).sums_through(given.values)
    if on_device(sums) and not on_device(values):
        sums = sums.get()
    if given.exponent is None:
        return sums
    return module_of(sums).ldexp(sums.astype(np.float64), given.exponent)


def maximal_intervals(values: Any, *, backend: str = "auto") -> list[Interval]:
    """All maximal intervals from the left, after Ruzzo and Tompa.

    The interval of the largest sum is one, and so are those of what lies left and right of it, as
    long as their sums are positive; none begins or ends with a piece of sum zero or less.

    Parameters
    ----------
    values : (N,) array of integers or floating-point numbers
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        See ``exact``.
    """
    given = exact(values, 1, backend)
    found = operations.get(backend, given.values).maximal_intervals(given.values)
    return [_interval(given, each) for each in found]


def disjoint_intervals(
    values: Any, k: int, *, allow_empty: bool = False, backend: str = "auto"
) -> list[Interval]:
    """The k best intervals that do not overlap, best first, each the best of what is left.

    Parameters
    ----------
    values : (N,) array of integers or floating-point numbers
    k : int
    allow_empty : bool
        Stop where no positive sum is left, with fewer than k.
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        Also when fewer than k exist and ``allow_empty`` is not given.
    """
    given = exact(values, 1, backend)
    operation = operations.get(backend, given.values).max_interval

    def best(start: int, stop: int) -> tuple[int, int, int]:
        total, first, last = operation(given.values[start:stop], (1, stop - start))
        return -total, start + first, start + last

    gaps = [(*best(0, len(given.values)), 0, len(given.values))]
    found: list[Interval] = []
    for _ in range(operations.count(k)):
        if not gaps:
            if allow_empty:
                break
            raise ParameterError(f"k = {k}: only {len(found)} disjoint intervals exist")
        gaps.sort()
        total, start, stop, before, after = gaps.pop(0)
        if allow_empty and total >= 0:
            break
        found.append(Interval(start, stop, given.number(-total)))
        gaps += [
            (*best(low, high), low, high)
            for low, high in ((before, start), (stop, after))
            if low < high
        ]
    return found


def _interval(given: Exact, found: tuple[int, int, int]) -> Interval:
    total, start, stop = found
    return Interval(int(start), int(stop), given.number(total))
