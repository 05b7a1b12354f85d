"""The application: finds the commands and runs one of them.

Each module of ``mmpcodec.cli.commands`` is a command: it has a function of its own name, or a
typer application ``app`` with commands of its own. ``install_desktop`` is ``mmp install-desktop``.
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
from mmpcodec.cli.help import Command, in_order, panel_of, summaries
from mmpcodec.cli.printing import Printer, remarks_noted
from mmpcodec.errors import PictureWarning

NAMES = {found.name.replace("_", "-") for found in pkgutil.iter_modules(commands.__path__)}


def load(name: str) -> Any:
    """Import the module of a command, and return the command as a group of typer takes it."""
    module_name = name.replace("-", "_")
    module = import_module(f"{commands.__name__}.{module_name}")
    application = getattr(module, "app", None)
    if application is None:
        application = typer.Typer(add_completion=False)
        application.command(cls=Command)(getattr(module, module_name))
    command: Any = typer.main.get_command(application)
    command.rich_help_panel = panel_of(name)
    return command


class Commands(TyperGroup):
    """The commands: each returns its exit code or raises an error.

    A command is loaded when its name is given. Help lists summaries, which need no imports.
    """

    _listed: dict[str, Any] | None = None

    def list_commands(self, ctx: Any) -> list[str]:
        return in_order(NAMES)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._listed = summaries()
        super().format_help(ctx, formatter)
        self._listed = None

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self._listed is not None and cmd_name in self._listed:
            return self._listed[cmd_name]
        # Typer suggests commands of similar names, among the loaded ones, for an unknown name.
        wanted = {cmd_name} if cmd_name in NAMES else NAMES
        for name in sorted(wanted - self.commands.keys()):
            self.add_command(load(name), name)
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: Any) -> None:
        command = super().invoke
        raise typer.Exit(exit_code_of(lambda: command(ctx)))


app = typer.Typer(
    name="mmp",
    cls=Commands,
    no_args_is_help=True,
    epilog="Exit codes: 0 done, 1 failed, 2 wrong use, 3 some inputs failed or were left out, "
    "4 backend not available, 130 interrupted, 143 terminated.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
        warnings.simplefilter("always", PictureWarning)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # file names may hold any bytes
    try:
        with remarks_noted(Printer().note):
            app(prog_name="mmp")
    finally:
        discard_unwritten()
