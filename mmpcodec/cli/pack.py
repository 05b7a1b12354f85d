"""``mmp pack``: what goes on a medium, or on several."""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mmpcodec.cli import options, output
from mmpcodec.cli.exits import ExitCode, FileError
from mmpcodec.cli.plan import Job, check
from mmpcodec.cli.printing import Printer
from mmpcodec.errors import ParameterError
from mmpcodec.quantities import ONE, Table, parse_bytes, read_table

if TYPE_CHECKING:
    from mmpcodec.packing import Packing

ALL = "all"
MAX_VOLUMES = 10_000


@dataclass(frozen=True)
class Entry:
    """A file to pack.

    Parameters
    ----------
    path : str
    name : str
        What it is called on the volume: below a folder that was given, its path from there.
    size : int
        In bytes.
    """

    path: str
    name: str
    size: int


@dataclass(frozen=True)
class Packed:
    """The volumes and what is on them; values are in millionths."""

    entries: Sequence[Entry]
    found: "Packing"
    sector: int
    values: Sequence[int] | None
    copied: Sequence[str] | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "sector": self.sector,
            "volumes": [
                {
                    "number": number,
                    "capacity": volume.capacity,
                    "bytes": sum(self.entries[index].size for index in volume.files),
                    "used": volume.used,
                    "left": volume.capacity - volume.used,
                    "value": self.value(volume.value),
                    "proven": volume.proven,
                    "folder": None if self.copied is None else self.copied[number - 1],
                    "files": [self.described(index) for index in volume.files],
                }
                for number, volume in enumerate(self.found.volumes, start=1)
            ],
            "left_out": [self.described(index) for index in self.found.left_out],
            "too_large": [self.described(index) for index in self.found.too_large],
        }

    def described(self, index: int) -> dict[str, Any]:
        entry = self.entries[index]
        value = None if self.values is None else self.value(self.values[index])
        return {"file": entry.path, "name": entry.name, "bytes": entry.size, "value": value}

    def value(self, millionths: int) -> float | None:
        return None if self.values is None else millionths / ONE

    def text(self, verbose: bool) -> str:
        lines = []
        for number, volume in enumerate(self.found.volumes, start=1):
            count = f"{len(volume.files)} file{'' if len(volume.files) == 1 else 's'}"
            line = (
                f"volume {number}: {count}, {volume.used} of {volume.capacity} bytes, "
                f"{volume.capacity - volume.used} left"
            )
            if self.values is None:
                line += "" if volume.proven else ", not proven to be the fullest"
            else:
                line += f", value {volume.value / ONE:g}"
                line += "" if volume.proven else f", not proven: at most {volume.most / ONE:g}"
            lines.append(line)
            lines += [f"  {self.entry(index)}" for index in volume.files]
        for title, files in (
            ("left out", self.found.left_out),
            ("too large for any volume", self.found.too_large),
        ):
            if files:
                lines.append(f"{title}: {len(files)}")
                lines += [f"  {self.entry(index)}" for index in files]
        return "\n".join(lines)

    def entry(self, index: int) -> str:
        entry = self.entries[index]
        value = "" if self.values is None else f", value {self.values[index] / ONE:g}"
        return f"{entry.path}: {entry.size} bytes{value}"


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
    rooms, endless = rooms_of(volume, volumes)
    entries = entries_of(inputs)
    table = None
    if value is not None:
        table = read_table(output.read(value), output.shown(value, "stdin"), "value")
    values = None if table is None else values_of(table, entries)

    from mmpcodec import packing

    sizes = [entry.size for entry in entries]
    more: dict[str, Any] = {"sector": sector, "time_limit": seconds, "backend": backend}
    if endless:
        found = packing.pack_all(sizes, rooms[0], values=values, **more)
    else:
        found = packing.pack(sizes, rooms, values=values, **more)

    printer = Printer(as_json, quiet, False, lists == output.STANDARD)
    named = [] if lists is None else list_names(lists, len(found.volumes))
    folders = None if copy_to is None else folders_of(copy_to, len(found.volumes))
    copies = [] if folders is None else copies_of(entries, found, folders)
    given = [Job(entry.path) for entry in entries] + ([] if value is None else [Job(value)])
    check_copies(copies, copy_to, force)
    check([*given, *(Job("--list", name) for name in named)], force=force)
    for name, one in zip(named, found.volumes, strict=False):
        lines = "".join(f"{entries[index].path}\n" for index in one.files)
        output.write(name, lines.encode(errors="surrogateescape"), force=force)
    for entry, target in copies:
        copy(entry, target, force)
    printer.show(Packed(entries, found, sector, values, folders))
    if table is not None:
        unused = table.unused([entry.path for entry in entries])
        if unused:
            printer.note(f"{value}: {len(unused)} of the names are no inputs, as {unused[0]!r}")
    return ExitCode.PARTLY_FAILED if endless and found.too_large else ExitCode.DONE


