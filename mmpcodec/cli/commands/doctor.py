"""``mmp doctor``: show the processor, the CUDA devices and the available backends."""

import json
import platform
import time
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from mmpcodec.cli import options
from mmpcodec.cli.exits import ExitCode


def doctor(
    warm: Annotated[bool, typer.Option("--warm", help="Compile the CUDA kernels now.")] = False,
    as_json: options.Json = False,
) -> ExitCode:
    """Show the processor, the CUDA devices and the backends.

    A backend with a search of its own writes other files than the other backends, and every
    backend decodes them to equal samples.

    With --warm, the CUDA kernels are compiled, so that the first picture does not wait for them.
    The exit code is then 4 if no device is available.
    """
    from mmpcodec import backends

    facts = machine()
    on_devices = backends.on_devices() if warm else ()
    ready = [name for name in on_devices if backends.unavailable(name) is None]
    if ready:
        facts["warm_seconds"] = seconds_to_warm(ready)
    if as_json:
        print(json.dumps(facts))
    else:
        print("\n".join(lines(facts)))
    if warm and not ready:
        backends.get(on_devices[0])  # raises with the reason
    return ExitCode.DONE


def machine() -> dict[str, Any]:
    """Return the facts as JSON can hold them."""
    import numpy

    import mmpcodec
    from mmpcodec import backends
    from mmpcodec.runtime.machine import processors

    found: dict[str, Any] = {}
    devices: list[dict[str, Any]] = []
    current = None
    for name, reason in backends.status().items():
        detail, own_search = reason, None
        if reason is None:
            backend = backends.get(name)
            own_search = backend.own_search
            detail = backend.describe()
            current = current or backend.device()
            for number in range(backend.device_count()):
                devices += [facts for facts in [backend.device(number)] if facts is not None]
        found[name] = {"available": reason is None, "detail": detail, "own_search": own_search}
    return {
        "mmpcodec": mmpcodec.__version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "processors": processors(),
        "backends": found,
        "device": current,
        "devices": devices,
    }


def seconds_to_warm(names: Sequence[str]) -> float:
    """Compile the kernels of some backends, or load them from the cache; return the seconds."""
    from mmpcodec import backends

    started = time.perf_counter()
    for name in names:
        backend = backends.get(name)
        for number in range(backend.device_count() or 1):
            with backend.on(number):
                backend.warm()
    return time.perf_counter() - started


def lines(facts: dict[str, Any]) -> Iterator[str]:
    """Yield the facts as lines of text."""
    yield f"mmpcodec {facts['mmpcodec']}, Python {facts['python']}, NumPy {facts['numpy']}"
    yield f"{facts['system']}, {facts['processors']} processors"
    for name, backend in facts["backends"].items():
        own = f"; a search of its own for {backend['own_search']}" if backend["own_search"] else ""
        available = "yes" if backend["available"] else "no "
        yield f"backend {name:<9}  {available}  {backend['detail']}{own}"
    for found in facts["devices"]:
        yield (
            f"device {found['number']}: {found['name']}, compute capability "
            f"{found['compute_capability']}, {found['multiprocessors']} multiprocessors, "
            f"{found['free_bytes'] >> 20} of {found['memory_bytes'] >> 20} MiB free"
        )
    if (found := facts["device"]) is not None:
        yield f"CUDA driver {found['driver']}, runtime {found['runtime']}, CuPy {found['cupy']}"
        yield f"kernel cache {found['kernel_cache']}"
    if "warm_seconds" in facts:
        yield f"kernels ready after {facts['warm_seconds']:.1f} s"
