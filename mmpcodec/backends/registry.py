"""The registry of backends: a row for each, and the choice of the one that does a piece of work."""

import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from mmpcodec.depth import BYTE
from mmpcodec.errors import BackendUnavailable, ParameterError
from mmpcodec.presets import DEFAULT_EFFORT
from mmpcodec.tools import BlockTools, Tools, TreeTools

if TYPE_CHECKING:
    from mmpcodec.backends.base import Backend

AUTO = "auto"
"""Name that stands for the backend that is predicted to finish first."""
SLOW_EFFORT = 4
"""Effort from which predicted blocks take several times as long."""
SLOW = 1.0
"""Assumed seconds per fragment of a backend whose row states no cost."""


@dataclass(frozen=True)
class Row:
    """A backend: its factory, and the costs that "auto" compares before it loads the backend.

    Parameters
    ----------
    make : callable
        Returns the backend. It imports the backend's module only when it is called.
    fragment_seconds : mapping of str to float
        Seconds that encoding a 16x16 fragment takes, by kind of work: "trees" (tools of preset
        plain), "text" (trees with copies), "blocks" (prediction), "slow blocks"
        (prediction at efforts from ``SLOW_EFFORT`` on).
    first_seconds, start_seconds : float
        Seconds before the first fragment, in the first call of a process and in later calls.
    package : str or None
        Python package that the backend needs. "auto" skips the backend where it is not installed.
    """

    make: "Callable[[], Backend]"
    fragment_seconds: Mapping[str, float] = field(default_factory=dict)
    first_seconds: float = 0.0
    start_seconds: float = 0.0
    package: str | None = None

    @property
    def start(self) -> float:
        """Seconds before the first fragment of the next call."""
        loaded = self.package is None or self.package in sys.modules
        return self.start_seconds if loaded else self.first_seconds

    def seconds(self, fragments: int, tools: Tools | None, effort: int = DEFAULT_EFFORT) -> float:
        """Return the predicted seconds to encode this many fragments at an effort."""
        work = "trees"
        if isinstance(tools, BlockTools):
            work = "blocks" if effort < SLOW_EFFORT else "slow blocks"
        elif isinstance(tools, TreeTools) and tools.displaced_blocks:
            work = "text"
        return self.start + fragments * self.fragment_seconds.get(work, SLOW)

    def is_installed(self) -> bool:
        """Return whether the package that the backend needs can be imported; does not import it."""
        return self.package is None or _is_found(self.package, importlib.util.find_spec)


@cache
def _is_found(package: str, find: Callable[[str], object]) -> bool:
    """Return whether a package is found; the answer stays, as a search takes 0.1 ms."""
    return find(package) is not None


def _cpu() -> "Backend":
    from mmpcodec.backends.cpu import CpuBackend

    return CpuBackend()


def _cuda() -> "Backend":
    from mmpcodec.backends.cuda.backend import CudaBackend

    return CudaBackend()


def _reference() -> "Backend":
    from mmpcodec.backends.reference import ReferenceBackend

    return ReferenceBackend()


ROWS: dict[str, Row] = {
    "cpu": Row(_cpu, {"trees": 0.23e-3, "text": 0.43e-3, "blocks": 0.05e-3, "slow blocks": 0.5e-3}),
    "cuda": Row(
        _cuda,
        {"trees": 20e-6, "blocks": 0.6e-3, "slow blocks": 2e-3},
        1.5,
        3e-3,
        package="cupy",
    ),
    "reference": Row(_reference),
}
"""All backends by name, in the order in which "auto" tries those of equal cost.

The costs of trees are those of an H100, those of blocks of an H200, and 16 cores of their hosts,
for pictures of 512x512 to 2048x2048 (2026-12-01).
"""


def names() -> tuple[str, ...]:
    """Return the names of all backends."""
    return tuple(ROWS)


