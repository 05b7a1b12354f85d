"""Maximum sums of Dask arrays: the interval or the rectangle of the largest sum, exactly.

Answers equal those of ``mmpcodec.solvers.max_sum`` for the whole array; sums, ties and empty
answers are defined there. Floating-point numbers are rounded to the grid of the whole array, for
which a first round finds the largest magnitude. Integers need this round only if sizes of chunks
are unknown, or if sums of their type may reach 2**63. Functions compute at once, and compute an
array that is not persisted once in each of these one or two rounds. Limits on lengths and sides are
not offered.

*Intervals.* Each chunk sends its sum and its best prefix, suffix and interval: nine numbers. A tree
joins them in order, 8 at a time. A task holds a chunk and up to 24 bytes for each value.

*Rectangles.* With p = ``parts``, a prime, the shorter side of the array is cut into p**2 bands, the
points of an affine plane. A task takes the p bands of one line of the plane. It adds up the rows
between two of these bands to one row, and searches the matrix of all these rows: a p-th of the
array and at most p - 1 sums. The p (p + 1) lines are equally long, and any two bands lie on a line.
The task of this line finds the best of the rectangles that start in the one and stop in the other.

- Work: 1 + 1/p times that of the solver in memory, the shorter side squared times the longer side.
- Memory: the workers together hold the array. Each task also holds up to 24 bytes for each value of
  its matrix. The square of p is at most the shorter side, so a matrix has at least twice the square
  root of the shorter side in rows, or columns if these are cut.
- Bytes sent: at most the array once, to cut it into bands, and p + 1 times, to bring the bands to
  the tasks; less if a worker has a band already. Sums of bands add at most 16 p**3 bytes for each
  value of the longer side.

Sources: C. E. R. Alves, E. N. Cáceres and S. W. Song, "BSP/CGM algorithms for maximum subsequence
and maximum subarray", EuroPVM/MPI 2004, for the summaries of chunks; A. C. de Lima, "Soluções para
os problemas da soma máxima e do k-ésimo menor elemento de uma sequência usando o modelo BSP/CGM",
UFMS 2015, where each of P processes holds all rows and searches a P-th of the pairs of rows.
"""

from typing import Any

from mmpcodec.dask import intervals, rectangles, rounds
from mmpcodec.dask.magnitudes import surveyed
from mmpcodec.solvers.max_sum import Interval, Rectangle, bands

__all__ = ["max_interval", "max_rectangle"]


def max_interval(array: Any, *, allow_empty: bool = False, backend: str = "auto") -> Interval:
    """Find the interval of the largest sum of a 1-D Dask array.

    Parameters
    ----------
    array : (N,) dask.array.Array of integers, bool, float32 or float64
    allow_empty : bool
        Whether the answer is empty if the largest sum is not positive.
    backend : {"auto", "cpu", "cuda", "reference"}
        Backend of the tasks; "auto" is cuda for CuPy chunks, cpu for NumPy chunks.

    Raises
    ------
    ParameterError
        See ``mmpcodec.solvers.grid.on_grid``.
    MissingExtra
        When Dask is not installed.

    Examples
    --------
    >>> import dask.array as da
    >>> from mmpcodec.dask import max_interval
    >>> array = da.from_array([3, 2, -7, 11, 10, -6, 4, 9, -6], chunks=2)
    >>> max_interval(array)
    Interval(start=3, stop=8, sum=28)
    """
    array = rounds.check_array(array, "mmpcodec.solvers.max_sum")
    known = surveyed(array, 1)
    total, start, stop = intervals.best_interval(array, known.exponent, backend)
    if allow_empty and total <= 0:
        return Interval(0, 0, known.number(0))
    return Interval(start, stop, known.number(total))


def max_rectangle(
    array: Any,
    *,
    allow_empty: bool = False,
    parts: int | None = None,
    backend: str = "auto",
) -> Rectangle:
    """Find the rectangle of the largest sum of a 2-D Dask array.

    Other options and errors are those of ``max_interval``.

    Parameters
    ----------
    array : (H, W) dask.array.Array of integers, bool, float32 or float64
    parts : int or None
        A prime p whose square is at most the shorter side: p (p + 1) tasks each search a p-th of
        the values. 1 is one task. None is 1 for up to 2**18 values; for more, it is the smallest p
        from 5 up for which a task has at most 2**25 values, or the largest p allowed.

    Examples
    --------
    >>> import dask.array as da
    >>> from mmpcodec.dask import max_rectangle
    >>> array = da.from_array([[1, -9, 2], [-3, 4, 5], [1, 6, -2]], chunks=2)
    >>> max_rectangle(array)
    Rectangle(top=1, left=1, bottom=3, right=3, sum=13)
    """
    array = rounds.check_array(array, "mmpcodec.solvers.max_sum")
    known = surveyed(array, 2)
    parts = bands.check_parts(parts, known.shape)
    total, top, left, bottom, right = rectangles.find(array, known, parts, backend)
    if allow_empty and total <= 0:
        return Rectangle(0, 0, 0, 0, known.number(0))
    return Rectangle(top, left, bottom, right, known.number(total))
