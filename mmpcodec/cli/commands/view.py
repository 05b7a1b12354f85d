"""``mmp view``: show pictures in the browser, from a server of this machine."""

import contextlib
import tempfile
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from mmpcodec.cli import options
from mmpcodec.cli.commands.highlight import Offset, check_offset
from mmpcodec.cli.completion import files as files_ending
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import RUNNING
from mmpcodec.cli.inputs.folders import SYSTEM, InputKind
from mmpcodec.cli.jobs import Job, inputs_together
from mmpcodec.cli.printing import Printer, counted
from mmpcodec.cli.work import tell_left_out
from mmpcodec.errors import FileError, ParameterError
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD, printable

VIEWED = (".mmp", ".png", ".jpg", ".jpeg", ".webp")
"""Suffixes of the files that pages show."""

Viewed = Annotated[
    list[str],
    typer.Argument(
        metavar="IN",
        help="mmp files, pictures that browsers show (PNG, JPEG, WebP), and folders of them.",
        autocompletion=files_ending(VIEWED),
    ),
]
RegionCount = Annotated[
    int,
    typer.Option(
        "--regions",
        "-k",
        min=0,
        metavar="K",
        help="Largest number of bright regions of a picture; 0 searches none.",
    ),
]


def viewed(inputs: Sequence[str], offset: str) -> tuple[list[Job], list[Job]]:
    """Return the files to show and what else folders hold, and check the offset of bright regions.

    Raises
    ------
    ParameterError
        If an input is standard input or a file of another kind, or comes twice, or the offset is
        invalid.
    FileError
        If an input cannot be found.
    """
    check_offset(offset)
    if STANDARD in inputs:
        raise ParameterError(f"{STANDARD}: standard input cannot be shown; give files or folders")
    kind = InputKind("picture that a browser shows", VIEWED)
    jobs, others = inputs_together(inputs, kind)
    for job in jobs:
        if job.source not in inputs or kind.holds(job.below):
            continue
        at_url = stores.is_url(job.source)
        reason = kind.at_url(job.below) if at_url else kind.of_file(job.source)
        if reason not in (None, SYSTEM):
            raise ParameterError(
                f"{job.name}: is {reason.what}; pages show mmp, PNG, JPEG and WebP"
            )
    return jobs, others


@contextlib.contextmanager
def leading_to(address: str) -> Iterator[str]:
    """Give the address of a page in a file that leads to an address, until the end.

    The arguments of a browser can be read by all users of the machine, the file only by this one.
    """
    from mmpcodec.web.pages import redirect

    with tempfile.TemporaryDirectory(prefix="mmp-view-") as folder:  # of mode 0700
        path = Path(folder) / "open.html"
        path.touch(0o600)
        path.write_text(redirect(address), encoding="utf-8")
        yield path.as_uri()


def view(
    inputs: Viewed,
    regions: RegionCount = 3,
    offset: Offset = "0.5",
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="Port of the server; 0 takes a free one.",
            rich_help_panel=RUNNING,
        ),
    ] = 0,
    no_open: Annotated[
        bool,
        typer.Option(
            "--no-open", help="Print the address, open no browser.", rich_help_panel=RUNNING
        ),
    ] = False,
    iiif: Annotated[
        bool,
        typer.Option(
            "--iiif",
            help="Serve tiles for other viewers, too: IIIF Image API 3 and Deep Zoom; print where.",
        ),
    ] = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Show pictures in the browser.

    Serves a page for the default browser of this machine until Ctrl-C. The page shows pictures to
    the pixel, with the samples under the pointer, beside each other or with a wipe. Pages, slices
    and frames of one file have a slider, a list and keys; frames play. Where a file says what its
    samples measure, the page has Hounsfield units and windows, and millimetres where it says how
    large pixels are. Layers show how a file was coded. Of a picture in tiles, only the tiles in
    view are read. Other machines and other sites cannot read the page, and nothing else is asked of
    the network.
    """
    from mmpcodec.web import parts

    parts.check_decoder("view")

    from mmpcodec.web.facts import RegionSearch
    from mmpcodec.web.server import HOST, PageServer, ServedFile
    from mmpcodec.web.tiles import LISTED

    jobs, others = viewed(inputs, offset)
    tell_left_out(others, Printer(quiet=quiet))
    files = [ServedFile(job.source, printable(job.below)) for job in jobs]
    try:
        server = PageServer(files, port, RegionSearch(regions, offset), tiled=iiif)
    except FileError:
        raise
    except OSError as error:
        place = error.filename or f"{HOST}, port {port}"
        raise FileError.from_os(str(place), error) from error
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with contextlib.ExitStack() as opened:
                if no_open or not webbrowser.open(opened.enter_context(leading_to(server.address))):
                    print(server.address, flush=True)
                elif not quiet:
                    shown = counted(len(files), "file")
                    print(f"{shown} at {server.address}; Ctrl-C ends", flush=True)
                if iiif:
                    print(f"{server.address}{LISTED} lists the addresses of tiles", flush=True)
                threading.Event().wait()
        except KeyboardInterrupt as interrupt:
            if type(interrupt) is not KeyboardInterrupt:  # SIGTERM
                raise
        finally:
            server.shutdown()
    return ExitCode.DONE
