"""Stands for CuPy where there is no device: kernels run on the processor, see ``device.h``."""

import functools

import numpy as np

from . import cuda, memory
from .arrays import call, ndarray, to_device, to_host
from .kernels import RawModule

__all__ = ["RawModule", "cuda", "ndarray"]
__version__ = "0+emulated"


def get_default_memory_pool():
    return memory.default_pool


def empty(shape, dtype=float):
    return ndarray(shape, dtype)


def empty_like(array, dtype=None):
    return ndarray(array.shape, dtype or array.dtype)


def asnumpy(array):
    return array.get() if isinstance(array, ndarray) else np.asarray(array)


def asarray(values, dtype=None):
    if isinstance(values, ndarray) and dtype in (None, values.dtype):
        return values
    return to_device(np.asarray(to_host(values), dtype))


array = asarray


def ascontiguousarray(values, dtype=None):
    values = asarray(values, dtype)
    return values if values.flags.c_contiguous else to_device(values.get())


def __getattr__(name):
    """Take all other functions from NumPy."""
    if name.startswith("_") or not hasattr(np, name):
        raise AttributeError(f"the emulated CuPy has no {name}")
    found = getattr(np, name)
    if isinstance(found, type) or not callable(found):
        return found
    return functools.wraps(found)(lambda *args, **options: call(found, args, options))
