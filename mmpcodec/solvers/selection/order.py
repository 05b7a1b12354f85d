"""Order statistics. See the package for order, NaN, axes and memory."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, module_of, on_device
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.selection import statistics
from mmpcodec.solvers.selection.keys import check_type, from_keys, native
from mmpcodec.solvers.selection.statistics import Statistic

SIDE_BY_SIDE = 16
"""Fewer neighbouring lines along an axis that is not the last are copied."""


def kth_smallest(
    values: Any,
    k: int | Sequence[int],
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    nan: str = "propagate",
    backend: str = "auto",
) -> Any:
    """Return the k-th smallest value, or the values of several ks, found in one search.

    Parameters
    ----------
    values : array of bool, integers or floating-point numbers
    k : int or sequence of int
        Rank, where 1 is the smallest value. Equal values count separately.
    axis : int, sequence of int or None
    keepdims : bool
        Whether the searched axes stay, with length 1.
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
    if type(values) is np.ndarray and type(k) is int and axis is None and nan == "propagate":
        quick = None if keepdims else _of_few(backend)
        found = None if quick is None else quick(values, k)
        if found is not None:
            return found
    return _answer(values, statistics.smallest(k), axis, keepdims, nan, backend)


def median(
    values: Any,
    *,
    convention: str = "mean",
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    nan: str = "propagate",
    backend: str = "auto",
) -> Any:
    """Return the median. Other options and errors are those of ``kth_smallest``.

    Parameters
    ----------
    values : array of bool, integers or floating-point numbers
    convention : {"mean", "lower", "upper"}
        For an even number of values: the lower or upper of the two middle values, or their mean.
        The mean is float64 for integers, else it has the type of the values.
    nan : {"propagate", "omit", "raise"}
        With "omit", the median of no values is NaN.

    Examples
    --------
    >>> from mmpcodec.solvers.selection import median
    >>> float(median([5, 1, 4, 1])), int(median([5, 1, 4, 1], convention="lower"))
    (2.5, 1)
    """
    return _answer(values, statistics.middle(convention), axis, keepdims, nan, backend)


def quantile(
    values: Any,
    q: float | Sequence[float],
    *,
    method: str = "linear",
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    nan: str = "propagate",
    backend: str = "auto",
) -> Any:
    """Return quantiles, by the methods of ``numpy.quantile``.

    Other options and errors are those of ``kth_smallest``.

    Parameters
    ----------
    values : array of bool, integers or floating-point numbers
    q : float or sequence of float
        From 0 to 1.
    method : str
        With "linear", "lower", "higher", "nearest" and "midpoint", the quantile q of N values has
        the rank q * (N - 1), counted from 0. For a rank between two integers, the answer is the
        interpolated value, one of the two values, or their mean; "nearest" takes the even rank of
        two equally near ranks. The other methods are those of Hyndman and Fan: "inverted_cdf",
        "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
        "weibull", "median_unbiased" and "normal_unbiased".

    Returns
    -------
    number or array
        float64 for integers with a method that interpolates, else the type of the values. Answers
        equal those of NumPy for float64; float16 and float32 are interpolated in float64.
    """
    return _answer(values, statistics.quantiles(q, method), axis, keepdims, nan, backend)


@cache
def _of_few(backend: str) -> Callable[[np.ndarray, int], Any] | None:
    """Return the function for few values of a backend; None if it has none."""
    return getattr(dispatch.operations(__package__, backend), "kth_of_few", None)


def _answer(
    values: Any, asked: Statistic, axis: Any, keepdims: bool, nan: str, backend: str
) -> Any:
    lines = _lines(values, axis, keepdims, nan, backend)
    found = lines.select(asked.ranks(lines.counts))
    return lines.shaped(asked.answer(found, lines.counts), several=asked.several)


