"""CUDA devices: whether one can be used, its free memory and its attributes."""

from functools import cache


@cache
def unavailable() -> str | None:
    try:
        import cupy
    except ImportError as error:
        return f"CuPy does not import ({error}); install mmpcodec[cuda13] or mmpcodec[cuda12]"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no CUDA device ({error})"
    return None if count else "no CUDA device"


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
