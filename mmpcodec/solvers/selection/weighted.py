"""Weighted medians."""

from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, module_of, on_device
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.grid import on_grid
from mmpcodec.solvers.selection.keys import check_type, native, to_keys


def weighted_median(values: Any, weights: Any, *, backend: str = "auto") -> Any:
    """Return the smallest value v such that the values up to v have half of the weight or more.

    With equal weights, v is the lower median. Floating-point weights are rounded to a grid as in
    ``max_sum`` and added exactly. The values are sorted, on the device if the backend is cuda.

    Parameters
    ----------
    values : (N,) array of bool, integers or floating-point numbers
    weights : (N,) array of integers or floating-point numbers
        Weights of at least 0; at least one is positive.
    backend : {"auto", "cpu", "cuda", "reference"}

    Returns
    -------
    number, of the values' type

    Raises
    ------
    ParameterError
        For NaN, negative weights, no positive weight, or arrays of different lengths.

    Examples
    --------
    >>> from mmpcodec.solvers.selection import weighted_median
    >>> int(weighted_median([1, 2, 3, 4], [1, 1, 1, 4]))
    4
    """
    values, weights = as_array("values", values), as_array("weights", weights)
    check_type(values)
    values = native(values)
    dispatch.operations(__package__, backend, values)
    if values.ndim != 1 or weights.shape != values.shape:
        raise ParameterError(
            f"values of shape {values.shape}, weights of shape {weights.shape}: must be two "
            "sequences of one length"
        )
    if dispatch.runs_on_device(backend, values) and not on_device(values):
        import cupy

        values, weights = cupy.asarray(values), cupy.asarray(weights)
    xp = module_of(values)
    heavy = on_grid(weights, 1, backend, "weights").values.astype(np.int64)
    if bool((weights < 0).any()):
        raise ParameterError(f"weights: {weights.min()} is negative")
    if values.dtype.kind == "f" and bool(xp.isnan(values).any()):
        raise ParameterError("values: must not be NaN")
    order = xp.argsort(to_keys(values), kind="stable")
    sums = xp.cumsum(xp.asarray(heavy)[order])
    total = int(sums[-1])
    if total == 0:
        raise ParameterError("weights: one must be positive")
    found = values[order[int(xp.searchsorted(sums, xp.asarray(-(-total // 2))))]]
    return found.get()[()] if on_device(found) else found
