"""Loading CUDA kernels: each ``.cu`` file compiles by itself, once per device, cached on disk."""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mmpcodec.errors import KernelError

FOLDER = Path(__file__).parents[1] / "kernels"
STANDARD = "-std=c++17"
C_TYPES = {
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
}
"""The name of each NumPy integer type in CUDA C++."""
CUDA_ERROR_NOT_FOUND = 500
"""Error code of the driver if a module has no symbol of the requested name."""
_LOADING = RLock()
"""Held while a kernel is loaded, so that threads of equal devices do not compile it twice."""


def sources() -> list[Path]:
    """Return the paths of all ``.cu`` files; each compiles by itself."""
    return sorted((FOLDER / "cuda").rglob("*.cu"))


def table(name: str, dtype: DTypeLike = np.uint8) -> np.ndarray:
    """Return a trained table of ``kernels/shared/tables``, a 1-D array of 8-bit numbers."""
    return np.frombuffer((FOLDER / "shared" / "tables" / f"{name}.bin").read_bytes(), dtype)


def c_type(dtype: DTypeLike) -> str:
    """Return the name of a NumPy integer type in CUDA C++."""
    return C_TYPES[np.dtype(dtype).name]


@cache
def _digest() -> str:
    """Return a digest of all kernel sources; CuPy's cache checks only the main file."""
    files = sorted(path for path in FOLDER.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


@cache
def load(name: str, device: int, defines: tuple[str, ...] = (), cooperative: bool = False) -> Any:
    """Compile ``kernels/cuda/<name>.cu`` for a device, or take it from the cache.

    Parameters
    ----------
    name : str
        Path of the file below ``kernels/cuda``, without its suffix.
    device : int
        Number of the CUDA device.
    defines : tuple of str
        Macros, as ``-D`` takes them.
    cooperative : bool
        Whether the blocks of a launch wait for each other.

    Returns
    -------
    cupy.RawModule

    Raises
    ------
    KernelError
        When the file does not compile; the message holds the compiler's.
    """
    import cupy

    path = FOLDER / "cuda" / f"{name}.cu"
    names = (f"MMP_SOURCES={_digest()}", *defines)
    options = (STANDARD, f"-I{FOLDER}", *(f"-D{name}" for name in names))
    with _LOADING, cupy.cuda.Device(device):
        module = cupy.RawModule(
            code=path.read_text(), options=options, enable_cooperative_groups=cooperative
        )
        try:
            module.compile()
        except cupy.cuda.compiler.CompileException as error:
            raise KernelError(f"{path.name} does not compile: {error}") from error
    return module


@cache
def function(
    name: str,
    entry: str,
    device: int,
    defines: tuple[str, ...] = (),
    *,
    threads: int = 1024,
    cooperative: bool = False,
    shared_bytes: int | None = None,
) -> Callable[[tuple[int, ...], tuple], None]:
    """Return a kernel; ``kernel(grid, arguments)`` launches it on the current stream.

    Parameters
    ----------
    name, device, defines, cooperative
        As in `load`.
    entry : str
        Name of the kernel in the file.
    threads : int
        Threads of a block.
    shared_bytes : int or None
        Dynamic shared memory of a launch. None takes the number that the file exports as
        ``shared_bytes``, and 0 where the file exports none.
    """
    import cupy

    module = load(name, device, defines, cooperative)
    with _LOADING, cupy.cuda.Device(device):
        kernel = module.get_function(entry)
        if shared_bytes is not None:
            # Callers with other sizes share the function and its limit, so the limit only grows.
            limit = max(kernel.max_dynamic_shared_size_bytes, shared_bytes)
            kernel.max_dynamic_shared_size_bytes = limit
        else:
            try:
                size = module.get_global("shared_bytes")
            except cupy.cuda.driver.CUDADriverError as error:
                if error.status != CUDA_ERROR_NOT_FOUND:
                    raise
                shared_bytes = 0
            else:
                shared_bytes = int(cupy.ndarray(1, np.uint32, size)[0])
                kernel.max_dynamic_shared_size_bytes = shared_bytes

    def launch(grid: tuple[int, ...], arguments: tuple) -> None:
        kernel(grid, (threads,), arguments, shared_mem=shared_bytes)

    return launch


def resident_blocks(
    name: str,
    entry: str,
    device: int,
    defines: tuple[str, ...],
    threads: int,
    shared_bytes: int,
) -> int:
    """Return how many blocks of a cooperative kernel run on a multiprocessor at once.

    Parameters
    ----------
    name, entry, device, defines, threads, shared_bytes
        As in `function`.
    """
    import cupy

    module = load(name, device, defines, True)
    with _LOADING, cupy.cuda.Device(device):
        kernel = module.get_function(entry)
        limit = max(kernel.max_dynamic_shared_size_bytes, shared_bytes)
        kernel.max_dynamic_shared_size_bytes = limit
        return cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
            kernel.kernel.ptr, threads, shared_bytes
        )
