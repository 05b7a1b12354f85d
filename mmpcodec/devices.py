"""Processors, CUDA devices, and arrays in the memory of either."""

import os
from functools import cache
from numbers import Integral
from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def on_device(array: Any) -> bool:
    """Whether the array lies on a CUDA device, as CuPy's do."""
    return hasattr(array, "__cuda_array_interface__")


def as_array(name: str, values: Any) -> Any:
    """An array where it lies, or what NumPy makes of a sequence.

    Raises
    ------
    ParameterError
        When it makes nothing of it, or the array is masked; ``name`` is what errors call it.
    """
    if on_device(values):
        return values
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterError(f"{name}: masked arrays are not taken; pass what is not masked")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ParameterError(f"{name}: {error}") from error
    # NumPy makes floating-point numbers of integers that fit neither int64 nor uint64 together.
    if array.dtype == np.float64 and not hasattr(values, "dtype"):
        large = (np.abs(array) >= 2.0**63).any()
        if large and all(isinstance(one, Integral) for one in np.asarray(values, object).flat):
            raise ParameterError(f"{name}: integers that no type of 64 bits holds together")
    return array


def module_of(array: Any) -> Any:
    """NumPy, or CuPy for an array on a device."""
    if not on_device(array):
        return np
    import cupy

    return cupy


def free_bytes() -> int:
    """What the current device and CuPy's memory pool, with its limit, still have to give."""
    import cupy

    pool = cupy.get_default_memory_pool()
    free = cupy.cuda.Device().mem_info[0] + pool.free_bytes()
    limit = pool.get_limit()
    return min(free, limit - pool.used_bytes()) if limit else free


@cache
def attribute(name: str, device: int) -> int:
    """An attribute of a device by CuPy's name; kept, for asking takes a tenth of a millisecond."""
    import cupy

    return cupy.cuda.Device(device).attributes[name]
