"""The choice of the backend that does a solver's work, by the registry of ``mmpcodec.backends``.

A solver supports a backend by a module of the backend's name in its package. The module
``reference`` states which operations there are.
"""

from importlib import import_module
from types import ModuleType
from typing import Any

from mmpcodec import backends
from mmpcodec.errors import BackendUnavailable, LimitExceeded
from mmpcodec.runtime.arrays import on_device


def named(backend: str, values: Any = None) -> str:
    """The backend that the caller asked for: "auto" only where the values lie on the host.

    Raises
    ------
    ParameterError
        When there is no backend of this name, or the values lie on a device and it cannot read
        them.
    """
    backends.check_name(backend)
    return backends.for_device_arrays(backend, "the values lie") if on_device(values) else backend


def resolved(solver: str, backend: str, values: Any = None, seconds: float = 0.0) -> str:
    """Name of the backend that does a solver's work.

    Parameters
    ----------
    solver : str
        Name of the solver's package, such as "mmpcodec.solvers.max_sum".
    backend : {"auto", "cpu", "cuda", "reference"}
        "auto" is a backend that reads device memory where the values lie there or where the
        processor needs more time than the device takes to start, and else the processor.
    values : array
        What the solver works on.
    seconds : float
        Predicted time of the work on the processor.

    Raises
    ------
    ParameterError
        When there is no backend of this name, or the values lie on a device and it cannot read
        them.
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
    """The module with the operations of a backend; see ``resolved``."""
    return module(solver, resolved(solver, backend, values, seconds))


def run(
    solver: str, backend: str, seconds: float, operation: str, *arguments: Any
) -> tuple[Any, str]:
    """The answer of an operation, and the name of the backend that gave it.

    Where "auto" takes a device whose memory does not suffice, the processor does the work.

    Parameters
    ----------
    solver, backend, seconds
        See ``resolved``.
    operation : str
        Name of a function of the solver's module ``reference``. Where the module of the backend
        does not have it, the processor does the work.
    *arguments
        Of the operation.

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


def module(solver: str, backend: str) -> ModuleType | None:
    """The module with the operations of a backend; None where the solver has none for it."""
    name = f"{solver}.{backend}"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
    return None


def runs_on_device(backend: str, values: Any) -> bool:
    """Whether work on the values takes place in device memory."""
    return on_device(values) or backends.reads_device_arrays(backend)
