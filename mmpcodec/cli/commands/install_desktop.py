"""``mmp install-desktop``: tell file managers and ``file`` about mmp pictures, or undo that."""

import sys
from typing import Annotated

import typer

from mmpcodec.cli import options
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.printing import Printer
from mmpcodec.errors import FileError, MmpError

WITHOUT = ("win32", "darwin")
"""Systems whose desktops do not follow freedesktop.org."""


def install_desktop(
    undo: Annotated[
        bool, typer.Option("--undo", help="Remove what this command has installed.")
    ] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Tell file managers and `file` about mmp pictures.

    Installs for this user, in XDG_DATA_HOME or ~/.local/share: the MIME type image/x-mmp, a
    thumbnailer that calls `mmp thumbnail`, and patterns for `file`, which are added to ~/.magic as
    well. Other lines of ~/.magic stay. A second call changes nothing. `mmp install-desktop --undo`
    removes all of it.
    """
    from mmpcodec.cli.desktop import Desktop

    if sys.platform in WITHOUT:
        raise MmpError("install-desktop: is for desktops that follow freedesktop.org")
    printer = Printer(as_json, quiet)
    desktop = Desktop()
    count = 0
    try:
        for change in desktop.undo() if undo else desktop.install():
            count += 1
            if change.state or as_json:
                printer.show(change)
            else:
                printer.note(change.text(False))
    except OSError as error:
        raise FileError.from_os(str(error.filename or desktop.data), error) from error
    if not count:
        printer.note("nothing is installed")
    return ExitCode.DONE
