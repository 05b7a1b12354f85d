"""Keys: unsigned integers that have the order of the numbers.

The sign bit of signed integers and of positive floating-point numbers is inverted, and all bits of
negative floating-point numbers. -0.0 comes just before 0.0.
"""

from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of, on_device

KINDS = "biuf"
SIZES = (1, 2, 4, 8)
# Tables, because making a type or a number takes longer than selecting from a short array.
UNSIGNED = {size: np.dtype(f"u{size}") for size in SIZES}
SIGNED = {size: np.dtype(f"i{size}") for size in SIZES}
TOP_BIT = {size: kind.type(1 << (8 * size - 1)) for size, kind in UNSIGNED.items()}
ALL_BITS = {size: kind.type((1 << 8 * size) - 1) for size, kind in UNSIGNED.items()}


def check_type(values: Any) -> None:
    """Check the type of values.

    Raises
    ------
    ParameterError
        When the type is not bool, an integer or float16 to float64.
    """
    dtype = values.dtype
    if dtype.kind not in KINDS or dtype.itemsize not in SIZES:
        raise ParameterError(
            f"values of type {dtype}: must be bool, integers or float16 to float64"
        )


def native(values: Any) -> Any:
    """Return an array in the machine's byte order."""
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def key_type(dtype: Any) -> np.dtype:
    """Return the unsigned integer type of the keys of a type."""
    return UNSIGNED[np.dtype(dtype).itemsize]


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
    if keys.size == 1 and not on_device(keys):
        return _one_value(keys, dtype)
    bits = keys.astype(unsigned, copy=False)
    top = _top(unsigned)
    if dtype.kind == "i":
        return (bits ^ top).view(dtype)
    if dtype.kind != "f":
        return bits.astype(unsigned).view(dtype)
    # In place, because allocating memory takes longer than the arithmetic.
    found = _sign_bits(bits)
    found ^= ALL_BITS[unsigned.itemsize]
    found |= top
    found ^= bits
    return found.view(dtype)


def _one_value(keys: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the value of one key, as ``from_keys`` does; array operations would take longer."""
    size = dtype.itemsize
    bits, top = keys.item(), int(TOP_BIT[size])
    if dtype.kind == "i" or (dtype.kind == "f" and bits & top):
        bits ^= top
    elif dtype.kind == "f":
        bits ^= int(ALL_BITS[size])
    return np.array([bits], UNSIGNED[size]).view(dtype).reshape(keys.shape)


def _top(unsigned: np.dtype) -> Any:
    """Return the unsigned integer with only the sign bit set."""
    return TOP_BIT[unsigned.itemsize]


def _sign_bits(bits: Any) -> Any:
    """Return integers with all bits set where the sign bit is set, and 0 elsewhere."""
    size = bits.dtype.itemsize
    return (bits.view(SIGNED[size]) >> (8 * size - 1)).view(bits.dtype)
