"""Maximum sums of a volume. See the package for sums, ties and empty answers."""

from typing import Any

from mmpcodec.solvers import dispatch
from mmpcodec.solvers.grid import on_grid
from mmpcodec.solvers.limits import in_time
from mmpcodec.solvers.max_sum import windows
from mmpcodec.solvers.max_sum.answers import Box, BoxCensus


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
    """Find the box of the largest sum; options and errors are those of ``max_rectangle``.

    The planes of each range along the shortest side are added up, and the best rectangle of their
    sum is searched. The time of a cube grows with the fifth power of its side at most: a processor
    leaves out ranges whose parts show that their best box is smaller.

    Parameters
    ----------
    values : (D, H, W) array of integers or floating-point numbers
    backend : {"auto", "cpu", "cuda", "reference"}
        With limits, cuda leaves the work to the processor.

    Examples
    --------
    >>> from mmpcodec.solvers.max_sum import max_box
    >>> max_box([[[1, -9], [-3, 4]], [[2, -1], [-5, 6]]])
    Box(front=0, top=1, left=1, back=2, bottom=2, right=2, sum=10)
    """
    limits = (min_depth, max_depth), (min_height, max_height), (min_width, max_width)
    return windows.largest(Box, values, limits, allow_empty, time_limit, backend)


def box_census(values: Any, *, time_limit: float | None = None, backend: str = "auto") -> BoxCensus:
    """Count the boxes of the largest sum; find the largest, the smallest and the densest.

    Boxes that differ only by a slab of sum zero count separately. Options and errors are those of
    ``max_rectangle``.

    Parameters
    ----------
    values : (D, H, W) array of integers or floating-point numbers
    backend : {"auto", "cpu", "cuda", "reference"}
        cuda leaves the work to the processor.

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
    total = given.number(total)
    largest, smallest = (Box(*(*places, total)) for places in ends)
    # Of a largest sum of 0 or less, the smallest boxes are single values, and the first of all.
    return BoxCensus(total, count, largest, smallest, densest=smallest)


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

    Options and errors are those of ``max_box`` and ``disjoint_rectangles``.
    """
    limits = (min_depth, max_depth), (min_height, max_height), (min_width, max_width)
    options = allow_empty, time_limit, backend
    return windows.disjoint(Box, values, k, limits, *options, "boxes")
