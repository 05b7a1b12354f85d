"""Read inputs and write outputs. An output file is complete or absent.

A file is written under a temporary name in the folder of its target, then renamed. Pipes and
devices are written directly.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO

from mmpcodec.errors import FileError, MmpError, ParameterError
from mmpcodec.pictures import registry
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import (
    STANDARD,
    ZARR_SUFFIX,
    FileBytes,
    LazyBytes,
    check_folder,
    continued_whole,
    is_read_only,
    is_zarr,
    placed_whole,
    printable,
    written_whole,
)

if TYPE_CHECKING:
    from mmpcodec.limits import DecodeLimits
    from mmpcodec.pictures import Picture

TO_TERMINAL = "is a terminal, and binary data would garble it; redirect it or use -o FILE"


def read(source: str, most: int | None = None) -> bytes:
    """Read all bytes of a file, of a URL or of standard input.

    Parameters
    ----------
    source : str
    most : int or None
        Most bytes to accept of a URL; see ``stores.read``.

    Raises
    ------
    FileError
        If it cannot be read.
    """
    if source == STANDARD and sys.stdin is None:
        raise FileError("stdin: is closed")
    if stores.is_url(source):
        return stores.read(source, most)
    try:
        if source == STANDARD:
            return sys.stdin.buffer.read()
        with open(source, "rb") as stream:
            return stream.read()
    except MemoryError as error:
        raise FileError(f"{shown(source, 'stdin')}: not enough memory") from error
    except OSError as error:
        raise FileError.from_os(shown(source, "stdin"), error) from error


def read_picture(source: str, limits: "DecodeLimits", page: int | None = None) -> "Picture":
    """Read a picture file, or a picture from standard input; ``page`` is as in ``pictures.read``.

    Raises
    ------
    FileError
        If it cannot be read.
    PictureError
        If it is damaged, beyond the limits or not supported.
    MissingExtra
        If its format needs a package that is not installed.
    """
    from mmpcodec import pictures

    data = read(source, limits.max_memory)
    return pictures.from_bytes(data, shown(source, "stdin"), limits=limits, page=page)


@contextlib.contextmanager
def read_by_parts(source: str, most: int | None = None) -> Iterator[bytes | LazyBytes]:
    """Open a file whose parts are read when they are asked for; ``read`` other sources.

    ``most`` limits the bytes of a URL; see ``stores.UrlBytes``.
    """
    if stores.is_url(source):
        yield stores.UrlBytes(source, most)
        return
    if source == STANDARD or not os.path.isfile(source):
        yield read(source)
        return
    try:
        with open(source, "rb") as stream:
            found = FileBytes(stream)
        with found:
            yield found
    except (BrokenPipeError, MmpError):  # of the output
        raise
    except MemoryError as error:
        raise FileError(f"{source}: not enough memory") from error
    except OSError as error:
        raise FileError.from_os(source, error) from error


def size_of(source: str) -> int:
    """Return the bytes of a file, or of all files in a folder; 0 if a URL does not tell them.

    Raises
    ------
    FileError, MissingExtra
        As ``stores.state_of``.
    """
    try:
        return stores.state_of(source).size
    except FileNotFoundError:
        if stores.is_url(source):  # a server may know the files of a folder, but not the folder
            return 0
        raise


def shown(name: str, standard: str) -> str:
    """Name of a file in messages, made printable; ``standard`` replaces ``-``."""
    return standard if name == STANDARD else printable(name)


def shown_pair(source: str, target: str) -> str:
    """Return the names of an input and its output in messages."""
    return f"{shown(source, 'stdin')} -> {shown(target, 'stdout')}"


def check_png(option: str, target: str | None) -> None:
    """Check that the name of a drawing ends in .png, or is ``-``.

    Raises
    ------
    ParameterError
        If it is another name.
    """
    if target not in (None, STANDARD) and not str(target).lower().endswith(".png"):
        raise ParameterError(f"{option}: {target} must end in .png, or be {STANDARD}")


def names_other_format(target: str | None, suffix: str) -> bool:
    """Return whether a name ends as files of another format do than those of ``suffix``."""
    given = PurePath(target or "").suffix.lower()
    if given == ZARR_SUFFIX:
        return suffix != ZARR_SUFFIX
    return any(given in row.suffixes and suffix not in row.suffixes for row in registry.FORMATS)


def check_mmp(target: str | None) -> None:
    """Check that the name of an mmp file is not that of a file of another format.

    Raises
    ------
    ParameterError
        If it is.
    """
    if names_other_format(target, ".mmp"):
        raise ParameterError(f"{target}: names another format; mmp files end in .mmp")


def check(target: str, *, force: bool, new_folder: bool = False) -> None:
    """Check before the work that an output can be written.

    Parameters
    ----------
    target : str
        A path, or ``-`` for standard output.
    force : bool
        Whether the file may exist.
    new_folder : bool
        Whether the folder may be missing; ``opened`` makes it.

    Raises
    ------
    ParameterError
        If it is a terminal.
    FileError
        If it exists and ``force`` is False, it is read-only, or its folder does not exist or is not
        writable.
    """
    if target == STANDARD:
        if sys.stdout is None:
            raise FileError("stdout: is closed")
        if sys.stdout.isatty():
            raise ParameterError(f"stdout: {TO_TERMINAL}")
        return
    if stores.is_url(target):
        check_entry(target, stores.entry(target), force=force)
        return
    folder = os.path.dirname(target) or os.curdir
    if os.path.isdir(target) and not is_zarr(target):
        raise FileError(f"{target}: is a folder; name a file")
    if exists(target) and not force:
        raise FileError(f"{target}: exists; -f overwrites it")
    if is_read_only(target):
        raise FileError(f"{target}: is read-only; chmod u+w lets -f overwrite it")
    if not os.path.exists(folder) and not new_folder:
        raise FileError(f"{folder}: is no such folder")
    if not _is_device(target):
        check_folder(folder)


def exists(target: str) -> bool:
    """Return whether a path is that of an output: a file, or a zarr store."""
    return os.path.isfile(target) or is_zarr(target)


def check_entry(target: str, found: stores.Stored | None, *, force: bool) -> None:
    """Check that the file of a URL can be written, where ``found`` is now.

    Raises
    ------
    FileError
        If a folder is there, or a file and ``force`` is False.
    """
    if found is not None and found.is_folder:
        raise FileError(f"{target}: is a folder; name a file")
    if found is not None and not force:
        raise FileError(f"{target}: exists; -f overwrites it")


def write(target: str, data: bytes, *, force: bool) -> None:
    """Write an output; see ``opened``."""
    with opened(target, force=force) as stream:
        stream.write(data)


@contextlib.contextmanager
def opened(target: str, *, force: bool) -> Iterator[BinaryIO]:
    """Open a stream that becomes the complete output when the context ends without an error.

    Missing folders of a file are made.

    Parameters
    ----------
    target : str
        A path, or ``-`` for standard output.
    force : bool
        Whether an existing file may be overwritten.

    Raises
    ------
    FileError
        If the output cannot be written. No file is left behind.
    BrokenPipeError
        If the reader of a pipe has closed it.
    """
    try:
        if target == STANDARD:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        elif stores.is_url(target):
            with _whole(stores.written_whole(target, overwrite=force), target) as stream:
                yield stream
        elif _is_device(target):
            with _device(target) as stream:
                yield stream
        else:
            with _renamed(target, force) as stream:
                yield stream
    except (BrokenPipeError, MmpError):
        raise
    except OSError as error:
        raise FileError.from_os(shown(target, "stdout"), error) from error


@contextlib.contextmanager
def continued(target: str, key: str, *, force: bool) -> Iterator[BinaryIO]:
    """Open a stream as ``opened`` does, with what an ended run of the same key has written.

    Parameters
    ----------
    target : str
        A path for which ``is_plain`` holds.
    key : str
        See ``files.continued_whole``.
    force : bool
        Whether an existing file may be overwritten.

    Raises
    ------
    FileError
        If the output cannot be written, or another run writes it.
    """
    try:
        os.makedirs(os.path.dirname(target) or os.curdir, exist_ok=True)
        with _whole(continued_whole(target, key, overwrite=force), target) as stream:
            yield stream
    except MmpError:
        raise
    except OSError as error:
        raise FileError.from_os(target, error) from error


def is_plain(name: str) -> bool:
    """Return whether a name is that of a file of this machine, or of none yet."""
    return name != STANDARD and not stores.is_url(name) and not _is_device(name)


@contextlib.contextmanager
def placed(target: str, *, force: bool) -> Iterator[str]:
    """Give a temporary name for an output that is written by name, as zarr stores are.

    The output gets its own name when the context ends without an error. Missing folders are made.

    Raises
    ------
    FileError
        If the output cannot be written. Nothing is left behind.
    """
    try:
        os.makedirs(os.path.dirname(target) or os.curdir, exist_ok=True)
        with placed_whole(target, overwrite=force) as part:
            yield part
    except MmpError:
        raise
    except FileExistsError as error:
        raise FileError(f"{target}: exists since a moment ago; -f overwrites it") from error
    except OSError as error:
        raise FileError.from_os(target, error) from error


def _is_device(target: str) -> bool:
    return os.path.exists(target) and not exists(target)


@contextlib.contextmanager
def _device(target: str) -> Iterator[BinaryIO]:
    with open(target, "wb") as stream:
        if stream.isatty():
            raise FileError(f"{target}: {TO_TERMINAL}")
        yield stream


@contextlib.contextmanager
def _renamed(target: str, force: bool) -> Iterator[BinaryIO]:
    os.makedirs(os.path.dirname(target) or os.curdir, exist_ok=True)
    with _whole(written_whole(target, overwrite=force), target) as stream:
        yield stream


@contextlib.contextmanager
def _whole(opened: contextlib.AbstractContextManager[BinaryIO], target: str) -> Iterator[BinaryIO]:
    try:
        with opened as stream:
            yield stream
    except FileExistsError as error:
        raise FileError(f"{target}: exists since a moment ago; -f overwrites it") from error
