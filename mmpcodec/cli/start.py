"""The entry point of the program ``mmp``: prepares the process, then imports the command line."""

import contextlib
import os
import sys

from mmpcodec.cli.signals import end_at_once_on_signals

LARGE_BLOCK = 1 << 20
"""Least bytes of a block of memory that the system gets back as soon as it is freed."""
THRESHOLD = "MALLOC_MMAP_THRESHOLD_"
"""The variable in which the user gives glibc another number of bytes."""
_M_MMAP_THRESHOLD = -3


def open_closed_streams() -> None:
    """Send what goes to a closed standard stream to nowhere.

    Daemons and windows without a console start programs with closed streams. The next file that is
    opened would have the number of a closed one, and messages of libraries would go into it.
    """
    with contextlib.suppress(OSError):
        while (number := os.open(os.devnull, os.O_RDWR)) < 3:
            os.set_inheritable(number, True)
        os.close(number)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def return_large_blocks() -> None:
    """Let glibc return large blocks of memory to the system when they are freed.

    By itself it takes up to 32 MB for small, once a block of this size was freed. It then keeps
    such blocks in a heap for each thread, so that memory grows with threads, tiles and pages.
    """
    if sys.platform != "linux" or THRESHOLD in os.environ:
        return
    import ctypes

    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):  # musl has none
        libc.mallopt(_M_MMAP_THRESHOLD, LARGE_BLOCK)


def main() -> None:
    """Run the command line on the arguments of this process."""
    open_closed_streams()
    end_at_once_on_signals()
    return_large_blocks()
    # The codec multiplies no large matrices of floating-point numbers, and NumPy imports slowly
    # when OpenBLAS starts a thread for each processor.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from mmpcodec.cli.app import main

    main()
