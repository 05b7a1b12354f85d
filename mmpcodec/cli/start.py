"""The entry point of the program ``mmp``: prepares the process, then imports the command line."""

import contextlib
import os
import sys

from mmpcodec.cli.signals import end_at_once_on_signals


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


def main() -> None:
    """Run the command line on the arguments of this process."""
    open_closed_streams()
    end_at_once_on_signals()
    # The codec multiplies no large matrices of floating-point numbers, and NumPy imports slowly
    # when OpenBLAS starts a thread for each processor.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from mmpcodec.cli.app import main

    main()
