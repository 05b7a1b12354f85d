"""Arrays in host memory and in the memory of CUDA devices."""

import sys
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral
from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError, install
from mmpcodec.runtime.images import is_image, samples_of

_CUDA = 2
"""DLPack device type of CUDA."""
_ON_HOST = (1, 3, 11, 13)
"""DLPack device types of host memory: plain, pinned by CUDA or ROCm, and CUDA managed memory."""


def on_device(array: Any) -> bool:
    """Return whether the array lies in the memory of a CUDA device, as CuPy arrays do."""
    return hasattr(array, "__cuda_array_interface__") or _place(array) == _CUDA


def _place(array: Any) -> int | None:
    """Return the DLPack type of an array's device; None if the array does not state it."""
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack_device__"):
        return None
    return int(array.__dlpack_device__()[0])


def beside(array: Any) -> AbstractContextManager[Any]:
    """Make the device of a CuPy array the current one while the context lasts."""
    return array.device if on_device(array) else nullcontext()


def bands(shape: tuple[int, int], samples: int) -> list[tuple[int, int]]:
    """Return the first row and the row after the last of bands that cover a plane, in order.

    A band has at most this number of samples, and at least one row.
    """
    height, width = shape
    rows = max(samples // width, 1)
    return [(row, min(row + rows, height)) for row in range(0, height, rows)]


def is_masked(array: Any) -> bool:
    """Return whether the array is masked, without an import of ``numpy.ma``, which takes long."""
    return "numpy.ma" in sys.modules and isinstance(array, np.ma.MaskedArray)


def as_array(name: str, values: Any) -> Any:
    """Return the values as an array of NumPy or CuPy, without a copy between host and device.

    Parameters
    ----------
    name : str
        Name of the argument in errors.
    values : array-like
        A sequence, a buffer, an image of Pillow, or an object with ``__array__``, ``__dlpack__`` or
        ``__cuda_array_interface__``.

    Returns
    -------
    array
        CuPy array for values on a CUDA device, else NumPy array.

    Raises
    ------
    ParameterError
        When the values cannot become an array, are masked or an image of colours other than RGB,
        lie on a device other than CUDA, or lie on a CUDA device without CuPy.
    """
    if on_device(values):
        return _as_cupy(name, values)
    if is_image(values):
        return samples_of(name, values)
    if is_masked(values):
        raise ParameterError(f"{name}: masked arrays are not supported; pass the unmasked values")
    place = _place(values)
    if place not in (None, *_ON_HOST):
        raise ParameterError(
            f"{name}: lies on a device of DLPack type {place}, which is not supported; copy it to "
            "the host"
        )
    try:
        # DLPack only views host memory, whereas __array__ of some libraries copies from a device.
        array = np.asarray(values) if place is None else np.from_dlpack(values)
    except (BufferError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise ParameterError(f"{name}: {error}") from error
    # NumPy makes floating-point numbers of integers that fit neither int64 nor uint64 together.
    if array.dtype == np.float64 and not hasattr(values, "dtype"):
        large = (np.abs(array) >= 2.0**63).any()
        if large and all(isinstance(one, Integral) for one in np.asarray(values, object).flat):
            raise ParameterError(f"{name}: no 64-bit integer type holds all these integers")
    return array


def _as_cupy(name: str, values: Any) -> Any:
    """Return a CuPy array that views the values on their device."""
    advice = "or copy it to the host, as cupy.asnumpy does"
    try:
        import cupy
    except ImportError as error:
        raise ParameterError(
            f"{name}: lies on a CUDA device, which needs CuPy, which does not import ({error}); "
            f"{install('cuda13', 'cuda12')}, {advice}"
        ) from error
    if isinstance(values, cupy.ndarray):
        return values
    try:
        # DLPack first, because the other library then finishes its pending writes.
        return cupy.from_dlpack(values) if _place(values) == _CUDA else cupy.asarray(values)
    except (BufferError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise ParameterError(
            f"{name}: lies on a CUDA device, and CuPy cannot view it ({error}); pass a CuPy "
            f"array, {advice}"
        ) from error


def module_of(array: Any) -> Any:
    """Return the module ``cupy`` for an array on a device, else ``numpy``."""
    return device_module() if on_device(array) else np


def device_module() -> Any:
    """Return the module ``cupy``."""
    import cupy

    return cupy
