"""What SIGINT and SIGTERM do: end the process at once, or raise an exception that cleans up."""

import os
import signal
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived."""


def end_at_once_on_signals() -> None:
    """Let both signals end the process in one line; for the time while modules are imported.

    An ignored SIGINT stays ignored.
    """
    signal.signal(signal.SIGTERM, _end_at_once)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end_at_once)


def clean_up_on_signals() -> None:
    """Let both signals raise an exception instead: ``Terminated`` or ``KeyboardInterrupt``.

    Changes only handlers that ``end_at_once_on_signals`` has set.
    """
    if signal.getsignal(signal.SIGTERM) is _end_at_once:
        signal.signal(signal.SIGTERM, _raise_terminated)
    if signal.getsignal(signal.SIGINT) is _end_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end_at_once(number: int, frame: FrameType | None) -> None:
    interrupted = number == signal.SIGINT
    os.write(2, b"mmp: interrupted\n" if interrupted else b"mmp: terminated\n")
    os._exit(128 + number)


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    raise Terminated
