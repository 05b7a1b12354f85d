"""Checks of the weights of a subset-sum problem."""

from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import is_masked, on_device
from mmpcodec.solvers.whole import whole, whole_numbers

MAX_TOTAL = (1 << 63) - 1
SAFE = 2.0**62
"""Largest floating-point sum that proves an exact sum of the weights below 2**63."""


def check_whole(name: str, value: Any, most: int | None = None) -> int:
    """Return an integer from 0 to ``most``, also of a float that is one.

    Raises
    ------
    ParameterError
        If it is not one.
    """
    return check_int(name, whole(name, value), 0, most)


def weights_of(weights: Any) -> np.ndarray:
    """Return the weights as a (N,) int64 array.

    Raises
    ------
    ParameterError
        When the weights are no sequence of integers, or floats that are integers, from 0 up with a
        sum below 2**63.
    """
    if on_device(weights):
        weights = weights.get()
    if is_masked(weights):
        raise ParameterError("weights: masked arrays are not supported; pass the unmasked values")
    # The type object keeps NumPy from converting integers to floating-point numbers.
    array = weights if isinstance(weights, np.ndarray) else np.asarray(weights, object)
    if array.ndim != 1:
        raise ParameterError(f"weights has {array.ndim} dimensions: must have 1")
    if array.dtype.kind == "f":
        array = whole_numbers("weights", array)
    if array.dtype.kind not in "iuO":
        raise ParameterError(f"weights is of type {array.dtype}: must be integers")
    fits = array.dtype != object and (
        array.min(initial=0) >= 0 and array.max(initial=0) <= MAX_TOTAL
    )
    if not fits:
        values = enumerate(array.tolist())
        array = np.array(
            [check_whole(f"weights[{i}]", one, MAX_TOTAL) for i, one in values], np.int64
        )
    array = array.astype(np.int64)
    total = int(array.astype(object).sum()) if array.astype(np.float64).sum() > SAFE else 0
    if total > MAX_TOTAL:
        raise ParameterError(f"weights add up to {total}: must be at most {MAX_TOTAL}")
    return array
