"""Files of ``mmp pack``: list the files, check and make the copies, report the volumes."""

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from math import gcd
from typing import Any

from mmpcodec.errors import FileError, ParameterError
from mmpcodec.planning.packing import Packing
from mmpcodec.planning.quantities import ONE, NumberTable, decimal
from mmpcodec.runtime.files import STANDARD, check_folder, name_new, part_of, printable
from mmpcodec.solvers.knapsack.problem import MAX_PROFITS


@dataclass(frozen=True)
class Entry:
    """A file to pack.

    Parameters
    ----------
    path : str
    name : str
        Path on the volume: relative to the folder on the command line that contains the file.
    size : int
        Size of the file in bytes.
    """

    path: str
    name: str
    size: int


@dataclass(frozen=True)
class Packed:
    """Result of packing: the volumes and their files; values are in millionths."""

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
                    "backend": volume.backend,
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
        return f"{printable(entry.path)}: {entry.size} bytes{value}"


def entries_of(files: Sequence[tuple[str, str]]) -> list[Entry]:
    """Return the entries of files, each given by its path and its name on a volume.

    Raises
    ------
    FileError
        When a path cannot be read or is no file.
    ParameterError
        When two files, or a file and a folder, would have the same name on a volume.
    """
    entries = [entry_of(path, name) for path, name in files]
    names: dict[str, str] = {}
    for entry in entries:
        if entry.name in names:
            raise ParameterError(
                f"{names[entry.name]} and {entry.path}: both would be {entry.name} on a volume"
            )
        names[entry.name] = entry.path
    for entry in entries:
        for folder in folders_above(entry.name):
            if folder in names:
                raise ParameterError(
                    f"{names[folder]} and {entry.path}: {folder} would be a file and a folder on a "
                    "volume"
                )
    return entries


def folders_above(name: str) -> Iterator[str]:
    """Yield the folders that contain a name on a volume, innermost first."""
    while name := os.path.dirname(name):
        yield name


def entry_of(path: str, name: str) -> Entry:
    """Return the entry of a file."""
    try:
        size = os.stat(path).st_size
    except OSError as error:
        raise FileError.from_os(path, error) from error
    if not os.path.isfile(path):
        raise FileError.because(errno.EINVAL, path, "is no regular file")
    return Entry(path, name, size)


def values_of(table: NumberTable, entries: Sequence[Entry]) -> list[int]:
    """Return the value of each file in millionths, found in the table by path or by name.

    Raises
    ------
    ParameterError
        When a file has no value, or the values exceed the range of the solver.
    """
    named = [
        entry.name
        if entry.path not in table.numbers and entry.name in table.numbers
        else entry.path
        for entry in entries
    ]
    values = table.of(named)
    most = MAX_PROFITS * (gcd(*values) or 1)
    if sum(values) > most:
        raise ParameterError(
            f"{table.file}: values add up to {decimal(sum(values))}: must be at most "
            f"{decimal(most)}; with fewer decimals they may be larger"
        )
    return values


def list_of(entries: Sequence[Entry], files: Sequence[int]) -> bytes:
    """Return the paths of some files, one path a line.

    Raises
    ------
    ParameterError
        When a path contains a line break.
    """
    paths = [entries[index].path for index in files]
    for path in paths:
        if "\n" in path or "\r" in path:
            raise ParameterError(
                f"--list: {path!r} has a line break, and a list has one path a line"
            )
    return "".join(f"{path}\n" for path in paths).encode(errors="surrogateescape")


def copies_of(
    entries: Sequence[Entry], found: Packing, folders: Sequence[str]
) -> list[tuple[Entry, str]]:
    """Return the copies to make, as pairs of an entry and the path of its copy."""
    return [
        (entries[index], os.path.join(folder, entries[index].name))
        for folder, volume in zip(folders, found.volumes, strict=True)
        for index in volume.files
    ]


def check_lists(
    names: Sequence[str], copies: Sequence[tuple[Entry, str]], folders: Sequence[str]
) -> None:
    """Check that no list file has the path of a copy or of a folder of copies.

    Raises
    ------
    ParameterError
        When a list file has such a path.
    """
    taken = {os.path.realpath(path) for path in folders}
    for _, target in copies:
        while (place := os.path.realpath(target)) not in taken:
            taken.add(place)
            target = os.path.dirname(target)
    for name in names:
        if name != STANDARD and os.path.realpath(name) in taken:
            raise ParameterError(f"--list and --copy-to: both would write {name}")


