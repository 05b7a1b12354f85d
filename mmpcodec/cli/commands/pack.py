"""``mmp pack``: choose files that fill one medium or several."""

import os
import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from mmpcodec.cli import options, output
from mmpcodec.cli.completion import words
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import OUTPUT
from mmpcodec.cli.inputs.folders import ANY_FILE
from mmpcodec.cli.jobs import Job, check, inputs_together
from mmpcodec.cli.printing import Printer
from mmpcodec.cli.work import tell_left_out
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.files import STANDARD

ALL = "all"
MAX_VOLUMES = 10_000
DEFAULT_SECONDS = 60.0


def pack(
    inputs: Annotated[list[str], typer.Argument(metavar="FILE", help="Files and folders.")],
    volume: Annotated[
        list[str],
        typer.Option(
            metavar="SIZE", help="Capacity of a medium: 4.7GB, 650MiB; repeat for several media."
        ),
    ],
    volumes: Annotated[
        str,
        typer.Option(
            metavar="N",
            autocompletion=words([ALL]),
            help="Number of media of this size; all takes as many as the files need.",
        ),
    ] = "1",
    value: Annotated[
        str | None,
        typer.Option(
            metavar="CSV",
            help="Lines name,value: maximise the total value; by default the bytes used.",
        ),
    ] = None,
    sector: Annotated[
        int,
        typer.Option(
            min=1,
            max=1 << 30,
            metavar="BYTES",
            help="Size of a sector of the medium; a file takes whole sectors.",
        ),
    ] = 2048,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="S",
            help=f"Time limit per medium with --value, {DEFAULT_SECONDS:g} by default; then the "
            "best choice so far is taken.",
        ),
    ] = None,
    copy_to: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            rich_help_panel=OUTPUT,
            help="Copy the files to DIR, which is made if it is missing; for several media to "
            "folders 1, 2, ... in it.",
        ),
    ] = None,
    lists: Annotated[
        str | None,
        typer.Option(
            "--list",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Write the names of the files, one per line; for several media to FILE with .1, "
            ".2, ... before its extension.",
        ),
    ] = None,
    backend: options.BackendName = "auto",
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Choose files that fill a medium best, or are worth most.

    The choice is optimal for each medium; several media are filled one after the other. Folders
    count with all folders below them. A file of several pictures is one file. Files are copied or
    listed only with --copy-to or --list.
    """
    from mmpcodec.planning import media, packing
    from mmpcodec.planning.quantities import read_table

    rooms, endless = rooms_of(volume, volumes)
    if STANDARD in inputs:
        raise ParameterError("stdin: is no file that could be packed")
    files, others = inputs_together(inputs, ANY_FILE)
    entries = media.entries_of([(job.source, job.below) for job in files])
    table = None
    if value is not None:
        table = read_table(output.read(value), output.shown(value, "stdin"), "value")
    values = None if table is None else media.values_of(table, entries)

    sizes = [entry.size for entry in entries]
    limit = DEFAULT_SECONDS if seconds is None else seconds
    more: dict[str, Any] = {"sector": sector, "time_limit": limit, "backend": backend}
    if endless:
        found = packing.pack_all(sizes, rooms[0], values=values, **more)
    else:
        found = packing.pack(sizes, rooms, values=values, **more)

    printer = Printer(as_json, quiet, False, lists == STANDARD)
    if seconds is not None and value is None:
        printer.note("--seconds: has no effect without --value")
    named = [] if lists is None else list_names(lists, len(found.volumes))
    folders = None if copy_to is None else folders_of(copy_to, len(found.volumes))
    copies = [] if folders is None else media.copies_of(entries, found, folders)
    given = [Job(entry.path) for entry in entries] + ([] if value is None else [Job(value)])
    texts = [media.list_of(entries, one.files) for one in found.volumes] if named else []
    if copy_to is not None:
        media.check_lists(named, copies, [copy_to, *(folders or [])])
        media.check_copies(copies, copy_to, force)
    check([*given, *(Job("--list", name) for name in named)], force=force)
    media.copy(copies, force)
    for name, text in zip(named, texts, strict=True):
        output.write(name, text, force=force)
    printer.show(media.Packed(entries, found, sector, values, folders))
    if table is not None:
        unused = table.unused([each for entry in entries for each in (entry.path, entry.name)])
        if unused:
            printer.note(
                f"{table.file}: {len(unused)} of the names match no input, such as {unused[0]!r}"
            )
    missed = tell_left_out(others, printer)
    partly = missed or (endless and found.too_large)
    return ExitCode.PARTLY_FAILED if partly else ExitCode.DONE


def rooms_of(volume: Sequence[str], volumes: str) -> tuple[list[int], bool]:
    """Return the capacity of each medium in bytes, and whether the number of media is unlimited.

    Raises
    ------
    ParameterError
        If a size or number is out of range, or there are several sizes and a number.
    """
    from mmpcodec.planning.quantities import parse_bytes

    rooms = [parse_bytes("volume", text) for text in volume]
    if volumes == "1":
        return rooms, False
    if len(rooms) > 1:
        raise ParameterError(f"volumes = {volumes!r}: needs a single --volume, not {len(rooms)}")
    if volumes == ALL:
        return rooms, True
    if not (re.fullmatch(r"\d{1,9}", volumes, re.ASCII) and 1 <= int(volumes) <= MAX_VOLUMES):
        raise ParameterError(
            f"volumes = {volumes!r}: must be an integer from 1 to {MAX_VOLUMES}, or {ALL}"
        )
    return rooms * int(volumes), False


def list_names(lists: str, volumes: int) -> list[str]:
    """Return the list file of each medium.

    Raises
    ------
    ParameterError
        If standard output would take several lists.
    """
    if volumes == 1:
        return [lists]
    if lists == STANDARD:
        raise ParameterError(f"--list -: is one output for {volumes} volumes")
    stem, extension = os.path.splitext(lists)
    return [f"{stem}.{number}{extension}" for number in range(1, volumes + 1)]


def folders_of(copy_to: str, volumes: int) -> list[str]:
    """Return the folder of each medium."""
    if volumes == 1:
        return [copy_to]
    return [os.path.join(copy_to, str(number)) for number in range(1, volumes + 1)]
