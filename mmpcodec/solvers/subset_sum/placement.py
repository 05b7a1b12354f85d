"""Which backend does an operation: the one that is named, or the quicker one."""

import sys
from typing import Any

from mmpcodec import backends
from mmpcodec.errors import LimitExceeded
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.dispatch import operations


def run(backend: str, nanoseconds: float, operation: str, *arguments: Any) -> tuple[Any, str]:
    """The answer of an operation, and the backend that gave it.

    Parameters
    ----------
    backend : {"auto", "cpu", "cuda", "reference"}
        "auto" is cuda where there is a device that has the memory and is quicker, and else cpu.
    nanoseconds : float
        What the operation is predicted to take on one processor.
    operation : str
        Its name; see the reference.
    *arguments
        Of the operation.

    Raises
    ------
    BackendUnavailable
        When the backend that was named cannot run here.
    LimitExceeded
        When the device that was named has too little memory.
    """
    if backend == "auto" and device_pays(nanoseconds):
        try:
            return getattr(operations(__package__, "cuda"), operation)(*arguments), "cuda"
        except LimitExceeded:
            # The processor may have the memory that the device lacks.
            pass
    name = "cpu" if backend == "auto" else backend
    return getattr(operations(__package__, name), operation)(*arguments), name


def device_pays(nanoseconds: float) -> bool:
    """Whether a device is there and would be done sooner."""
    start = backends.CUDA_START_SECONDS["again" if "cupy" in sys.modules else "first"]
    pays = nanoseconds * 1e-9 / processors() > start and backends.may_use_device()
    return pays and backends.unavailable("cuda") is None
