"""End the program: an exit code, and one line for an error instead of a traceback."""

import contextlib
import os
import sys
from collections.abc import Callable
from enum import IntEnum

from mmpcodec.cli.signals import Terminated, clean_up_on_signals
from mmpcodec.errors import BackendUnavailable, MmpError, ParameterError
from mmpcodec.runtime.files import printable


class ExitCode(IntEnum):
    """Exit codes of the program."""

    DONE = 0
    FAILED = 1
    WRONG_USE = 2
    PARTLY_FAILED = 3
    NO_BACKEND = 4
    INTERRUPTED = 130
    TERMINATED = 143


def show_error(message: object) -> None:
    """Print an error line."""
    to_stderr(f"mmp: {printable(str(message))}")


def to_stderr(text: str) -> None:
    """Print to standard error. If nobody reads it any more, the work goes on without a word."""
    if sys.stderr is None:  # then print would take standard output
        return
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def discard_unwritten() -> None:
    """Drop output that a closed standard output did not take.

    Python would report it a second time when it exits.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exit_code_of(command: Callable[[], ExitCode | None]) -> ExitCode:
    """Run a command, and turn an error that it raises into an error line and an exit code."""
    try:
        clean_up_on_signals()
        return command() or ExitCode.DONE
    except ParameterError as error:
        show_error(error)
        return ExitCode.WRONG_USE
    except BackendUnavailable as error:
        show_error(error)
        return ExitCode.NO_BACKEND
    except MmpError as error:
        show_error(error)
    except MemoryError:
        show_error("not enough memory")
    except BrokenPipeError:
        pass  # the reader has closed the pipe
    except OSError as error:  # FileError covers named files, so this is a standard stream
        with contextlib.suppress(OSError):
            show_error(f"stdout: {error.strerror}")
    except Terminated:
        show_error("terminated")
        return ExitCode.TERMINATED
    except KeyboardInterrupt:
        show_error("interrupted")
        return ExitCode.INTERRUPTED
    return ExitCode.FAILED
