"""Limits of time and memory of the solvers."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any

from mmpcodec.checks import check_int
from mmpcodec.errors import LimitExceeded, ParameterError

MOST_SECONDS = 1e9
"""Largest time limit, in seconds."""
MOST_MEMORY = (1 << 62) - 1
"""Largest memory limit, in bytes."""


class OutOfTime(Exception):
    """The deadline has passed."""


class CallLimits:
    """Limits of a call: when it began, its deadline, and the memory for tables.

    Raises
    ------
    ParameterError
        When the time limit is no number of seconds from 0 to ``MOST_SECONDS``.
    """

    def __init__(self, time_limit: float | None, memory_limit: int | None):
        if time_limit is not None and not (
            isinstance(time_limit, Real) and 0 <= time_limit <= MOST_SECONDS
        ):
            raise ParameterError(
                f"time_limit = {time_limit!r}: must be seconds from 0 to {MOST_SECONDS:g}"
            )
        self.begin = time.perf_counter()
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self.memory = memory_limit

    @property
    def seconds(self) -> float:
        """Seconds since the call began."""
        return time.perf_counter() - self.begin


@contextmanager
def in_time(name: str, time_limit: float | None) -> Iterator[float | None]:
    """Give the deadline of a call without an answer before its end, a value of ``time.monotonic``.

    Raises
    ------
    LimitExceeded
        When the body raises ``OutOfTime``; ``name`` is that of the call.
    ParameterError
        See ``CallLimits``.
    """
    try:
        yield CallLimits(time_limit, None).deadline
    except OutOfTime:
        reason = f"no answer in time_limit = {time_limit} seconds"
        raise LimitExceeded(f"Time of {name}", reason) from None


def check_memory(memory_limit: Any) -> int:
    """Return a memory limit in bytes.

    Raises
    ------
    ParameterError
        When the limit is no integer from 0 to ``MOST_MEMORY``.
    """
    return check_int("memory_limit", memory_limit, 0, MOST_MEMORY)


def is_over(deadline: float | None) -> bool:
    """Return whether a deadline, a value of ``time.monotonic``, has passed."""
    return deadline is not None and time.monotonic() > deadline


def seconds_left(deadline: float | None) -> float:
    """Return the seconds until a deadline, at least 0; -1 without one, as C++ takes them."""
    return -1.0 if deadline is None else max(0.0, deadline - time.monotonic())


def look(deadline: float | None) -> None:
    """Compare the clock with the deadline.

    Raises
    ------
    OutOfTime
        When the deadline has passed.
    """
    if is_over(deadline):
        raise OutOfTime
