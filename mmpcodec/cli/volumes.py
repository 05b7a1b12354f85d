"""The files that ``mmp pack`` packs, how they are copied, and what it says of the volumes."""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mmpcodec.cli import output
from mmpcodec.cli.exits import FileError
from mmpcodec.errors import ParameterError
from mmpcodec.packing import Packing
from mmpcodec.quantities import ONE, Table


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
    found: Packing
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


def copies_of(
    entries: Sequence[Entry], found: Packing, folders: Sequence[str]
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
