"""The processors and the memory of this machine."""

import os
import sys

UNTOLD_MEMORY = 1 << 31
"""Free memory that is assumed where the system does not tell it, in bytes."""


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS and Windows


def free_bytes() -> int:
    """Return the memory that no process uses, in bytes."""
    if sys.platform == "win32":
        return UNTOLD_MEMORY
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except ValueError:  # macOS has no such name
        return UNTOLD_MEMORY
