"""Writing outputs so that nothing is lost: a file is there whole or not at all.

A file is written under another name in the folder of its target and renamed. Pipes and devices
are written directly.
"""

import contextlib
import mmap
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

from mmpcodec.cli.exits import FileError
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.files import STANDARD as STANDARD
from mmpcodec.runtime.files import written_whole

TO_TERMINAL = "is a terminal, and binary data would garble it; redirect it or use -o FILE"


def read(source: str) -> bytes:
    """All bytes of a file or of standard input.

    Raises
    ------
    FileError
        When it cannot be read.
    """
    try:
        if source == STANDARD:
            if sys.stdin is None:
                raise FileError("stdin: is closed")
            return sys.stdin.buffer.read()
        with open(source, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise FileError.from_os(shown(source, "stdin"), error) from error


def mapped(source: str) -> bytes | mmap.mmap:
    """As ``read``, of which only what is looked at is read, where the source is a file."""
    if source == STANDARD or not os.path.isfile(source) or not os.path.getsize(source):
        return read(source)
    try:
        with open(source, "rb") as stream:
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise FileError.from_os(source, error) from error


def shown(name: str, standard: str) -> str:
    """A file's name in messages, where ``standard`` stands for ``-``."""
    return standard if name == STANDARD else name


def shown_pair(source: str, target: str) -> str:
    """Input and output in messages."""
    return f"{shown(source, 'stdin')} -> {shown(target, 'stdout')}"


def check(target: str, *, force: bool) -> None:
    """Find out before the work whether an output can be written.

    Raises
    ------
    ParameterError
        When it is a terminal.
    FileError
        When it exists and ``force`` is not given, or its folder does not take it.
    """
    if target == STANDARD:
        if sys.stdout is None:
            raise FileError("stdout: is closed")
        if sys.stdout.isatty():
            raise ParameterError(f"stdout: {TO_TERMINAL}")
        return
    folder = os.path.dirname(target) or os.curdir
    if os.path.isdir(target):
        raise FileError(f"{target}: is a folder; -O takes folders")
    if os.path.isfile(target) and not force:
        raise FileError(f"{target}: exists; -f overwrites it")
    if not os.path.isdir(folder):
        raise FileError(f"{folder}: is {'not a' if os.path.exists(folder) else 'no such'} folder")
    if not _is_device(target) and not os.access(folder, os.W_OK):
        raise FileError(f"{folder}: is not writable")


def write(target: str, data: bytes, *, force: bool) -> None:
    """Write a whole output; see ``opened``."""
    with opened(target, force=force) as stream:
        stream.write(data)


@contextlib.contextmanager
def opened(target: str, *, force: bool) -> Iterator[BinaryIO]:
    """A stream that becomes a whole output when the context ends without an error.

    Parameters
    ----------
    target : str
        A path, or ``-`` for standard output.
    force : bool
        Whether a file that exists may be overwritten.

    Raises
    ------
    FileError
        When it cannot be written; then no file is left behind.
    BrokenPipeError
        When nobody reads it.
    """
    try:
        if target == STANDARD:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        elif _is_device(target):
            with _device(target) as stream:
                yield stream
        else:
            with _renamed(target, force) as stream:
                yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileError.from_os(shown(target, "stdout"), error) from error


def _is_device(target: str) -> bool:
    return os.path.exists(target) and not os.path.isfile(target)


@contextlib.contextmanager
def _device(target: str) -> Iterator[BinaryIO]:
    with open(target, "wb") as stream:
        if stream.isatty():
            raise FileError(f"{target}: {TO_TERMINAL}")
        yield stream


@contextlib.contextmanager
def _renamed(target: str, force: bool) -> Iterator[BinaryIO]:
    try:
        with written_whole(target, overwrite=force) as stream:
            yield stream
    except FileExistsError as error:
        raise FileError(f"{target}: exists since a moment ago; -f overwrites it") from error
