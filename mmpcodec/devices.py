"""Arrays in host memory and on CUDA devices."""

from functools import cache
from typing import Any

import numpy as np


def on_device(array: Any) -> bool:
    """Whether the array lies on a CUDA device, as CuPy's do."""
    return hasattr(array, "__cuda_array_interface__")


def module_of(array: Any) -> Any:
    """NumPy, or CuPy for an array on a device."""
    if not on_device(array):
        return np
    import cupy

    return cupy


@cache
def attribute(name: str, device: int) -> int:
    """An attribute of a device by CuPy's name; kept, for asking takes a tenth of a millisecond."""
    import cupy

    return cupy.cuda.Device(device).attributes[name]
