"""How the program ends: exit codes, one line for each error, and no traceback."""

import contextlib
import os
import signal
import sys
from enum import IntEnum
from types import FrameType
from typing import Any

import typer
from typer.core import TyperGroup

from mmpcodec import start
from mmpcodec.errors import BackendUnavailable, MmpError, ParameterError
from mmpcodec.errors import FileError as FileError


class ExitCode(IntEnum):
    """What the program returns."""

    DONE = 0
    FAILED = 1
    WRONG_USE = 2
    PARTLY_FAILED = 3
    NO_BACKEND = 4
    INTERRUPTED = 130
    TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """The process was asked to end."""


def terminate(signal_number: int, frame: FrameType | None) -> None:
    """Signal handler that ends the program as Ctrl-C does: with everything cleaned up."""
    raise Terminated


def clean_up_on_signals() -> None:
    """From here on a signal ends the program by an exception; until then it ends at once."""
    if signal.getsignal(signal.SIGTERM) is start.stop:
        signal.signal(signal.SIGTERM, terminate)
    if signal.getsignal(signal.SIGINT) is start.stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def show_error(message: object) -> None:
    """Print an error line."""
    print(f"mmp: {message}", file=sys.stderr, flush=True)


def discard_unwritten() -> None:
    """Drop what standard output did not take, so that Python does not report it once more."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class CommandGroup(TyperGroup):
    """The commands; each returns its exit code or raises what is turned into one here."""

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order of the help: typer has groups of commands last, where doctor stands."""
        names = super().list_commands(ctx)
        return sorted(names, key="doctor".__eq__)

    def invoke(self, ctx: Any) -> None:
        raise typer.Exit(self._run(ctx))

    def _run(self, ctx: Any) -> int:
        try:
            clean_up_on_signals()
            return super().invoke(ctx) or ExitCode.DONE
        except ParameterError as error:
            show_error(error)
            return ExitCode.WRONG_USE
        except BackendUnavailable as error:
            show_error(error)
            return ExitCode.NO_BACKEND
        except MmpError as error:
            show_error(error)
        except BrokenPipeError:
            pass  # the reader has had enough
        except OSError as error:  # files are named by FileError, so this is a standard stream
            with contextlib.suppress(OSError):
                show_error(f"stdout: {error.strerror}")
        except Terminated:
            show_error("terminated")
            return ExitCode.TERMINATED
        except KeyboardInterrupt:
            show_error("interrupted")
            return ExitCode.INTERRUPTED
        return ExitCode.FAILED
