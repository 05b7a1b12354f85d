"""Checks of the numbers of copies and units."""

import math
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, on_device
from mmpcodec.solvers.knapsack.problem import MAX_CAPACITY
from mmpcodec.solvers.whole import whole, whole_numbers

NO_END = (1 << 63) - 1
"""Copies of an item without a limit."""
_ADVICE = ", or inf for as many as fit"


def check_copies(copies: Any, count: int) -> np.ndarray:
    """Return the most copies of each item, (N,) int64, with ``NO_END`` for infinity.

    Parameters
    ----------
    copies : None, a number, or (N,) array
        None is one copy of each item.
    count : int
        Number of items.

    Raises
    ------
    ParameterError
        When a number is no integer from 0 to 2**62 - 1 and not infinity, or the shape is wrong.
    """
    if copies is None:
        return np.ones(count, np.int64)
    if np.ndim(copies) == 0:
        if isinstance(copies, float | np.floating) and copies == math.inf:
            return np.full(count, NO_END)
        most = check_int("copies", whole("copies", copies), 0, MAX_CAPACITY, _ADVICE)
        return np.full(count, most)
    array = as_array("copies", copies)
    if on_device(array):
        array = array.get()
    if array.shape != (count,):
        raise ParameterError(f"copies of shape {array.shape}: must be one number, or {count}")
    endless = array == math.inf
    if array.dtype.kind == "f":
        array = whole_numbers("copies", np.where(endless, array.dtype.type(0), array))
    if array.dtype.kind not in "iu":
        raise ParameterError(f"copies of type {array.dtype}: must be integers{_ADVICE}")
    wrong = np.flatnonzero((array < 0) | (array > MAX_CAPACITY))
    if len(wrong):
        raise ParameterError(
            f"copies[{wrong[0]}] = {array[wrong[0]]}: must be from 0 to {MAX_CAPACITY}{_ADVICE}"
        )
    return np.where(endless, NO_END, array.astype(np.int64))


def check_number(name: str, number: Any) -> int | None:
    """Return a least or largest number of units; None stays None.

    Raises
    ------
    ParameterError
        When it is no integer from 0 to 2**62 - 1.
    """
    return None if number is None else check_int(name, whole(name, number), 0, MAX_CAPACITY)


def for_each(name: str, given: Any, count: int) -> list[Any]:
    """Return an option for each instance of a batch: the same for all, or one for each.

    Raises
    ------
    ParameterError
        When there is a sequence of another length.
    """
    if given is None or np.isscalar(given) or not hasattr(given, "__len__"):
        return [given] * count
    if len(given) != count:
        raise ParameterError(
            f"{name} for {len(given)} instances: must be one for all or for each of {count}"
        )
    return list(given)
