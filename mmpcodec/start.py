"""The program ``mmp``: ends in one line from the first moment on, while imports still go on."""

import os
import signal
from types import FrameType


def stop(number: int, frame: FrameType | None) -> None:
    """End at once, when there is nothing yet to be cleaned up."""
    interrupted = number == signal.SIGINT
    os.write(2, b"mmp: interrupted\n" if interrupted else b"mmp: terminated\n")
    os._exit(128 + number)


def main() -> None:
    """Run the program on the arguments of this process."""
    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored
        signal.signal(signal.SIGINT, stop)

    from mmpcodec.cli import main

    main()