def check_copies(copies: Sequence[tuple[Entry, str]], copy_to: str, force: bool) -> None:
    """Check before the first copy that all copies can be made.

    Raises
    ------
    ParameterError
        When a copy would overwrite an original.
    FileError
        When an original cannot be read, a copy exists and ``force`` is not set, a folder is not
        writable or cannot be made, or the space does not suffice.
    """
    check_folder(copy_to)
    originals = {os.path.realpath(entry.path) for entry, _ in copies}
    for _, target in copies:
        if os.path.realpath(target) in originals:
            raise ParameterError(f"{target}: is an input, and would be overwritten")
        if os.path.isdir(target):
            raise FileError.because(errno.EISDIR, target, "is a folder")
        if os.path.lexists(target) and not force:
            raise FileError.because(errno.EEXIST, target, "exists; -f overwrites it")
    for entry, _ in copies:
        try:
            open(entry.path, "rb").close()
        except OSError as error:
            raise FileError.from_os(entry.path, error) from error
    for folder in dict.fromkeys(os.path.dirname(target) for _, target in copies):
        check_folder(folder)
    needed = sum(entry.size for entry, _ in copies)
    there = copy_to
    while not os.path.isdir(there):
        there = os.path.dirname(there) or os.curdir
    free = shutil.disk_usage(there).free
    if needed > free:
        reason = f"has {free} bytes free, the copies need {needed}"
        raise FileError.because(errno.ENOSPC, copy_to, reason)


def _copy_privately(source: str, temporary: str, target: str) -> None:
    """Copy a file, whose rights and those of a file to replace bound the rights of the copy."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    os.close(os.open(temporary, flags, 0o600))
    shutil.copyfile(source, temporary)
    rights = stat.S_IMODE(os.stat(source).st_mode) & 0o777
    if os.path.exists(target):
        rights &= stat.S_IMODE(os.stat(target).st_mode)
    shutil.copystat(source, temporary)
    os.chmod(temporary, rights)


def copy(copies: Sequence[tuple[Entry, str]], force: bool) -> None:
    """Copy files with their times. A copy has no wider rights than a file that it replaces.

    The copies have temporary names until the last one is complete. A failure before that removes
    all copies.

    Raises
    ------
    FileError
        When a copy fails, or the size of a file changed since the volumes were filled.
    """
    with ExitStack() as undo:
        made = []
        for entry, target in copies:
            try:
                make_folder(os.path.dirname(target) or os.curdir, undo)
            except OSError as error:
                raise FileError.from_os(error.filename or target, error) from error
            temporary = part_of(target)
            undo.callback(remove, os.unlink, temporary)
            try:
                _copy_privately(entry.path, temporary, target)
            except OSError as error:
                at_source = error.filename == entry.path and error.filename2 is None
                name = entry.path if at_source else f"{entry.path} -> {target}"
                raise FileError.from_os(name, error) from error
            if os.path.getsize(temporary) != entry.size:
                raise FileError(f"{entry.path}: has no longer {entry.size} bytes")
            made.append((temporary, target))
        for _, target in made:
            if os.path.lexists(target) and not force:
                reason = "exists since a moment ago; -f overwrites it"
                raise FileError.because(errno.EEXIST, target, reason)
        for temporary, target in made:
            try:
                if force:
                    os.replace(temporary, target)
                else:
                    name_new(temporary, target)
            except OSError as error:
                raise FileError.from_os(target, error) from error
        undo.pop_all()


def make_folder(folder: str, undo: ExitStack) -> None:
    """Create a folder and missing parents, and register their removal with ``undo``."""
    if os.path.isdir(folder):
        return
    make_folder(os.path.dirname(folder) or os.curdir, undo)
    os.mkdir(folder)
    undo.callback(remove, os.rmdir, folder)


def remove(how: Callable[[str], None], path: str) -> None:
    """Remove a file or folder that may not exist."""
    with suppress(OSError):
        how(path)
