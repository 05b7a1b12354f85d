"""Starts: trained states of the models of predicted blocks, in files of their own.

Source: section "Starts" of ``docs/format/format.md``.
"""

import errno
import hashlib
import os
import stat
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mmpcodec.errors import (
    BadMagic,
    CorruptStream,
    FileError,
    FormatError,
    ParameterError,
    TruncatedStream,
)

SECTION = "Starts"
MAGIC = b"\x89MST\r\n\x1a\n"
SUFFIX = ".mmpstart"
NAME_BYTES = 8
"""Number of bytes of the name of a start."""
CRC_BYTES = 4
MOST_BYTES = 1 << 20
"""Most bytes of a file that is read as a start."""
VARIABLE = "MMP_STARTS"
"""Environment variable with files of starts and folders of them."""


@dataclass(frozen=True)
class Start:
    """Trained states from which the models of predicted blocks begin.

    Parameters
    ----------
    states : bytes
        The tables of states, as the section "Start states" of the format lays them out. Tables of
        another size than this version has are refused when they are used.

    Raises
    ------
    ParameterError
        If the states are not bytes, or empty.

    Examples
    --------
    >>> import mmpcodec
    >>> start = mmpcodec.Start(bytes(100))
    >>> mmpcodec.Start.read(start.file) == start, len(start.name)
    (True, 8)
    """

    states: bytes

    def __post_init__(self):
        if not isinstance(self.states, bytes) or not self.states:
            raise ParameterError(
                f"states of type {type(self.states).__name__}: must be bytes, at least one"
            )

    @cached_property
    def file(self) -> bytes:
        """The bytes of the file of the start."""
        checked = MAGIC + self.states
        return checked + zlib.crc32(checked).to_bytes(CRC_BYTES, "big")

    @cached_property
    def name(self) -> bytes:
        """The name by which files call the start: the first bytes of the SHA-256 of its file."""
        return hashlib.sha256(self.file).digest()[:NAME_BYTES]

    def __repr__(self):
        return f"Start({self.name.hex()})"

    @classmethod
    def read(cls, data: bytes) -> "Start":
        """Return the start whose file has these bytes.

        Raises
        ------
        FormatError
            If they are not the file of a start, or damaged.
        """
        magic = data[: len(MAGIC)]
        if magic != MAGIC[: len(magic)]:
            raise BadMagic(SECTION, f"magic is {magic.hex(' ')}, not {MAGIC.hex(' ')}", 0)
        if len(data) <= len(MAGIC) + CRC_BYTES:
            raise TruncatedStream(SECTION, f"file has only {len(data)} bytes", len(data))
        at = len(data) - CRC_BYTES
        stored, computed = int.from_bytes(data[at:], "big"), zlib.crc32(data[:at])
        if stored != computed:
            raise CorruptStream(SECTION, f"CRC is {stored:08x}, file has {computed:08x}", at)
        return cls(bytes(data[len(MAGIC) : at]))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Start":
        """Read the file of a start.

        Raises
        ------
        FileError
            If the file cannot be read, or is none, as a pipe is.
        FormatError
            If it is not the file of a start, or damaged; the message names the file.
        """
        try:
            with open(path, "rb", opener=_at_once) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise FileError.because(errno.EINVAL, os.fspath(path), "is no regular file")
                data = file.read(MOST_BYTES)
        except FileError:
            raise
        except OSError as error:
            raise FileError.from_os(os.fspath(path), error) from error
        try:
            return cls.read(data)
        except FormatError as error:
            raise error.within(os.fspath(path)) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file of the start.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        try:
            Path(path).write_bytes(self.file)
        except OSError as error:
            raise FileError.from_os(os.fspath(path), error) from error


def _at_once(path: str, flags: int) -> int:
    """Open a file; that of a pipe without waiting for its writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def check_starts(starts: Sequence[Start]) -> tuple[Start, ...]:
    """Return starts as a tuple.

    Raises
    ------
    ParameterError
        If they are not a sequence of ``Start``.
    """
    if not isinstance(starts, Sequence) or not all(isinstance(one, Start) for one in starts):
        raise ParameterError(f"starts of type {type(starts).__name__}: must be a sequence of Start")
    return tuple(starts)


def start_named(name: bytes, given: Sequence[Start] = ()) -> Start:
    """Return the start of a name: a given one, or one that ``MMP_STARTS`` names.

    Raises
    ------
    CorruptStream
        If there is none. The message gives the name, and says how to pass a start.
    ParameterError
        If ``MMP_STARTS`` names a file that cannot be read or is not a start. In a folder such files
        are skipped.
    """
    for start in given:
        if start.name == name:
            return start
    for path in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        for start in _starts_at(Path(path)):
            if start.name == name:
                return start
    raise CorruptStream(
        SECTION,
        f"file needs the start {name.hex()}, which is not there; pass its file with --start FILE, "
        f"starts=[Start.load(FILE)], or in a folder that the variable {VARIABLE} names",
    )


def _starts_at(path: Path) -> list[Start]:
    """Return the start of a file, or all good ones of a folder."""
    if not path.is_dir():
        try:
            return [Start.load(path)]
        except (FileError, FormatError) as error:
            raise ParameterError(f"variable {VARIABLE}: {error}") from error
    found = []
    for file in sorted(path.glob(f"*{SUFFIX}")):
        try:
            found.append(Start.load(file))
        except (FileError, FormatError):
            continue
    return found
