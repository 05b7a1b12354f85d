"""Order statistics. See the package for order, NaN, axes and memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, module_of, on_device
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.selection import statistics
from mmpcodec.solvers.selection.keys import check_type, from_keys
from mmpcodec.solvers.selection.statistics import Statistic


def kth_smallest(
    values: Any,
    k: int | Sequence[int],
    *,
    axis: int | None = None,
    nan: str = "propagate",
    backend: str = "auto",
) -> Any:
    """Return the k-th smallest value, or the values of several ks, found in one search.

    Parameters
    ----------
    values : array of bool, integers or floating-point numbers
    k : int or sequence of int
        Rank, where 1 is the smallest value. Equal values count separately.
    axis : int or None
    nan : {"propagate", "omit", "raise"}
    backend : {"auto", "cpu", "cuda", "reference"}

    Returns
    -------
    number or array, of the values' type

    Raises
    ------
    ParameterError
        When there is no k-th value, or an argument is invalid.

    Examples
    --------
    >>> from mmpcodec.solvers.selection import kth_smallest
    >>> int(kth_smallest([5, 1, 4, 1], 3))
    4
    """
    return _answer(values, statistics.smallest(k), axis, nan, backend)


def median(
    values: Any,
    *,
    convention: str = "mean",
    axis: int | None = None,
    nan: str = "propagate",
    backend: str = "auto",
) -> Any:
    """Return the median.

    Parameters
    ----------
    values : array of bool, integers or floating-point numbers
    convention : {"mean", "lower", "upper"}
        For an even number of values: the lower or upper of the two middle values, or their mean.
        The mean is float64 for integers, else it has the type of the values.
    axis : int or None
    nan : {"propagate", "omit", "raise"}
        With "omit", the median of no values is NaN.
    backend : {"auto", "cpu", "cuda", "reference"}

    Returns
    -------
    number or array

    Raises
    ------
    ParameterError
        See ``kth_smallest``.

    Examples
    --------
    >>> from mmpcodec.solvers.selection import median
    >>> float(median([5, 1, 4, 1])), int(median([5, 1, 4, 1], convention="lower"))
    (2.5, 1)
    """
    return _answer(values, statistics.middle(convention), axis, nan, backend)


def quantile(
    values: Any,
    q: float | Sequence[float],
    *,
    method: str = "linear",
    axis: int | None = None,
    nan: str = "propagate",
    backend: str = "auto",
) -> Any:
    """Return quantiles: the quantile q of N values has the rank q * (N - 1), counted from 0.

    Parameters
    ----------
    values : array of bool, integers or floating-point numbers
    q : float or sequence of float
        From 0 to 1.
    method : {"linear", "lower", "higher", "nearest", "midpoint"}
        Answer for a rank between two integers: the interpolated value, one of the two values, or
        their mean. "nearest" takes the even rank of two equally near ranks.
    axis : int or None
    nan : {"propagate", "omit", "raise"}
    backend : {"auto", "cpu", "cuda", "reference"}

    Returns
    -------
    number or array
        float64 for integers with "linear" and "midpoint", else the type of the values.

    Raises
    ------
    ParameterError
        See ``kth_smallest``.
    """
    return _answer(values, statistics.quantiles(q, method), axis, nan, backend)


def _answer(values: Any, asked: Statistic, axis: int | None, nan: str, backend: str) -> Any:
    lines = _lines(values, axis, nan, backend)
    found = lines.select(asked.ranks(lines.counts))
    return lines.shaped(asked.answer(found, lines.counts), several=asked.several)


@dataclass(frozen=True)
class _Lines:
    """The lines of an array along an axis, as rows, with the options of the search.

    Parameters
    ----------
    rows : (R, N) array in C order
    shape : tuple of int
        Shape of the answer for one k.
    counts : (R,) int64 array
        Number of values of each row, less the NaN that ``nan="omit"`` ignores.
    nan : str
    operations : module
    keep : bool
        Whether answers stay on the device.
    """

    rows: Any
    shape: tuple[int, ...]
    counts: np.ndarray
    nan: str
    operations: Any
    keep: bool

    def select(self, ranks: np.ndarray) -> Any:
        """Return the values at (R, M) ranks, NaN where ``nan`` propagates it."""
        if len(self.rows) == 1:
            different = np.unique(ranks)
            keys, nans = self.operations.select(self.rows[0], different.tolist())
            keys, nans = keys[np.searchsorted(different, ranks)], np.array([nans])
        else:
            order = np.argsort(ranks, axis=1, kind="stable")
            keys, nans = self.operations.select_rows(
                self.rows, np.take_along_axis(ranks, order, axis=1)
            )
            keys = np.take_along_axis(keys, np.argsort(order, axis=1), axis=1)
        found = from_keys(keys, self.rows.dtype)
        if self.rows.dtype.kind == "f" and self.nan != "omit" and nans.any():
            if self.nan == "raise":
                raise statistics.forbidden(int(nans.sum()))
            found[nans > 0] = np.nan
        return found

    def shaped(self, found: Any, several: bool) -> Any:
        """Return (R, M) answers as (M, *shape) array, or as ``shape`` if not ``several``.

        Answers are in device memory if ``keep`` is set.
        """
        if self.keep:
            found = module_of(self.rows).asarray(found)
        found = found.T.reshape(-1, *self.shape)
        if several:
            return found
        return found[0] if self.shape else found[0][()]


def _lines(values: Any, axis: int | None, nan: str, backend: str) -> _Lines:
    statistics.check_nan_rule(nan)
    values = as_array("values", values)
    check_type(values)
    if values.size == 0:
        raise ParameterError(f"values of shape {values.shape}: must not be empty")
    operations = dispatch.operations(__package__, backend, values)
    if axis is None:
        # The order of the values does not matter, so an array in Fortran order needs no copy.
        rows, shape = (values.T if values.flags.f_contiguous else values).reshape(1, -1), ()
    else:
        place = check_int("axis", axis)
        if not -values.ndim <= place < values.ndim:
            raise ParameterError(f"axis = {axis}: values of shape {values.shape} have no such axis")
        xp = module_of(values)
        lines = xp.moveaxis(values, place, -1)
        shape = lines.shape[:-1]
        rows = lines.reshape(-1, lines.shape[-1])
    if not rows.flags.c_contiguous:
        rows = rows.copy(order="C")
    counts = np.full(len(rows), rows.shape[1], np.int64)
    if nan == "omit" and rows.dtype.kind == "f":
        missing = module_of(rows).isnan(rows).sum(axis=1)
        counts -= missing.get() if on_device(missing) else missing
    return _Lines(rows, shape, counts, nan, operations, on_device(values) and axis is not None)
