"""``mmp pack``: what goes on a medium, or on several."""

import os
import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from mmpcodec.cli import options, output
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.jobs import Job, check
from mmpcodec.cli.printing import Printer
from mmpcodec.errors import ParameterError

ALL = "all"
MAX_VOLUMES = 10_000


def pack(
    inputs: Annotated[list[str], typer.Argument(metavar="FILE", help="Files and folders.")],
    volume: Annotated[
        list[str],
        typer.Option(metavar="SIZE", help="Room on a medium: 4.7GB, 650MiB; again for more media."),
    ],
    volumes: Annotated[
        str,
        typer.Option(
            metavar="N|all", help="So many media of that size; all: until every file has a place."
        ),
    ] = "1",
    value: Annotated[
        str | None,
        typer.Option(
            metavar="CSV",
            help="Lines name,value: take what is worth most; without it, fill the media.",
        ),
    ] = None,
    sector: Annotated[
        int,
        typer.Option(
            min=1, max=1 << 30, metavar="BYTES", help="A file takes whole sectors of a medium."
        ),
    ] = 2048,
    seconds: Annotated[
        float,
        typer.Option(min=0, metavar="S", help="Time for a medium, with values; then the best yet."),
    ] = 60.0,
    copy_to: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Copy the files there, of several media to folders 1, 2, ..."
        ),
    ] = None,
    lists: Annotated[
        str | None,
        typer.Option(
            "--list",
            metavar="FILE",
            help="Write the names, one a line; of several media to FILE with .1, .2, ... before "
            "its extension.",
        ),
    ] = None,
    backend: options.BackendName = "auto",
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Choose files that fit on a medium, as full as possible or worth the most.

    The answer is exact for each medium; several are filled one after the other. Folders are gone
    through with those below them. Nothing is copied or written unless asked for.
    """
    from mmpcodec.planning import media, packing
    from mmpcodec.quantities import read_table

    rooms, endless = rooms_of(volume, volumes)
    entries = media.entries_of(inputs)
    table = None
    if value is not None:
        table = read_table(output.read(value), output.shown(value, "stdin"), "value")
    values = None if table is None else media.values_of(table, entries)

    sizes = [entry.size for entry in entries]
    more: dict[str, Any] = {"sector": sector, "time_limit": seconds, "backend": backend}
    if endless:
        found = packing.pack_all(sizes, rooms[0], values=values, **more)
    else:
        found = packing.pack(sizes, rooms, values=values, **more)

    printer = Printer(as_json, quiet, False, lists == output.STANDARD)
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
                f"{table.file}: {len(unused)} of the names are no inputs, as {unused[0]!r}"
            )
    return ExitCode.PARTLY_FAILED if endless and found.too_large else ExitCode.DONE


def rooms_of(volume: Sequence[str], volumes: str) -> tuple[list[int], bool]:
    """Bytes of each medium, and whether there are as many as it takes.

    Raises
    ------
    ParameterError
        For sizes or a number that mean nothing, or a number beside several sizes.
    """
    from mmpcodec.quantities import parse_bytes

    rooms = [parse_bytes("volume", text) for text in volume]
    if volumes == "1":
        return rooms, False
    if len(rooms) > 1:
        raise ParameterError(f"volumes = {volumes!r}: is for media of one size, not {len(rooms)}")
    if volumes == ALL:
        return rooms, True
    if not (re.fullmatch(r"\d{1,9}", volumes, re.ASCII) and 1 <= int(volumes) <= MAX_VOLUMES):
        raise ParameterError(f"volumes = {volumes!r}: must be from 1 to {MAX_VOLUMES}, or {ALL}")
    return rooms * int(volumes), False


def list_names(lists: str, volumes: int) -> list[str]:
    """The file of names of each volume."""
    if volumes == 1:
        return [lists]
    if lists == output.STANDARD:
        raise ParameterError(f"--list -: is one output for {volumes} volumes")
    stem, extension = os.path.splitext(lists)
    return [f"{stem}.{number}{extension}" for number in range(1, volumes + 1)]


def folders_of(copy_to: str, volumes: int) -> list[str]:
    """The folder of each volume."""
    if volumes == 1:
        return [copy_to]
    return [os.path.join(copy_to, str(number)) for number in range(1, volumes + 1)]
