"""Which method is taken: the cheapest of those that fit into the memory."""

from dataclasses import dataclass

from mmpcodec.errors import LimitExceeded, ParameterError
from mmpcodec.runtime.machine import processors

NAMES = ("dense", "balanced", "meet")

DENSE_STEP = 1 / 512
DENSE_PLACE = 2.0
BALANCED_STEP = 1.0
MEET_STEP = 40.0
"""Nanoseconds of one processor for a step of each method, and for a sum whose item is noted."""

MAX_MEET_ITEMS = 62
ROWS = 2
"""Rows of bits that ``dense`` has on a device. On a processor it has one, but the choice of the
method is the same everywhere."""
MEET_BYTES = 48
"""What ``meet`` needs for each sum of half the items."""
CHANGE_BYTES = 8
"""What ``balanced`` stores for each change of a set: how many there are is seen on the way."""


@dataclass(frozen=True)
class Need:
    """What a method is predicted to need.

    Parameters
    ----------
    nanoseconds : float
        Of one processor.
    bytes : int
        At most; of ``balanced`` without the changes of sets.
    """

    nanoseconds: float
    bytes: int

    @property
    def seconds(self) -> float:
        """Predicted time on all processors."""
        return self.nanoseconds * 1e-9 / processors()


def maker_bytes(count: int) -> int:
    """Bytes of an item's number, which ``dense`` stores for each sum."""
    return 2 if count < 1 << 16 else 4


def needs(count: int, limit: int, heaviest: int, items: bool) -> dict[str, Need]:
    """What each method needs for ``count`` items and sums up to ``limit``."""
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
    """The method that is named, or for "auto" the cheapest that fits into the memory.

    Raises
    ------
    ParameterError
        If the method is unknown, or takes fewer items than there are.
    LimitExceeded
        When what it needs is more than the memory.
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
            "Memory of subset_sum", f"needs {asked} bytes: must be at most memory = {memory}"
        )
    return min(fitting, key=lambda name: fitting[name].nanoseconds)
