"""Numbers as unsigned integers in the same order.

Of signed integers the sign bit is turned round. So is that of positive floating-point numbers, and
all bits of negative ones; -0.0 comes just before 0.0.
"""

from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of

KINDS = "biuf"
SIZES = (1, 2, 4, 8)


def check_type(values: Any) -> None:
    """Whether values can be selected from.

    Raises
    ------
    ParameterError
        When they are no integers, bool or float16 to float64 in the machine's byte order.
    """
    dtype = values.dtype
    if dtype.kind not in KINDS or dtype.itemsize not in SIZES or not dtype.isnative:
        raise ParameterError(
            f"values of type {dtype}: must be bool, integers or float16 to float64, in the "
            "machine's byte order"
        )


def key_type(dtype: Any) -> np.dtype:
    """The type of keys."""
    return np.dtype(f"u{np.dtype(dtype).itemsize}")


def to_keys(values: Any) -> Any:
    """Keys that order as the values do; NaN has the largest.

    Parameters
    ----------
    values : array of bool, integers or floating-point numbers

    Returns
    -------
    array of unsigned integers of the same size
    """
    unsigned = key_type(values.dtype)
    bits = values.view(unsigned)
    if values.dtype.kind not in "if":
        return bits.copy()
    top = _top(unsigned)
    if values.dtype.kind == "i":
        return bits ^ top
    keys = _sign_bits(bits)
    keys |= top
    keys ^= bits
    nans = module_of(values).isnan(values)
    if nans.any():
        keys[nans] = np.iinfo(unsigned).max
    return keys


def from_keys(keys: Any, dtype: Any) -> Any:
    """The values that have these keys."""
    dtype = np.dtype(dtype)
    unsigned = key_type(dtype)
    bits = keys.astype(unsigned, copy=False)
    top = _top(unsigned)
    if dtype.kind == "i":
        return (bits ^ top).view(dtype)
    if dtype.kind != "f":
        return bits.astype(unsigned).view(dtype)
    # In place, for new memory takes longer than the arithmetic.
    found = _sign_bits(bits)
    found ^= np.iinfo(unsigned).max
    found |= top
    found ^= bits
    return found.view(dtype)


def _top(unsigned: np.dtype) -> Any:
    """The bit of the sign."""
    return unsigned.type(1 << (8 * unsigned.itemsize - 1))


def _sign_bits(bits: Any) -> Any:
    """All bits where the topmost is set, none elsewhere."""
    signed = bits.view(f"i{bits.dtype.itemsize}")
    return (signed >> (8 * bits.dtype.itemsize - 1)).view(bits.dtype)
