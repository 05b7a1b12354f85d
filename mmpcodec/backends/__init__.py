"""The backends, and which of them can run here.

Each does the same work on other hardware; see ``base`` for the contract. They leave arithmetic
shared with the GPU to ``kernels/shared``, and files and headers to ``codec``.
"""

from collections.abc import Callable

from mmpcodec.backends.base import Backend
from mmpcodec.errors import BackendUnavailable, ParameterError


def _cpu() -> Backend:
    from mmpcodec.backends.cpu import CpuBackend

    return CpuBackend()


def _reference() -> Backend:
    from mmpcodec.backends.reference import ReferenceBackend

    return ReferenceBackend()


def _cuda() -> Backend:
    from mmpcodec.backends.cuda import CudaBackend

    return CudaBackend()


_FACTORIES: dict[str, Callable[[], Backend]] = {
    "cpu": _cpu,
    "cuda": _cuda,
    "reference": _reference,
}
NAMES = tuple(_FACTORIES)
"""Names of all backends."""

HOST = ("cpu", "reference")
"""Backends that also decode, in the order in which "auto" tries them."""


def get(name: str = "auto") -> Backend:
    """The backend of this name; "auto" takes the first of ``HOST`` that can run.

    Raises
    ------
    ParameterError
        When there is no such backend.
    BackendUnavailable
        When it cannot run here; a named backend never falls back to another.
    """
    if name != "auto" and name not in _FACTORIES:
        raise ParameterError(f"backend = {name!r}: must be one of auto, {', '.join(NAMES)}")
    reasons = []
    for candidate in HOST if name == "auto" else (name,):
        backend = _FACTORIES[candidate]()
        reason = backend.unavailable()
        if reason is None:
            return backend
        reasons.append(f"{candidate}: {reason}")
    raise BackendUnavailable(f"backend {name} cannot run here: {'; '.join(reasons)}")


def status() -> dict[str, str | None]:
    """For each backend the reason why it cannot run here, or None."""
    return {name: make().unavailable() for name, make in _FACTORIES.items()}
