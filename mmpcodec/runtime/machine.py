"""The processors and the memory of this machine."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

UNTOLD_MEMORY = 1 << 31
"""Free memory that is assumed where the system does not tell it, in bytes."""


_MOST: ContextVar[int | None] = ContextVar("most processors", default=None)


def processors() -> int:
    """Return the number of processors that this process, or this task of it, may use."""
    if hasattr(os, "sched_getaffinity"):
        found = len(os.sched_getaffinity(0))
    else:
        found = os.cpu_count() or 1  # macOS and Windows
    most = _MOST.get()
    return found if most is None else min(found, most)


@contextmanager
def limited_processors(most: int) -> Iterator[None]:
    """Let ``processors`` return at most ``most`` in this thread while the context lasts.

    Tasks that run side by side take one processor each.
    """
    token = _MOST.set(most)
    try:
        yield
    finally:
        _MOST.reset(token)


def free_bytes() -> int:
    """Return the memory that no process uses, in bytes."""
    if sys.platform == "win32":
        return UNTOLD_MEMORY
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except ValueError:  # macOS has no such name
        return UNTOLD_MEMORY
