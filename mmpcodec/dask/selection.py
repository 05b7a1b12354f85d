"""Selection from Dask arrays: medians, quantiles and the k-th smallest value, exactly.

Answers have the bits of the answers of ``mmpcodec.solvers.selection`` for the whole array; the
order of values and NaN are defined there. Chunks are NumPy or CuPy arrays of any size, also of
unknown size.

*The whole array.* Without ``axis``, a function computes at once and returns a number or an array.
It works in rounds. In each round, every chunk counts one digit of the keys of its values, a tree
adds the counts, and the caller's process finds the next digit of every answer. The first round also
finds the number of values and of NaN, and the leading bits that all values share, which are then
skipped. As soon as at most ``gather`` values may still be an answer, the next round sends these
values and is the last one.

*Rounds and bytes.* Values of 8, 16, 32 and 64 bits take at most 1, 2, 3 and 6 rounds. In a round of
counts, a chunk sends 2048 counts or fewer for each different prefix of the answers: at most 16 KiB,
and 4 KiB if the counts fit into 16 bits. There are at most as many prefixes as wanted ranks, and
methods that interpolate want two for each quantile. The last round sends at most ``gather`` values,
by default 512 KiB, through a tree of ``log(chunks) / log(8)`` levels. A task joins the answers of
at most 8 chunks or tasks.

*Reading.* Each round reads all chunks. Chunks in memory stay where they are: call
``array.persist()`` first if the workers' memory holds the array. Otherwise each round computes the
array again, from its files for example. Each worker then holds the chunks that it works on.

*Along an axis.* With ``axis``, the result is a Dask array, nothing is computed yet, and one task
searches each line along the axis. If the axis is in several chunks, the array is rechunked so that
each line lies in one chunk, which moves values between workers.

Sources: E. Saukas and S. Song, "A note on parallel selection on coarse-grained multicomputers",
Algorithmica 1999; A. C. de Lima, "Soluções para os problemas da soma máxima e do k-ésimo menor
elemento de uma sequência usando o modelo BSP/CGM", UFMS 2015. There, the chunks send medians, in a
number of rounds that grows with the number of chunks.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mmpcodec.checks import check_int
from mmpcodec.dask import digits, lines, rounds
from mmpcodec.solvers import selection
from mmpcodec.solvers.selection import statistics
from mmpcodec.solvers.selection.keys import check_type, native
from mmpcodec.solvers.selection.statistics import Statistic

__all__ = ["GATHER", "kth_smallest", "median", "quantile"]

GATHER = 1 << 16
"""Largest number of candidates that the last round sends, by default."""


def kth_smallest(
    array: Any,
    k: int | Sequence[int],
    *,
    axis: int | None = None,
    nan: str = "propagate",
    gather: int = GATHER,
    backend: str = "auto",
) -> Any:
    """Return the k-th smallest value, or the values of several ks, found in the same rounds.

    Parameters
    ----------
    array : dask.array.Array of bool, integers or floating-point numbers
    k : int or sequence of int
        Rank, where 1 is the smallest value. Equal values count separately.
    axis : int or None
    nan : {"propagate", "omit", "raise"}
    gather : int
        Largest number of values that are sent to one process; 0 sends counts only.
    backend : {"auto", "cpu", "cuda", "reference"}
        Backend of the tasks; "auto" is cuda for CuPy chunks, cpu for NumPy chunks.

    Returns
    -------
    number or array, of the values' type
        With ``axis``, a Dask array.

    Raises
    ------
    ParameterError
        When there is no k-th value, or an argument is invalid.
    MissingExtra
        When Dask is not installed.

    Examples
    --------
    >>> import dask.array as da
    >>> from mmpcodec.dask import kth_smallest
    >>> array = da.arange(1000, chunks=300)[::-1] ** 2
    >>> int(kth_smallest(array, 10))
    81
    >>> kth_smallest(array, [1, 2, 1000]).tolist()
    [0, 1, 998001]
    """
    solve = partial(selection.kth_smallest, k=k)
    return _answer(array, statistics.smallest(k), solve, axis, nan, gather, backend)


def median(
    array: Any,
    *,
    convention: str = "mean",
    axis: int | None = None,
    nan: str = "propagate",
    gather: int = GATHER,
    backend: str = "auto",
) -> Any:
    """Return the median; conventions are those of ``mmpcodec.solvers.selection.median``.

    Array, other options, form of the answer and errors are those of ``kth_smallest``.

    Examples
    --------
    >>> import dask.array as da
    >>> from mmpcodec.dask import median
    >>> array = da.random.default_rng(1).integers(0, 100, (1000, 1000), chunks=(300, 400))
    >>> bool(median(array) == da.median(array.ravel(), axis=0).compute())
    True
    """
    solve = partial(selection.median, convention=convention)
    return _answer(array, statistics.middle(convention), solve, axis, nan, gather, backend)


def quantile(
    array: Any,
    q: float | Sequence[float],
    *,
    method: str = "linear",
    axis: int | None = None,
    nan: str = "propagate",
    gather: int = GATHER,
    backend: str = "auto",
) -> Any:
    """Return quantiles; methods and types are those of ``mmpcodec.solvers.selection.quantile``.

    Array, other options, form of the answer and errors are those of ``kth_smallest``.

    Examples
    --------
    >>> import dask.array as da
    >>> from mmpcodec.dask import quantile
    >>> quantile(da.arange(1001, chunks=100), [0.1, 0.5, 0.999]).tolist()
    [100.0, 500.0, 999.0]
    """
    solve = partial(selection.quantile, q=q, method=method)
    return _answer(array, statistics.quantiles(q, method), solve, axis, nan, gather, backend)


def _answer(
    array: Any,
    asked: Statistic,
    solve: Callable[..., Any],
    axis: int | None,
    nan: str,
    gather: int,
    backend: str,
) -> Any:
    array = rounds.check_array(array, "mmpcodec.solvers.selection")
    statistics.check_nan_rule(nan)
    check_type(array)
    array = native(array)
    gather = check_int("gather", gather, 0)
    if 0 in array.shape:
        raise digits.empty(array)
    if axis is None:
        return digits.of_all(array, asked, nan, gather, backend)
    return lines.along(array, asked, check_int("axis", axis), nan, partial(solve, backend=backend))
