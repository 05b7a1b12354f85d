"""Maximum sums of a volume. See the package for sums, ties and empty answers."""

from collections.abc import Iterable
from typing import Any

from mmpcodec.solvers import dispatch
from mmpcodec.solvers.grid import Grid, on_grid
from mmpcodec.solvers.limits import in_time
from mmpcodec.solvers.max_sum import arguments
from mmpcodec.solvers.max_sum.answers import Box, BoxCensus
from mmpcodec.solvers.max_sum.disjoint import disjoint


def max_box(
    values: Any,
    *,
    min_depth: int = 1,
    max_depth: int | None = None,
    min_height: int = 1,
    max_height: int | None = None,
    min_width: int = 1,
    max_width: int | None = None,
    allow_empty: bool = False,
    time_limit: float | None = None,
    backend: str = "auto",
) -> Box:
    """Find the box of the largest sum.

    The planes of each range along the shortest side are added up, and the best rectangle of their
    sum is searched. The time of a cube grows with the fifth power of its side at most: a processor
    leaves out ranges whose parts show that their best box is smaller.

    Parameters
    ----------
    values : (D, H, W) array of integers or floating-point numbers
    min_depth, max_depth, min_height, max_height, min_width, max_width : int or None
        Smallest and largest numbers of planes, rows and columns; None is no limit.
    allow_empty : bool
        Whether the answer is empty if the largest sum is not positive.
    time_limit : float or None
        Seconds after which the search stops without an answer. A search on a device that has begun
        always ends.
    backend : {"auto", "cpu", "cuda", "reference"}
        With limits, cuda leaves the work to the processor.

    Raises
    ------
    ParameterError
        See ``on_grid`` and ``arguments.limits``.
    LimitExceeded
        When time runs out.

    Examples
    --------
    >>> from mmpcodec.solvers.max_sum import max_box
    >>> max_box([[[1, -9], [-3, 4]], [[2, -1], [-5, 6]]])
    Box(front=0, top=1, left=1, back=2, bottom=2, right=2, sum=10)
    """
    given = on_grid(values, 3, backend)
    depth, height, width = given.values.shape
    sides = [
        arguments.limits("depth", min_depth, max_depth, depth),
        arguments.limits("height", min_height, max_height, height),
        arguments.limits("width", min_width, max_width, width),
    ]
    operation = dispatch.operations(__package__, backend, given.values)
    with in_time("max_box", time_limit) as deadline:
        total, *places = operation.max_box(given.values, sides, deadline)
    if allow_empty and total <= 0:
        return Box(0, 0, 0, 0, 0, 0, given.number(0))
    return _box(given, total, places)


def box_census(values: Any, *, time_limit: float | None = None, backend: str = "auto") -> BoxCensus:
    """Count the boxes of the largest sum; find the largest, the smallest and the densest.

    Boxes that differ only by a slab of sum zero count separately.

    Parameters
    ----------
    values : (D, H, W) array of integers or floating-point numbers
    time_limit : float or None
        Seconds after which the search stops without an answer. A search on a device that has begun
        always ends.
    backend : {"auto", "cpu", "cuda", "reference"}
        cuda leaves the work to the processor.

    Raises
    ------
    ParameterError
        See ``on_grid``.
    LimitExceeded
        When time runs out.

    Examples
    --------
    >>> from mmpcodec.solvers.max_sum import box_census
    >>> census = box_census([[[4, -9], [-3, 4]], [[0, -1], [-5, -6]]])
    >>> census.sum, census.count, census.largest.volume, census.densest.density
    (4, 3, 2, 4.0)
    """
    given = on_grid(values, 3, backend)
    operation = dispatch.operations(__package__, backend, given.values)
    with in_time("box_census", time_limit) as deadline:
        total, count, *ends = operation.box_census(given.values, deadline)
    largest, smallest = (_box(given, total, places) for places in ends)
    # Of a largest sum of 0 or less, the smallest boxes are single values, and the first of all.
    return BoxCensus(given.number(total), count, largest, smallest, densest=smallest)


def disjoint_boxes(
    values: Any,
    k: int,
    *,
    min_depth: int = 1,
    max_depth: int | None = None,
    min_height: int = 1,
    max_height: int | None = None,
    min_width: int = 1,
    max_width: int | None = None,
    allow_empty: bool = False,
    time_limit: float | None = None,
    backend: str = "auto",
) -> list[Box]:
    """Find k disjoint boxes, best first; each has the largest sum of the remaining values.

    Parameters
    ----------
    values : (D, H, W) array of integers or floating-point numbers
    k : int
    min_depth, max_depth, min_height, max_height, min_width, max_width : int or None
        Smallest and largest numbers of planes, rows and columns; None is no limit.
    allow_empty : bool
        Whether to return fewer than k boxes if no positive sum is left.
    time_limit : float or None
        Seconds after which the search stops without an answer. A search on a device that has begun
        always ends.
    backend : {"auto", "cpu", "cuda", "reference"}
        With limits, cuda leaves the work to the processor.

    Raises
    ------
    ParameterError
        See ``on_grid``; also when fewer than k boxes exist and ``allow_empty`` is False.
    LimitExceeded
        When time runs out.
    """
    given = on_grid(values, 3, backend)
    depth, height, width = given.values.shape
    sides = [
        arguments.limits("depth", min_depth, max_depth, depth),
        arguments.limits("height", min_height, max_height, height),
        arguments.limits("width", min_width, max_width, width),
    ]
    operation = dispatch.operations(__package__, backend, given.values)

    def best(window: tuple[int, ...]) -> tuple[int, ...]:
        starts, stops = window[:3], window[3:]
        inside = given.values[tuple(map(slice, starts, stops))].copy()
        limits = [
            (least, min(most, size))
            for (least, most), size in zip(sides, inside.shape, strict=True)
        ]
        total, *places = operation.max_box(inside, limits, deadline)
        moved = (place + start for place, start in zip(places, starts * 2, strict=True))
        return (-total, *moved)

    least, count = [side[0] for side in sides], arguments.count(k)
    with in_time("disjoint_boxes", time_limit) as deadline:
        parts = disjoint(given.values.shape, least, best, count, allow_empty, "boxes")
    return [_box(given, -total, places) for total, *places in parts]


def _box(given: Grid, total: int, places: Iterable[int]) -> Box:
    front, top, left, back, bottom, right = map(int, places)
    return Box(front, top, left, back, bottom, right, given.number(total))
