"""Handlers of SIGINT and SIGTERM: end the process at once, or raise an exception that cleans up."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
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


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Hold both signals back while the context lasts; they are delivered at its end.

    For work of a second or two that cannot be undone halfway. Processes that are started meanwhile
    never get SIGINT, which a terminal sends to all processes of a command: this one ends them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, _: arrived.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # started processes inherit it
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])


def _end_at_once(number: int, frame: FrameType | None) -> None:
    interrupted = number == signal.SIGINT
    os.write(2, b"mmp: interrupted\n" if interrupted else b"mmp: terminated\n")
    os._exit(128 + number)


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    raise Terminated