@dataclass(frozen=True)
class _Lines:
    """The lines of an array along axes, with the options of the search.

    Parameters
    ----------
    values : (A, N, B) array in C order
        Line a * B + b holds the values at (a, :, b).
    shape : tuple of int
        Shape of the answer for one k.
    counts : (1,) or (A * B,) int64 array
        Number of values of all lines or of each, less the NaN that ``nan="omit"`` ignores.
    nan : str
    operations : module
    keep : bool
        Whether answers stay on the device.
    """

    values: Any
    shape: tuple[int, ...]
    counts: np.ndarray
    nan: str
    operations: Any
    keep: bool

    def select(self, ranks: np.ndarray) -> Any:
        """Return the values at (1, M) or (A * B, M) ranks, NaN where ``nan`` propagates it."""
        values = self.values
        if values.shape[0] * values.shape[2] == 1:
            keys, nans = self._select_one(ranks)
        else:
            keys, nans = self.operations.select_lines(values, ranks)
        found = from_keys(keys, values.dtype)
        any_nan = bool(nans) if isinstance(nans, int) else bool(nans.any())
        if any_nan and values.dtype.kind == "f" and self.nan != "omit":
            if self.nan == "raise":
                raise statistics.forbidden(int(np.sum(nans)))
            found[np.atleast_1d(nans) > 0] = np.nan
        return found

    def _select_one(self, ranks: np.ndarray) -> tuple[np.ndarray, Any]:
        """Return the (1, M) keys at (1, M) ranks of the only line, and its number of NaN."""
        flat = self.values.reshape(-1)
        wanted = ranks[0].tolist()
        if all(one < other for one, other in pairwise(wanted)):
            keys, nans = self.operations.select(flat, wanted)
            return keys[None], nans
        different = np.unique(ranks)
        keys, nans = self.operations.select(flat, different.tolist())
        return keys[np.searchsorted(different, ranks)], nans

    def shaped(self, found: Any, several: bool) -> Any:
        """Return (R, M) answers as (M, *shape) array, or as ``shape`` if not ``several``.

        Answers are in device memory if ``keep`` is set.
        """
        if self.keep:
            found = module_of(self.values).asarray(found)
        found = found.T.reshape(-1, *self.shape)
        if several:
            return found
        return found[0] if self.shape else found[0][()]


def _lines(values: Any, axis: Any, keepdims: bool, nan: str, backend: str) -> _Lines:
    statistics.check_nan_rule(nan)
    values = as_array("values", values)
    check_type(values)
    values = native(values)
    if values.size == 0:
        raise ParameterError(f"values of shape {values.shape}: must not be empty")
    operations = dispatch.operations(__package__, backend, values)
    axes = _axes(values, axis)
    shape = tuple(
        1 if place in axes else size
        for place, size in enumerate(values.shape)
        if keepdims or place not in axes
    )
    lines = _apart(values, axes)
    counts = np.array([lines.shape[1]])
    if nan == "omit" and lines.dtype.kind == "f":
        missing = module_of(lines).isnan(lines).sum(axis=1).ravel()
        missing = missing.get() if on_device(missing) else missing
        counts = counts - missing if missing.any() else counts
    return _Lines(lines, shape, counts, nan, operations, on_device(values) and bool(shape))


def _axes(values: Any, axis: Any) -> Any:
    """Return the axes to search, from 0 on.

    Raises
    ------
    ParameterError
        When an axis is no integer, does not exist or is named twice.
    """
    if axis is None:
        return range(values.ndim)
    several = isinstance(axis, Iterable) and not isinstance(axis, str)
    places = [check_int("axis", one) for one in (axis if several else [axis])]
    for place in places:
        if not -values.ndim <= place < values.ndim:
            raise ParameterError(
                f"axis = {place}: values of shape {values.shape} have no such axis"
            )
    places = [place % values.ndim for place in places]
    if len(set(places)) < len(places):
        raise ParameterError(f"axis = {axis}: must not name an axis twice")
    return places


def _apart(values: Any, axes: Any) -> Any:
    """Return an (A, N, B) array in C order with the lines along axes, a view if possible."""
    if len(axes) == values.ndim:
        # The order of the values does not matter, so an array in Fortran order needs no copy.
        flat = (values.T if values.flags.f_contiguous else values).reshape(1, -1, 1)
        return flat if flat.flags.c_contiguous else flat.copy(order="C")
    if len(axes) == 1 and values.flags.c_contiguous:
        (place,) = axes
        inner = prod(values.shape[place + 1 :])
        if inner == 1 or inner >= SIDE_BY_SIDE:
            return values.reshape(-1, values.shape[place], inner)
    xp = module_of(values)
    kept = [place for place in range(values.ndim) if place not in axes]
    lines = xp.transpose(values, (*kept, *axes))
    length = prod(values.shape[place] for place in axes)
    return xp.ascontiguousarray(lines).reshape(-1, length, 1)
