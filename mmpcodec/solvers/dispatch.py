"""The choice of a solver's backend, by the registry of ``mmpcodec.backends``.

A solver supports a backend if its package has a module of the backend's name. The module
``reference`` defines all operations of a solver.
"""

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from mmpcodec import backends
from mmpcodec.errors import BackendUnavailable, LimitExceeded
from mmpcodec.runtime.arrays import on_device


def named(backend: str, values: Any = None) -> str:
    """Return the name of the requested backend; device values replace "auto" by a device backend.

    Raises
    ------
    ParameterError
        When no backend has this name, or when the values lie on a device and the backend cannot
        read device memory.
    """
    backends.check_name(backend)
    return backends.for_device_arrays(backend, "the values lie") if on_device(values) else backend


def resolved(solver: str, backend: str, values: Any = None, seconds: float = 0.0) -> str:
    """Return the name of the backend that does a solver's work.

    Parameters
    ----------
    solver : str
        Name of the solver's package, such as "mmpcodec.solvers.max_sum".
    backend : {"auto", "cpu", "cuda", "reference"}
        "auto" takes a device if the values lie in its memory, or if the predicted time exceeds the
        start-up time of the device; else it takes the processor.
    values : array
        Input of the solver.
    seconds : float
        Predicted time of the work on the processor.

    Raises
    ------
    ParameterError
        When no backend has this name, or when the values lie on a device and the backend cannot
        read device memory.
    BackendUnavailable
        When the backend cannot run here.
    """
    backend = named(backend, values)
    reasons = []
    for name in backends.candidates(backend, lambda row: row.start or seconds):
        reason = backends.unavailable(name)
        if reason is None and module(solver, name) is None:
            reason = f"the solver {solver.rpartition('.')[2]} has no operations for it"
        if reason is None:
            return name
        reasons.append(reason if name == backend else f"{name}: {reason}")
    raise BackendUnavailable(f"backend {backend} cannot run here: {'; '.join(reasons)}")


def operations(solver: str, backend: str, values: Any = None, seconds: float = 0.0) -> Any:
    """Return the module with the operations of the backend that ``resolved`` names."""
    return module(solver, resolved(solver, backend, values, seconds))


def run(
    solver: str, backend: str, seconds: float, operation: str, *arguments: Any
) -> tuple[Any, str]:
    """Return the answer of an operation and the name of the backend that gave it.

    If "auto" takes a device that has too little memory, the processor does the work.

    Parameters
    ----------
    solver, backend, seconds
        See ``resolved``.
    operation : str
        Name of a function of the solver's module ``reference``. If the module of the backend lacks
        this function, the processor does the work.
    *arguments
        Arguments of the operation.

    Raises
    ------
    BackendUnavailable
        When a named backend cannot run here.
    LimitExceeded
        When a named device has too little memory.
    """
    name = resolved(solver, backend, None, seconds)
    if not hasattr(module(solver, name), operation):
        name = resolved(solver, backends.AUTO)
    try:
        return getattr(module(solver, name), operation)(*arguments), name
    except LimitExceeded:
        host = resolved(solver, backends.AUTO)
        if backend != backends.AUTO or name == host:
            raise
    return getattr(module(solver, host), operation)(*arguments), host


@cache
def module(solver: str, backend: str) -> ModuleType | None:
    """Return the solver's module for a backend; None if the solver does not support the backend."""
    name = f"{solver}.{backend}"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
    return None


def runs_on_device(backend: str, values: Any) -> bool:
    """Return whether the values lie in device memory or the backend reads device memory."""
    return on_device(values) or backends.reads_device_arrays(backend)
