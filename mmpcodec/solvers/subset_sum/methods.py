"""The choice of the method: the fastest of those that fit into the memory."""

from dataclasses import dataclass

from mmpcodec.errors import LimitExceeded, ParameterError
from mmpcodec.runtime.machine import processors

NAMES = ("dense", "balanced", "meet")

DENSE_STEP = 1 / 512
DENSE_PLACE = 2.0
BALANCED_STEP = 1.0
MEET_STEP = 40.0
"""Nanoseconds of one processor for a step of each method; ``DENSE_PLACE`` is the extra time of
``dense`` for each sum if items are wanted."""

MAX_MEET_ITEMS = 62
ROWS = 2
"""Rows of bits in the predicted memory of ``dense``. A device needs two rows and a processor one;
equal predictions lead to the same choice of the method on all backends."""
MEET_BYTES = 48
"""Memory of ``meet`` for each sum of half the items, in bytes."""
CHANGE_BYTES = 8
"""Memory of ``balanced`` for each change of a set, in bytes; only the run shows how many occur."""


@dataclass(frozen=True)
class Need:
    """Predicted time and memory of a method.

    Parameters
    ----------
    nanoseconds : float
        Time on one processor.
    bytes : int
        Upper bound of the memory; for ``balanced``, without the changes of sets.
    """

    nanoseconds: float
    bytes: int

    @property
    def seconds(self) -> float:
        """Predicted time on all processors, in seconds."""
        return self.nanoseconds * 1e-9 / processors()


def maker_bytes(count: int) -> int:
    """Return the size of the item number that ``dense`` stores for each sum, in bytes."""
    return 2 if count < 1 << 16 else 4


def needs(count: int, limit: int, heaviest: int, items: bool) -> dict[str, Need]:
    """Return the needs of each method that accepts ``count`` items, for sums up to ``limit``."""
    place = maker_bytes(count) * items
    found = {
        "dense": Need(
            count * limit * DENSE_STEP + limit * DENSE_PLACE * items,
            ROWS * limit // 8 + place * limit,
        ),
        "balanced": Need(count * heaviest * BALANCED_STEP, 32 * heaviest),
    }
    if count <= MAX_MEET_ITEMS:
        sums = min(1 << (count + 1) // 2, limit + 1)
        found["meet"] = Need(sums * MEET_STEP, MEET_BYTES * sums)
    return found


def choose(method: str, found: dict[str, Need], memory: int) -> str:
    """Return the named method, or for "auto" the fastest that fits into the memory.

    Raises
    ------
    ParameterError
        When the method is unknown, or the problem has more items than it accepts.
    LimitExceeded
        When the named method, or every method, needs more than the memory.
    """
    if method not in found and method != "auto":
        if method in NAMES:
            raise ParameterError(f"method = {method!r}: takes at most {MAX_MEET_ITEMS} items")
        raise ParameterError(f"method = {method!r}: must be one of auto, {', '.join(NAMES)}")
    fitting = {
        name: need
        for name, need in found.items()
        if need.bytes <= memory and method in ("auto", name)
    }
    if not fitting:
        asked = ", ".join(
            f"{name} {need.bytes}" for name, need in found.items() if method in ("auto", name)
        )
        raise LimitExceeded(
            "Memory of subset_sum", f"needs {asked} bytes: must be at most memory_limit = {memory}"
        )
    return min(fitting, key=lambda name: fitting[name].nanoseconds)
