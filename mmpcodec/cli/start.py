"""The entry point of the program ``mmp``: prepares the process, then imports the command line."""

import os

from mmpcodec.cli.signals import end_at_once_on_signals


def main() -> None:
    """Run the command line on the arguments of this process."""
    end_at_once_on_signals()
    # The codec multiplies no large matrices of floating-point numbers, and NumPy imports slowly
    # when OpenBLAS starts a thread for each processor.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from mmpcodec.cli.app import main

    main()
