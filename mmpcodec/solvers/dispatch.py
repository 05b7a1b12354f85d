"""Which backend does a solver's work."""

from importlib import import_module
from typing import Any

from mmpcodec import backends
from mmpcodec.errors import BackendUnavailable, ParameterError
from mmpcodec.runtime.arrays import on_device

NAMES = ("cpu", "cuda", "reference")


def operations(solver: str, backend: str, values: Any = None) -> Any:
    """The module with the operations of a backend.

    Parameters
    ----------
    solver : str
        Name of the package.
    backend : {"auto", "cpu", "cuda", "reference"}
        "auto" is cuda for values that lie on a device, and else cpu.
    values : array
        What it will work on.

    Raises
    ------
    ParameterError
        When there is no such backend, or the values lie on a device and it cannot read them.
    BackendUnavailable
        When it cannot run here.
    """
    if backend not in ("auto", *NAMES):
        raise ParameterError(f"backend = {backend!r}: must be one of auto, {', '.join(NAMES)}")
    name = backend if backend != "auto" else "cuda" if on_device(values) else "cpu"
    if on_device(values) and name != "cuda":
        raise ParameterError(
            f"backend = {backend!r}: the values lie on a CUDA device, which only cuda reads; copy "
            "them with cupy.asnumpy"
        )
    if name == "cuda":
        reason = backends.unavailable("cuda")
        if reason is not None:
            raise BackendUnavailable(f"backend cuda cannot run here: {reason}")
    return import_module(f"{solver}.{name}")
