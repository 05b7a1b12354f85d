"""``mmp doctor``: what is there to run on."""

import json
import os
import platform
import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mmpcodec.cli import options
from mmpcodec.cli.exits import ExitCode


def doctor(
    warm: Annotated[
        bool, typer.Option("--warm", help="Compile the kernels for the device, once.")
    ] = False,
    as_json: options.Json = False,
) -> ExitCode:
    """Show what is there to run on: processor, CUDA device, and which backend can use them.

    With --warm the CUDA kernels are compiled, so that the first picture need not wait for them;
    the exit code is 4 where there is no device.
    """
    from mmpcodec import backends

    facts = machine()
    warm_cuda = warm and backends.status()["cuda"] is None
    if warm_cuda:
        facts["warm_seconds"] = seconds_to_warm()
    if as_json:
        print(json.dumps(facts))
    else:
        print("\n".join(lines(facts)))
    if warm and not warm_cuda:
        backends.get("cuda")  # raises with the reason
    return ExitCode.DONE


def machine() -> dict[str, Any]:
    """What was found, for machines."""
    import numpy

    import mmpcodec
    from mmpcodec import backends
    from mmpcodec.runtime.machine import processors

    found = {}
    for name, reason in backends.status().items():
        found[name] = {
            "available": reason is None,
            "detail": backends.get(name).describe() if reason is None else reason,
        }
    return {
        "mmpcodec": mmpcodec.__version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "processors": processors(),
        "backends": found,
        "device": device() if found["cuda"]["available"] else None,
    }


def device() -> dict[str, Any]:
    """The current CUDA device."""
    import cupy

    current = cupy.cuda.Device()
    properties = cupy.cuda.runtime.getDeviceProperties(current.id)
    free, total = current.mem_info
    return {
        "number": current.id,
        "name": properties["name"].decode(),
        "compute_capability": current.compute_capability,
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


def seconds_to_warm() -> float:
    """Compile the kernels, or find them in the cache."""
    from mmpcodec.backends.cuda.backend import CudaBackend

    started = time.perf_counter()
    CudaBackend().warm()
    return time.perf_counter() - started


def lines(facts: dict[str, Any]) -> Iterator[str]:
    """What was found, for people."""
    yield f"mmpcodec {facts['mmpcodec']}, Python {facts['python']}, NumPy {facts['numpy']}"
    yield f"{facts['system']}, {facts['processors']} processors"
    for name, backend in facts["backends"].items():
        yield f"backend {name:<9}  {'yes' if backend['available'] else 'no '}  {backend['detail']}"
    found = facts["device"]
    if found is not None:
        yield (
            f"device {found['number']}: {found['name']}, compute capability "
            f"{found['compute_capability']}, {found['multiprocessors']} multiprocessors, "
            f"{found['free_bytes'] >> 20} of {found['memory_bytes'] >> 20} MiB free"
        )
        yield f"CUDA driver {found['driver']}, runtime {found['runtime']}, CuPy {found['cupy']}"
        yield f"kernel cache {found['kernel_cache']}"
    if "warm_seconds" in facts:
        yield f"kernels ready after {facts['warm_seconds']:.1f} s"