def check_name(name: str) -> None:
    """Check that a name is "auto" or that of a backend.

    Raises
    ------
    ParameterError
    """
    if not isinstance(name, str) or name not in (AUTO, *ROWS):
        raise ParameterError(f"backend = {name!r}: must be one of {', '.join((AUTO, *ROWS))}")


def candidates(name: str, cost: Callable[[Row], float]) -> Iterable[str]:
    """Return the backends to try, cheapest first: for "auto" all whose package is installed.

    A package is searched for when its backend's turn comes, as the search takes 0.1 ms.

    Raises
    ------
    ParameterError
        When there is no backend of this name.
    """
    check_name(name)
    if name != AUTO:
        return [name]
    cheapest_first = sorted(ROWS, key=lambda one: cost(ROWS[one]))
    return (one for one in cheapest_first if ROWS[one].is_installed())


def get(
    name: str = AUTO,
    fragments: int = 0,
    tools: Tools | None = None,
    depth: int = BYTE,
    *,
    effort: int = DEFAULT_EFFORT,
    decodes: bool = False,
) -> "Backend":
    """Return a backend that can run here.

    Parameters
    ----------
    name : str
        "auto" is the backend that is predicted to finish first. A named backend is never replaced.
    fragments : int
        Number of 16x16 fragments to encode; "auto" predicts times from it.
    tools : Tools or None
        Tools that the backend must have; None for any.
    depth : int
        Bits per sample.
    effort : int
        Effort of the search for predicted blocks; "auto" predicts times from it.
    decodes : bool
        Whether the backend must decode.

    Raises
    ------
    ParameterError
        When there is no backend of this name.
    BackendUnavailable
        When the backend cannot run here, or lacks a tool; for "auto", when all do.
    """
    reasons = []
    for candidate in candidates(name, lambda row: row.seconds(fragments, tools, effort)):
        backend = ROWS[candidate].make()
        fault = None if tools is None else backend.fault(tools, depth)
        if decodes and not backend.decodes:
            reason: str | None = f"it only encodes; {decoders()[0]} decodes"
        elif fault is not None:
            reason = fault
        else:
            reason = backend.unavailable()
        if reason is None:
            return backend
        reasons.append(reason if candidate == name else f"{candidate}: {reason}")
    raise BackendUnavailable(f"backend {name} cannot run here: {'; '.join(reasons)}")


def depends_on_work(name: str) -> bool:
    """Return whether the amount of work can change which backend a name stands for."""
    return name == AUTO and any(row.start > 0 and row.is_installed() for row in ROWS.values())


def decoders() -> tuple[str, ...]:
    """Return the names of the backends that decode."""
    return tuple(name for name, row in ROWS.items() if row.make().decodes)


def on_devices() -> tuple[str, ...]:
    """Return the names of the backends that read arrays in device memory."""
    return tuple(name for name, row in ROWS.items() if row.make().reads_device_arrays)


def reads_device_arrays(name: str) -> bool:
    """Return whether a named backend reads arrays in device memory; False for "auto"."""
    return name in ROWS and ROWS[name].make().reads_device_arrays


def for_device_arrays(name: str, subject: str) -> str:
    """Return the backend for arrays in device memory: the named one, for "auto" the first.

    Parameters
    ----------
    name : str
    subject : str
        What lies on the device, for the error: "a picture lies", "the values lie".

    Raises
    ------
    ParameterError
        When there is no backend of this name, or it does not read arrays in device memory.
    """
    check_name(name)
    reading = on_devices()
    if name not in (AUTO, *reading):
        raise ParameterError(
            f"backend = {name!r}: {subject} on a CUDA device, which only {', '.join(reading)} "
            "reads; cupy.asnumpy copies an array to the host"
        )
    return reading[0] if name == AUTO else name


def status() -> dict[str, str | None]:
    """Return, for each backend, the reason why it cannot run here, or None."""
    return {name: unavailable(name) for name in ROWS}


def unavailable(name: str) -> str | None:
    """Return the reason why a backend cannot run here, or None."""
    return ROWS[name].make().unavailable()
