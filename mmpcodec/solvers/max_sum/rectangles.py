"""Maximum sums of a matrix. See the package for sums, ties and empty answers."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.grid import on_grid
from mmpcodec.solvers.limits import in_time, look
from mmpcodec.solvers.max_sum import windows
from mmpcodec.solvers.max_sum.answers import Rectangle, RectangleCensus

MAX_COLUMNS = 16384
"""Largest number of columns in ``column_range_rectangle``: 1 GiB of sums, one for each range."""


def max_rectangle(
    values: Any,
    *,
    min_height: int = 1,
    max_height: int | None = None,
    min_width: int = 1,
    max_width: int | None = None,
    allow_empty: bool = False,
    time_limit: float | None = None,
    backend: str = "auto",
) -> Rectangle:
    """Find the rectangle of the largest sum.

    The time is proportional to the shorter side squared times the longer side.

    Parameters
    ----------
    values : (H, W) array of integers or floating-point numbers
    min_height, max_height, min_width, max_width : int or None
        Smallest and largest numbers of rows and columns; None is no limit.
    allow_empty : bool
        Whether the answer is empty if the largest sum is not positive.
    time_limit : float or None
        Seconds after which the search stops without an answer. A search on a device that has begun
        always ends.
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        See ``on_grid`` and ``arguments.limits``.
    LimitExceeded
        When time runs out.

    Examples
    --------
    >>> from mmpcodec.solvers.max_sum import max_rectangle
    >>> max_rectangle([[1, -9, 2], [-3, 4, 5], [1, 6, -2]])
    Rectangle(top=1, left=1, bottom=3, right=3, sum=13)
    """
    limits = (min_height, max_height), (min_width, max_width)
    return windows.largest(Rectangle, values, limits, allow_empty, time_limit, backend)


def rectangle_census(
    values: Any, *, time_limit: float | None = None, backend: str = "auto"
) -> RectangleCensus:
    """Count the rectangles of the largest sum; find the largest, the smallest and the densest.

    Rectangles that differ only by a strip of sum zero count separately. Options and errors are
    those of ``max_rectangle``.
    """
    given = on_grid(values, 2, backend)
    operation = dispatch.operations(__package__, backend, given.values)
    turned = given.values.shape[0] > given.values.shape[1]
    matrix = given.values.T.copy() if turned else given.values
    with in_time("rectangle_census", time_limit) as deadline:
        maxima = operation.strip_maxima(matrix, deadline)
        most, count = int(maxima.max()), 0
        ends: list[Rectangle] = []
        for first, last in _ranges(np.flatnonzero(maxima == most), len(matrix)):
            look(deadline)
            strip = matrix[first:last].sum(axis=0, dtype=np.int64)
            _, intervals, _, longest, shortest = operation.interval_census(strip)
            count += intervals
            for _, start, stop in (longest, shortest):
                top, left, bottom, right = first, int(start), last, int(stop)
                if turned:
                    top, left, bottom, right = left, top, right, bottom
                ends.append(Rectangle(top, left, bottom, right, given.number(most)))

    def first_of(rectangle: Rectangle) -> tuple[int, int, int, int]:
        return rectangle.top, rectangle.left, rectangle.bottom, rectangle.right

    largest = min(ends, key=lambda r: (-r.area, first_of(r)))
    smallest = min(ends, key=lambda r: (r.area, first_of(r)))
    # Of a largest sum of 0 or less, the smallest are single values, and the first of all.
    return RectangleCensus(given.number(most), int(count), largest, smallest, densest=smallest)


def column_range_rectangle(
    values: Any, k: int, *, time_limit: float | None = None, backend: str = "auto"
) -> Rectangle:
    """Find the best rectangle of each range of columns, and return the k-th best of these.

    n columns have n (n + 1) / 2 ranges. Equal sums are ordered by (left, right). Of rectangles of
    equal sum in one range, the first is taken.

    Parameters
    ----------
    values : (H, W) array of integers or floating-point numbers
    k : int
        Rank of the answer; 1 is the best.

    Raises
    ------
    ParameterError
        As ``max_rectangle``; also when k exceeds the number of ranges, or for more than 16384
        columns.
    """
    given = on_grid(values, 2, backend)
    operation = dispatch.operations(__package__, backend, given.values)
    columns = given.values.shape[1]
    if columns > MAX_COLUMNS:
        raise ParameterError(
            f"values of {columns} columns: at most {MAX_COLUMNS}, because each range is stored"
        )
    turned = given.values.T.copy()
    with in_time("column_range_rectangle", time_limit) as deadline:
        maxima = operation.strip_maxima(turned, deadline)
    if check_int("k", k, 1) > len(maxima):
        raise ParameterError(f"k = {k}: only {len(maxima)} ranges of columns exist")
    # Equal sums are ordered by (left, right), which partition does not keep.
    bound = np.partition(maxima, len(maxima) - k)[len(maxima) - k]
    above = int((maxima > bound).sum())
    chosen = np.flatnonzero(maxima == bound)[k - 1 - above]
    left, right = next(_ranges(np.array([chosen]), len(turned)))
    strip = turned[left:right].sum(axis=0, dtype=np.int64)
    total, top, bottom = operation.max_interval(strip, (1, len(strip)))
    return Rectangle(int(top), left, int(bottom), right, given.number(total))


def disjoint_rectangles(
    values: Any,
    k: int,
    *,
    min_height: int = 1,
    max_height: int | None = None,
    min_width: int = 1,
    max_width: int | None = None,
    allow_empty: bool = False,
    time_limit: float | None = None,
    backend: str = "auto",
) -> list[Rectangle]:
    """Find k disjoint rectangles, best first; each has the largest sum of the remaining values.

    Other options are those of ``max_rectangle``.

    Parameters
    ----------
    values : (H, W) array of integers or floating-point numbers
    k : int
    allow_empty : bool
        Whether to return fewer than k rectangles if no positive sum is left.

    Raises
    ------
    ParameterError
        As ``max_rectangle``; also when fewer than k rectangles exist and ``allow_empty`` is False.
    """
    limits = (min_height, max_height), (min_width, max_width)
    options = allow_empty, time_limit, backend
    return windows.disjoint(Rectangle, values, k, limits, *options, "rectangles")


def _ranges(numbers: np.ndarray, size: int) -> Iterator[tuple[int, int]]:
    """Yield half-open ranges of ``size`` lines from their numbers in ``strip_maxima``'s order."""
    firsts = np.arange(size)
    starts = firsts * size - firsts * (firsts - 1) // 2
    for number in numbers.tolist():
        first = int(np.searchsorted(starts, number, side="right")) - 1
        yield first, first + number - int(starts[first]) + 1
