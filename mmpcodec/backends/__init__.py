"""The backends, and which of them can run here.

Each does the same work on other hardware; see ``base`` for the contract. They leave arithmetic
shared with the GPU to ``kernels/shared``, and files and headers to ``codec``.
"""

import importlib.util
import sys
from collections.abc import Callable

from mmpcodec.backends.base import Backend
from mmpcodec.depth import BYTE
from mmpcodec.errors import BackendUnavailable, ParameterError
from mmpcodec.tools import Tools


def _cpu() -> Backend:
    from mmpcodec.backends.cpu import CpuBackend

    return CpuBackend()


def _reference() -> Backend:
    from mmpcodec.backends.reference import ReferenceBackend

    return ReferenceBackend()


def _cuda() -> Backend:
    from mmpcodec.backends.cuda.backend import CudaBackend

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

CPU_SECONDS = {"trees": 150e-6, "text": 0.4e-3, "blocks": 3.7e-3}
CUDA_SECONDS = {"trees": 20e-6, "text": 0.11e-3, "blocks": 1.7e-3}
"""What a fragment takes with the tools of plain, text and photo, see docs/benchmarks.md."""
CUDA_START_SECONDS = {"first": 1.5, "again": 3e-3}
"""What a call takes besides: the first of a process loads CuPy and the kernels."""


def get(
    name: str = "auto", fragments: int = 0, tools: Tools | None = None, depth: int = BYTE
) -> Backend:
    """The backend of this name.

    Parameters
    ----------
    name : str
        "auto" takes cuda where that is there and faster, and else the first of ``HOST`` that can
        run.
    fragments : int
        16x16 fragments to encode, by which "auto" decides.
    tools : Tools or None
        That the pictures are to be coded with; None for any.
    depth : int
        Bits of their samples.

    Raises
    ------
    ParameterError
        When there is no such backend.
    BackendUnavailable
        When it cannot run here; a named backend never falls back to another.
    """
    if not isinstance(name, str) or name not in ("auto", *NAMES):
        raise ParameterError(f"backend = {name!r}: must be one of auto, {', '.join(NAMES)}")
    candidates: tuple[str, ...] = HOST if name == "auto" else (name,)
    if name == "auto" and _pays_on_a_device(fragments, tools, depth):
        candidates = ("cuda", *HOST)
    reasons = []
    for candidate in candidates:
        backend = _FACTORIES[candidate]()
        reason = backend.unavailable()
        if reason is None and tools is not None and (lacking := backend.lacks(tools, depth)):
            reason = f"it has no {lacking}"
        if reason is None:
            return backend
        reasons.append(reason if candidate == name else f"{candidate}: {reason}")
    raise BackendUnavailable(f"backend {name} cannot run here: {'; '.join(reasons)}")


def may_use_device() -> bool:
    """Whether "auto" can come to cuda at all: CuPy is there. Does not load it."""
    return importlib.util.find_spec("cupy") is not None


def _pays_on_a_device(fragments: int, tools: Tools | None, depth: int) -> bool:
    """Whether a device would be done sooner."""
    if depth != BYTE or (tools is not None and tools.exact):
        return False
    work = "trees"
    if tools is not None and tools.prediction:
        work = "blocks"
    elif tools is not None and tools.displaced_blocks:
        work = "text"
    start = CUDA_START_SECONDS["again" if "cupy" in sys.modules else "first"]
    gain = fragments * (CPU_SECONDS[work] - CUDA_SECONDS[work])
    return gain > start and may_use_device()


def status() -> dict[str, str | None]:
    """For each backend the reason why it cannot run here, or None."""
    return {name: unavailable(name) for name in _FACTORIES}


def unavailable(name: str) -> str | None:
    """The reason why a backend cannot run here, or None."""
    return _FACTORIES[name]().unavailable()
