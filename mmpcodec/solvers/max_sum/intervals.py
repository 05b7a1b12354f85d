"""Maximum sums of a sequence. See the package for sums, ties and empty answers."""

from math import isfinite
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of, on_device
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.grid import Grid, checked, exponent_of, is_integer, on_grid
from mmpcodec.solvers.max_sum import arguments
from mmpcodec.solvers.max_sum.answers import Interval, IntervalCensus, Intervals


def max_interval(
    values: Any,
    *,
    min_length: int = 1,
    max_length: int | None = None,
    allow_empty: bool = False,
    backend: str = "auto",
) -> Interval:
    """Find the interval of the largest sum.

    Parameters
    ----------
    values : (N,) array of integers or floating-point numbers
    min_length, max_length : int, int or None
        Smallest and largest number of values; None is no limit.
    allow_empty : bool
        Whether the answer is empty if the largest sum is not positive.
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        See ``on_grid`` and ``arguments.limits``.

    Examples
    --------
    >>> from mmpcodec.solvers.max_sum import max_interval
    >>> max_interval([3, 2, -7, 11, 10, -6, 4, 9, -6])
    Interval(start=3, stop=8, sum=28)
    """
    values = checked(values, 1)
    operations = dispatch.operations(__package__, backend, values)
    lengths = arguments.limits("length", min_length, max_length, len(values))
    read = _read_once(values, operations) if lengths == (1, len(values)) else None
    if read is not None:
        found, given = read
    else:
        given = on_grid(values, 1, backend, any_type=True)
        found = operations.max_interval(given.values, lengths)
    if allow_empty and found[0] <= 0:
        return Interval(0, 0, given.number(0))
    return _interval(given, found)


def interval_census(values: Any, *, backend: str = "auto") -> IntervalCensus:
    """Count the intervals of the largest sum, and find the longest and the shortest of them.

    Intervals that differ by values of sum zero count separately. In (5, -5, 5), two single values
    and the whole sequence have the sum 5: ``count`` is 3, ``disjoint`` is 2, the longest interval
    has 3 values and the shortest has 1. Values, backends and errors are those of ``max_interval``.
    """
    given = on_grid(values, 1, backend)
    most, count, disjoint, longest, shortest = dispatch.operations(
        __package__, backend, given.values
    ).interval_census(given.values)
    return IntervalCensus(
        given.number(most),
        count,
        disjoint,
        _interval(given, longest),
        _interval(given, shortest),
    )


def sums_through(values: Any, *, backend: str = "auto") -> Any:
    """Return, for each value, the largest sum of an interval that contains it.

    This is the vector M in de Lima 2015. Values, backends and errors are those of ``max_interval``.

    Returns
    -------
    (N,) int64 array, or float64 for floating-point values
        In host memory, or on the device of the values.
    """
    given = on_grid(values, 1, backend)
    sums = dispatch.operations(__package__, backend, given.values).sums_through(given.values)
    if on_device(sums) and not on_device(values):
        sums = sums.get()
    if given.exponent is None:
        return sums
    return module_of(sums).ldexp(sums.astype(np.float64), given.exponent)


def maximal_intervals(values: Any, *, backend: str = "auto") -> Intervals:
    """Find all maximal intervals, from left to right, by the algorithm of Ruzzo and Tompa.

    The interval of the largest sum is maximal if this sum is positive. The maximal intervals of the
    values left and right of it follow recursively. Every prefix and every suffix of a maximal
    interval has a positive sum. Values, backends and errors are those of ``max_interval``.

    Returns
    -------
    Intervals
        Arrays in host memory.

    Examples
    --------
    >>> from mmpcodec.solvers.max_sum import maximal_intervals
    >>> found = maximal_intervals([4, -5, 3, -3, 1, 2, -2, 2, -2, 1, 5])
    >>> found.starts.tolist(), found.stops.tolist(), found.sums.tolist()
    ([0, 2, 4], [1, 3, 11], [4, 3, 7])
    >>> found[-1]
    Interval(start=4, stop=11, sum=7)
    """
    values = checked(values, 1)
    operations = dispatch.operations(__package__, backend, values)
    exponent = _exponent_while_read(values, operations)
    if exponent is not None:
        starts, stops, sums = operations.maximal_rounded(values, exponent)
    else:
        given = on_grid(values, 1, backend, any_type=True)
        starts, stops, sums = operations.maximal_intervals(given.values)
        exponent = given.exponent
    if exponent is not None:
        sums = np.ldexp(sums.astype(np.float64), exponent)
    return Intervals(starts, stops, sums)


def disjoint_intervals(
    values: Any, k: int, *, allow_empty: bool = False, backend: str = "auto"
) -> list[Interval]:
    """Find k disjoint intervals, best first; each has the largest sum of the remaining values.

    Parameters
    ----------
    values : (N,) array of integers or floating-point numbers
    k : int
    allow_empty : bool
        Whether to return fewer than k intervals if no positive sum is left.

    Raises
    ------
    ParameterError
        As ``max_interval``; also when fewer than k intervals exist and ``allow_empty`` is False.
    """
    given = on_grid(values, 1, backend)
    operation = dispatch.operations(__package__, backend, given.values).max_interval

    def best(start: int, stop: int) -> tuple[int, int, int]:
        total, first, last = operation(given.values[start:stop], (1, stop - start))
        return -total, start + first, start + last

    gaps = [(*best(0, len(given.values)), 0, len(given.values))]
    found: list[Interval] = []
    for _ in range(check_int("k", k, 1)):
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


def _read_once(values: Any, operations: Any) -> tuple[tuple[int, int, int], Grid] | None:
    """Return the best interval and its grid if values can be checked while they are read."""
    if values.dtype == np.int64 and hasattr(operations, "fitting_interval"):
        found = operations.fitting_interval(values)
        return None if found is None else (found, Grid(values, None))
    exponent = _exponent_while_read(values, operations)
    if exponent is None:
        return None
    return operations.max_rounded(values, exponent), Grid(values, exponent)


def _exponent_while_read(values: Any, operations: Any) -> int | None:
    """Return the exponent of the grid if values can be rounded while they are read, else None.

    This takes no array of integers. ``on_grid`` says which value is not finite.
    """
    if is_integer(values.dtype) or not hasattr(operations, "largest_magnitude"):
        return None
    largest = operations.largest_magnitude(values)
    if not isfinite(largest):
        return None
    exponent = exponent_of(largest, len(values))
    return exponent if abs(exponent) <= operations.SCALES else None


def _interval(given: Grid, found: tuple[int, int, int]) -> Interval:
    total, start, stop = found
    return Interval(int(start), int(stop), given.number(total))
