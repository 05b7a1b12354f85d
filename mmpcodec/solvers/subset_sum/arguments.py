"""Checks of what the solver is given."""

from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import on_device

MAX_TOTAL = (1 << 63) - 1
SAFE = 2.0**62
"""A floating-point sum up to this is that of integers whose exact sum is below 2**63."""


def weights_of(weights: Any) -> np.ndarray:
    """Weights as (N,) int64.

    Raises
    ------
    ParameterError
        When they are no sequence of integers from 0 up that add up to less than 2**63.
    """
    if on_device(weights):
        weights = weights.get()
    if isinstance(weights, np.ma.MaskedArray):
        raise ParameterError("weights: masked arrays are not supported; pass the unmasked values")
    # As objects, so that NumPy turns no integers into floating-point numbers.
    array = weights if isinstance(weights, np.ndarray) else np.asarray(weights, object)
    if array.ndim != 1:
        raise ParameterError(f"weights has {array.ndim} dimensions: must have 1")
    if array.dtype.kind not in "iuO":
        raise ParameterError(f"weights is of type {array.dtype}: must be integers")
    fits = array.dtype != object and (
        array.min(initial=0) >= 0 and array.max(initial=0) <= MAX_TOTAL
    )
    if not fits:
        values = enumerate(array.tolist())
        array = np.array(
            [check_int(f"weights[{i}]", one, 0, MAX_TOTAL) for i, one in values], np.int64
        )
    array = array.astype(np.int64)
    total = int(array.astype(object).sum()) if array.astype(np.float64).sum() > SAFE else 0
    if total > MAX_TOTAL:
        raise ParameterError(f"weights add up to {total}: must be at most {MAX_TOTAL}")
    return array
