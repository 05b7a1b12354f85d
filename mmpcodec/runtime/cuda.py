"""CUDA devices: whether one can be used, its free memory and its attributes."""

import os
from collections.abc import Callable
from functools import cache, wraps
from threading import Lock
from typing import Any

from mmpcodec.errors import install


@cache
def unavailable() -> str | None:
    """Return the reason why no CUDA device can be used, or None."""
    try:
        import cupy
    except ImportError as error:
        return f"CuPy does not import ({error}); {install('cuda13', 'cuda12')}"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no CUDA device ({error})"
    return None if count else "no CUDA device"


def count() -> int:
    """Return the number of CUDA devices; ``CUDA_VISIBLE_DEVICES`` limits and numbers them."""
    import cupy

    return cupy.cuda.runtime.getDeviceCount()


def free_bytes() -> int:
    """Return the free bytes of the current device and of CuPy's pool, within the pool's limit."""
    import cupy

    pool = cupy.get_default_memory_pool()
    free = cupy.cuda.Device().mem_info[0] + pool.free_bytes()
    limit = pool.get_limit()
    return min(free, limit - pool.used_bytes()) if limit else free


def kept(make: Callable[[int], Any]) -> Callable[[int], Any]:
    """Keep what a function of a device's number makes, for all threads and streams.

    No two threads make it at once: kernels get the address of an array, and the array of one thread
    would be freed when that of the other takes its place.
    """
    lock = Lock()

    @cache
    def made(device: int) -> Any:
        import cupy

        with cupy.cuda.Device(device):
            found = make(device)
            cupy.cuda.get_current_stream().synchronize()
        return found

    @wraps(make)
    def get(device: int) -> Any:
        with lock:
            return made(device)

    return get


@cache
def attribute(name: str, device: int) -> int:
    """Return a device attribute by CuPy's name; it is cached, because a query takes 0.1 ms."""
    import cupy

    return cupy.cuda.Device(device).attributes[name]


def device_facts(number: int | None = None) -> dict[str, Any]:
    """Return a device's number, name, memory in bytes, and versions of CUDA and CuPy.

    Parameters
    ----------
    number : int or None
        None takes the current device.
    """
    import cupy

    device = cupy.cuda.Device(number)
    properties = cupy.cuda.runtime.getDeviceProperties(device.id)
    free, total = device.mem_info
    return {
        "number": device.id,
        "name": properties["name"].decode(),
        "compute_capability": device.compute_capability,
        "multiprocessors": properties["multiProcessorCount"],
        "memory_bytes": total,
        "free_bytes": free,
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "runtime": cupy.cuda.runtime.runtimeGetVersion(),
        "cupy": cupy.__version__,
        "kernel_cache": os.environ.get(
            "CUPY_CACHE_DIR", os.path.expanduser("~/.cupy/kernel_cache")
        ),
    }
