"""Numbers as unsigned integers in the same order."""

from typing import Any

import numpy as np

from mmpcodec.devices import module_of
from mmpcodec.errors import ParameterError

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
    xp, dtype = module_of(values), values.dtype
    unsigned = key_type(dtype)
    bits = values.view(unsigned)
    if dtype.kind not in "if":
        return bits.copy()
    top = unsigned.type(1 << (8 * dtype.itemsize - 1))
    if dtype.kind == "i":
        return bits ^ top
    negative = (bits & top) != 0
    keys = xp.where(negative, ~bits, bits | top)
    keys[xp.isnan(values)] = np.iinfo(unsigned).max
    return keys


def from_keys(keys: Any, dtype: Any) -> Any:
    """The values that have these keys."""
    xp, dtype = module_of(keys), np.dtype(dtype)
    unsigned = key_type(dtype)
    bits = keys.astype(unsigned)
    top = unsigned.type(1 << (8 * dtype.itemsize - 1))
    if dtype.kind == "i":
        bits = bits ^ top
    if dtype.kind == "f":
        bits = xp.where((bits & top) != 0, bits ^ top, ~bits)
    return bits.view(dtype)
