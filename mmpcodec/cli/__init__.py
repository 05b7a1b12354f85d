"""The command line, one module a command; the only place that prints.

Imports nothing but typer at the top, so that ``mmp --help`` starts at once; what a command needs
it imports when it runs. Leaves work to the library: see ``batch`` for how a command goes through
its inputs, ``output`` for how files are written, ``exits`` for what it all returns.
"""

import io
import sys
import warnings
from typing import Annotated

import typer

import mmpcodec
from mmpcodec.cli.commands import (
    budget,
    compare,
    decode,
    doctor,
    encode,
    highlight,
    info,
    median,
    pack,
    report,
    solve,
    sweep,
)
from mmpcodec.cli.exits import CommandGroup, discard_unwritten

app = typer.Typer(
    name="mmp",
    cls=CommandGroup,
    no_args_is_help=True,
    epilog="Exit codes: 0 done, 1 failed, 2 wrong use, 3 some of the inputs failed, "
    "4 backend not available, 130 interrupted.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    encode.encode,
    decode.decode,
    info.info,
    compare.compare,
    sweep.sweep,
    report.report,
    highlight.highlight,
    median.median,
    budget.budget,
    pack.pack,
    doctor.doctor,
):
    app.command()(command)
app.add_typer(solve.app)


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
    """Code gray pictures with MMP: a segmentation tree and dictionaries that learn."""


def main() -> None:
    """Run the program on the arguments of this process."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # what matters to the user is an error line
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files may be any bytes
    try:
        app(prog_name="mmp")
    finally:
        discard_unwritten()
