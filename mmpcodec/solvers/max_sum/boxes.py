"""Maximum sums of a volume. See the package for sums, ties and empty answers."""

from typing import Any

from mmpcodec.solvers.grid import exact
from mmpcodec.solvers.max_sum import operations
from mmpcodec.solvers.max_sum.answers import Box
from mmpcodec.solvers.max_sum.rectangles import best_rectangle
from mmpcodec.solvers.max_sum.slabs import max_box as max_slab_box


def max_box(values: Any, *, allow_empty: bool = False, backend: str = "auto") -> Box:
    """The box of the largest sum.

    Takes time in proportion to the fifth power of the sides: the ranges of the shortest side, each
    a rectangle's work.

    Parameters
    ----------
    values : (D, H, W) array of integers or floating-point numbers
    allow_empty : bool
        Answer with an empty box where no sum is positive.
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        See ``exact``.
    """
    given = exact(values, 3, backend)
    operation = operations.get(backend, given.values)
    if operation.__name__.endswith(".cuda"):
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
