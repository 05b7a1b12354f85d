"""Maximum sums of a volume. See the package for sums, ties and empty answers."""

from typing import Any

from mmpcodec.solvers import dispatch
from mmpcodec.solvers.grid import on_grid
from mmpcodec.solvers.max_sum.answers import Box
from mmpcodec.solvers.max_sum.rectangles import best_rectangle
from mmpcodec.solvers.max_sum.slabs import max_box as max_slab_box


def max_box(values: Any, *, allow_empty: bool = False, backend: str = "auto") -> Box:
    """Find the box of the largest sum.

    The planes of each range along the shortest side are added up, and the best rectangle of their
    sum is searched. The time of a cube grows with the fifth power of its side at most: a processor
    leaves out ranges whose parts show that their best box is smaller.

    Parameters
    ----------
    values : (D, H, W) array of integers or floating-point numbers
    allow_empty : bool
        Whether the answer is empty if the largest sum is not positive.
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        See ``on_grid``.
    """
    given = on_grid(values, 3, backend)
    operation = dispatch.operations(__package__, backend, given.values)
    if hasattr(operation, "max_box"):
        total, *places = operation.max_box(given.values)
    else:
        total, *places = max_slab_box(
            given.values,
            lambda slab: best_rectangle(slab, (1, len(slab)), (1, slab.shape[1]), operation),
        )
    if allow_empty and total <= 0:
        return Box(0, 0, 0, 0, 0, 0, given.number(0))
    front, top, left, back, bottom, right = map(int, places)
    return Box(front, top, left, back, bottom, right, given.number(total))
