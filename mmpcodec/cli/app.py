"""The application: finds the commands and runs one of them.

Each module of ``mmpcodec.cli.commands`` is a command: it has a function of its own name, or a
typer application ``app`` with commands of its own.
"""

import io
import pkgutil
import sys
import warnings
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import mmpcodec
from mmpcodec.cli import commands
from mmpcodec.cli.exits import discard_unwritten, exit_code_of

FIRST = (
    "encode", "decode", "info", "compare", "sweep", "report", "highlight", "median", "budget",
    "pack", "solve",
)  # fmt: skip
"""Commands in the order of ``mmp --help``; others follow by name, ``doctor`` is the last."""


class Commands(TyperGroup):
    """The commands: each returns its exit code or raises an error."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = sorted({*super().list_commands(ctx)} - {*FIRST, "doctor"})
        return [*FIRST, *names, "doctor"]

    def invoke(self, ctx: Any) -> None:
        command = super().invoke
        raise typer.Exit(exit_code_of(lambda: command(ctx)))


app = typer.Typer(
    name="mmp",
    cls=Commands,
    no_args_is_help=True,
    epilog="Exit codes: 0 done, 1 failed, 2 wrong use, 3 some inputs failed, "
    "4 backend not available, 130 interrupted, 143 terminated.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for found in pkgutil.iter_modules(commands.__path__):
    command = import_module(f"{commands.__name__}.{found.name}")
    if hasattr(command, "app"):
        app.add_typer(command.app)
    else:
        app.command()(getattr(command, found.name))


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"mmp {mmpcodec.__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Compress pictures, gray or in colour, of 1 to 16 bits: photographs, text and screens."""


def main() -> None:
    """Run the command line on the arguments of this process."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # an error line says what matters to the user
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # file names may hold any bytes
    try:
        app(prog_name="mmp")
    finally:
        discard_unwritten()