def rooms_of(volume: Sequence[str], volumes: str) -> tuple[list[int], bool]:
    """Bytes of each medium, and whether there are as many as it takes.

    Raises
    ------
    ParameterError
        For sizes or a number that mean nothing, or a number beside several sizes.
    """
    rooms = [parse_bytes("volume", text) for text in volume]
    if volumes == "1":
        return rooms, False
    if len(rooms) > 1:
        raise ParameterError(f"volumes = {volumes!r}: is for media of one size, not {len(rooms)}")
    if volumes == ALL:
        return rooms, True
    if not (volumes.isascii() and volumes.isdigit() and 1 <= int(volumes) <= MAX_VOLUMES):
        raise ParameterError(f"volumes = {volumes!r}: must be from 1 to {MAX_VOLUMES}, or {ALL}")
    return rooms * int(volumes), False


def entries_of(inputs: Sequence[str]) -> list[Entry]:
    """The files, and those in folders and below, sorted there.

    Raises
    ------
    FileError
        When one cannot be looked at, is neither file nor folder, or a folder holds no file.
    ParameterError
        When a file comes twice, or two would have one name on a volume.
    """
    entries: list[Entry] = []
    for given in inputs:
        if given == output.STANDARD:
            raise ParameterError("stdin: is no file that could be packed")
        entries += folder_entries(given) if os.path.isdir(given) else [entry_of(given, "")]
    paths: dict[str, str] = {}
    names: dict[str, str] = {}
    for entry in entries:
        place = os.path.realpath(entry.path)
        if place in paths:
            raise ParameterError(f"{entry.path}: comes twice, also as {paths[place]}")
        paths[place] = entry.path
        if entry.name in names:
            raise ParameterError(
                f"{names[entry.name]} and {entry.path}: both would be {entry.name} on a volume"
            )
        names[entry.name] = entry.path
    return entries


def folder_entries(folder: str) -> list[Entry]:
    """The files of a folder and of those below, sorted."""

    def refuse(error: OSError) -> None:
        raise FileError.from_os(error.filename or folder, error) from error

    found = [
        os.path.join(place, name)
        for place, _, names in os.walk(folder, onerror=refuse)
        for name in names
    ]
    if not found:
        raise FileError(f"{folder}: holds no file")
    return [entry_of(path, folder) for path in sorted(found)]


def entry_of(path: str, folder: str) -> Entry:
    """A file, below a folder that was given or by itself."""
    try:
        size = os.stat(path).st_size
    except OSError as error:
        raise FileError.from_os(path, error) from error
    if not os.path.isfile(path):
        raise FileError(f"{path}: is no regular file")
    return Entry(path, os.path.relpath(path, folder) if folder else os.path.basename(path), size)


def values_of(table: Table, entries: Sequence[Entry]) -> list[int]:
    """The value of each file, by its path, its name on the volume, or its last part."""
    named = [
        entry.name
        if entry.path not in table.numbers and entry.name in table.numbers
        else entry.path
        for entry in entries
    ]
    return table.of(named)


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


def copies_of(
    entries: Sequence[Entry], found: "Packing", folders: Sequence[str]
) -> list[tuple[Entry, str]]:
    """What is copied where."""
    return [
        (entries[index], os.path.join(folder, entries[index].name))
        for folder, volume in zip(folders, found.volumes, strict=True)
        for index in volume.files
    ]


def check_copies(copies: Sequence[tuple[Entry, str]], copy_to: str | None, force: bool) -> None:
    """Find out before the first copy whether all can be made.

    Raises
    ------
    ParameterError
        When a copy would be its own original, or another's.
    FileError
        When one exists and ``force`` is not given, the folder is none, or has too little room.
    """
    if copy_to is None:
        return
    if not os.path.isdir(copy_to):
        kind = "is not a" if os.path.exists(copy_to) else "is no such"
        raise FileError(f"{copy_to}: {kind} folder")
    originals = {os.path.realpath(entry.path) for entry, _ in copies}
    for _, target in copies:
        if os.path.realpath(target) in originals:
            raise ParameterError(f"{target}: is an input, and would be overwritten")
        if os.path.isdir(target):
            raise FileError(f"{target}: is a folder")
        if os.path.lexists(target) and not force:
            raise FileError(f"{target}: exists; -f overwrites it")
    needed = sum(entry.size for entry, _ in copies)
    free = shutil.disk_usage(copy_to).free
    if needed > free:
        raise FileError(f"{copy_to}: has {free} bytes free, the copies need {needed}")


def copy(entry: Entry, target: str, force: bool) -> None:
    """Copy a file with its times; the copy is there whole or not at all.

    Raises
    ------
    FileError
        When that fails, or the file has another size than it had when the volumes were filled.
    """
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".mmp-{os.urandom(8).hex()}.part")
    try:
        os.makedirs(folder, exist_ok=True)
        try:
            shutil.copy2(entry.path, temporary)
            if os.path.getsize(temporary) != entry.size:
                raise FileError(f"{entry.path}: has no longer {entry.size} bytes")
            if os.path.lexists(target) and not force:
                raise FileError(f"{target}: exists since a moment ago; -f overwrites it")
            os.replace(temporary, target)
        finally:
            with suppress(OSError):
                os.unlink(temporary)
    except OSError as error:
        raise FileError.from_os(target, error) from error
