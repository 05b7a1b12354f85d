"""Keys: unsigned integers that have the order of the numbers.

The sign bit of signed integers and of positive floating-point numbers is inverted, and all bits of
negative floating-point numbers. -0.0 comes just before 0.0.
"""

from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of

KINDS = "biuf"
SIZES = (1, 2, 4, 8)


def check_type(values: Any) -> None:
    """Check the type of values.

    Raises
    ------
    ParameterError
        When the type is not bool, an integer or float16 to float64, in the machine's byte order.
    """
    dtype = values.dtype
    if dtype.kind not in KINDS or dtype.itemsize not in SIZES or not dtype.isnative:
        raise ParameterError(
            f"values of type {dtype}: must be bool, integers or float16 to float64, in the "
            "machine's byte order"
        )


def key_type(dtype: Any) -> np.dtype:
    """Return the unsigned integer type of the keys of a type."""
    return np.dtype(f"u{np.dtype(dtype).itemsize}")


def to_keys(values: Any, *, merge_nans: bool = True) -> Any:
    """Return the keys of values.

    Parameters
    ----------
    values : array of bool, integers or floating-point numbers
    merge_nans : bool
        Whether every NaN gets the largest key. Otherwise each has a key of its own, and
        ``from_keys`` returns it bit by bit.

    Returns
    -------
    array of unsigned integers, of the shape and item size of the values
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
    if merge_nans and (nans := module_of(values).isnan(values)).any():
        keys[nans] = np.iinfo(unsigned).max
    return keys


def from_keys(keys: Any, dtype: Any) -> Any:
    """Return the values of type ``dtype`` that have the given keys; inverts ``to_keys``."""
    dtype = np.dtype(dtype)
    unsigned = key_type(dtype)
    bits = keys.astype(unsigned, copy=False)
    top = _top(unsigned)
    if dtype.kind == "i":
        return (bits ^ top).view(dtype)
    if dtype.kind != "f":
        return bits.astype(unsigned).view(dtype)
    # In place, because allocating memory takes longer than the arithmetic.
    found = _sign_bits(bits)
    found ^= np.iinfo(unsigned).max
    found |= top
    found ^= bits
    return found.view(dtype)


def _top(unsigned: np.dtype) -> Any:
    """Return the unsigned integer with only the sign bit set."""
    return unsigned.type(1 << (8 * unsigned.itemsize - 1))


def _sign_bits(bits: Any) -> Any:
    """Return integers with all bits set where the sign bit is set, and 0 elsewhere."""
    signed = bits.view(f"i{bits.dtype.itemsize}")
    return (signed >> (8 * bits.dtype.itemsize - 1)).view(bits.dtype)
