"""Processors, CUDA devices, and arrays in the memory of either."""

from numbers import Integral
from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError

_CUDA = 2
"""Kind of device of DLPack, as are the next."""
_ON_HOST = (1, 3, 11, 13)
"""Plain memory, pinned memory of CUDA and ROCm, and managed memory."""


def on_device(array: Any) -> bool:
    """Whether the array lies on a CUDA device, as CuPy's do."""
    return hasattr(array, "__cuda_array_interface__") or _place(array) == _CUDA


def _place(array: Any) -> int | None:
    """Kind of the device that an array lies on, by DLPack; None where it does not say."""
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack_device__"):
        return None
    return int(array.__dlpack_device__()[0])


def as_array(name: str, values: Any) -> Any:
    """An array where it lies, or what NumPy makes of a sequence.

    Parameters
    ----------
    name : str
        What errors call it.
    values : array-like
        A sequence, a buffer, or an object with ``__array__``, ``__dlpack__`` or
        ``__cuda_array_interface__``.

    Returns
    -------
    array
        NumPy's, or for what lies on a CUDA device CuPy's; nothing is copied between them.

    Raises
    ------
    ParameterError
        When neither makes anything of it, or the array is masked or lies on another device.
    """
    if on_device(values):
        return _as_cupy(name, values)
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterError(f"{name}: masked arrays are not taken; pass what is not masked")
    place = _place(values)
    if place not in (None, *_ON_HOST):
        raise ParameterError(
            f"{name}: lies on a device of kind {place} of DLPack, which is not supported; copy it "
            "to the host"
        )
    try:
        # Some libraries' __array__ copies from a device; what lies on the host is only viewed.
        array = np.asarray(values) if place is None else np.from_dlpack(values)
    except (BufferError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise ParameterError(f"{name}: {error}") from error
    # NumPy makes floating-point numbers of integers that fit neither int64 nor uint64 together.
    if array.dtype == np.float64 and not hasattr(values, "dtype"):
        large = (np.abs(array) >= 2.0**63).any()
        if large and all(isinstance(one, Integral) for one in np.asarray(values, object).flat):
            raise ParameterError(f"{name}: integers that no type of 64 bits holds together")
    return array


def _as_cupy(name: str, values: Any) -> Any:
    """A CuPy array that lies where the values do."""
    advice = "or copy it to the host, as cupy.asnumpy does"
    try:
        import cupy
    except ImportError as error:
        raise ParameterError(
            f"{name}: lies on a CUDA device, which needs CuPy, and that does not import ({error}); "
            f"install mmpcodec[cuda13] or mmpcodec[cuda12], {advice}"
        ) from error
    if isinstance(values, cupy.ndarray):
        return values
    try:
        # DLPack first: with it the other library waits for what it has still to write.
        return cupy.from_dlpack(values) if _place(values) == _CUDA else cupy.asarray(values)
    except (BufferError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise ParameterError(
            f"{name}: lies on a CUDA device, and CuPy does not take it ({error}); pass a CuPy "
            f"array, {advice}"
        ) from error


def module_of(array: Any) -> Any:
    """NumPy, or CuPy for an array on a device."""
    if not on_device(array):
        return np
    import cupy

    return cupy
