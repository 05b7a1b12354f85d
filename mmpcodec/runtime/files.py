"""Files that are read by offset or locked, and files that appear whole or not at all.

All that depends on the operating system about files is here.
"""

import contextlib
import errno
import os
import shutil
import stat
import sys
import threading
from collections.abc import Iterator
from typing import IO, BinaryIO

from mmpcodec.errors import Cancelled, FileError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

STANDARD = "-"
"""Name of standard input and output on command lines."""

ZARR_SUFFIX = ".zarr"
ZARR_FILES = ("zarr.json", ".zarray", ".zgroup")
"""Files of which an array or a group of zarr has one; it is a folder."""

LOCK_PLACE = 1 << 62
"""Offset of the byte that is locked for a whole file."""
_ACL = "system.posix_acl_access"
_NO_ACL = {errno.ENODATA, errno.EOPNOTSUPP}
_OWN_FDS = "/proc/self/fd"


def printable(text: str) -> str:
    """Return a line of text in which no character controls a terminal.

    File names and metadata may hold any character. Control characters, line breaks, directional
    formatting and bytes that are not text are written as escapes, such as ``\\x1b``.
    """
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


class LazyBytes:
    """Bytes that are read when a slice of them is asked for; slices are memoryviews.

    Where each request takes long, ``ahead`` is how many bytes of a picture are read at once.
    """

    ahead: int = 0

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, part: slice) -> memoryview:
        raise NotImplementedError


Source = memoryview | LazyBytes
"""The bytes of a file: their number, and slices of them."""


class StreamBytes(LazyBytes):
    """The bytes of a stream whose position can be set; the stream stays the caller's.

    Parameters
    ----------
    stream : binary stream
    """

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self._lock = threading.Lock()
        self._size = stream.seek(0, os.SEEK_END)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> memoryview:
        start, stop, _ = part.indices(self._size)
        with self._lock:
            self._stream.seek(start)
            return memoryview(self._stream.read(max(0, stop - start)))


class FileBytes(LazyBytes):
    """The bytes of a file, read when they are asked for; slices of it are as of a memoryview.

    A file that another program shortens has fewer bytes in a slice. The same file, mapped into
    memory, would end the process.

    Parameters
    ----------
    stream : binary stream
        A file; it may be closed afterwards.

    Raises
    ------
    OSError
        If the stream is not a file whose position can be set.
    """

    def __init__(self, stream: BinaryIO):
        self._file = open(os.dup(stream.fileno()), "rb", buffering=0)  # noqa: SIM115
        self._lock = threading.Lock()
        try:
            self._size = self._file.seek(0, os.SEEK_END)
        except OSError:
            self._file.close()
            raise

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> memoryview:
        start, stop, _ = part.indices(self._size)
        found = memoryview(bytearray(max(0, stop - start)))
        filled = 0
        with self._lock:
            self._file.seek(start)
            while filled < len(found) and (count := self._file.readinto(found[filled:])):
                filled += count
        return found[:filled]

    def state(self) -> str:
        """Return the size and the time of the last change, which differ if the file was changed."""
        found = os.fstat(self._file.fileno())
        return f"{found.st_size} {found.st_mtime_ns}"

    def __enter__(self) -> "FileBytes":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class PathBytes(LazyBytes):
    """The bytes of the file at a path, which must stay as it was when it was opened.

    Parameters
    ----------
    path : str
    state : str or None
        State of the file that is expected; None takes the file as it is.
    keep_open : bool
        Whether the file stays open. It is opened again for each slice otherwise, so that thousands
        of files can be read in turn.

    Raises
    ------
    OSError
        If the file cannot be opened or read.
    FileError
        If the file has changed, on opening and for each slice. A file that stays open is not
        changed by another file that gets its name.
    """

    def __init__(self, path: str, state: str | None = None, *, keep_open: bool = True):
        self.path = path
        found = self._opened()
        try:
            self.state = found.state() if state is None else state
            self._size = len(found)
            self._check(found)
        except BaseException:
            found.close()
            raise
        self._file = found if keep_open else None
        if not keep_open:
            found.close()

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> memoryview:
        if self._file is not None:
            return self._read(self._file, part)
        with self._opened() as file:
            return self._read(file, part)

    def _read(self, file: FileBytes, part: slice) -> memoryview:
        found = file[part]
        self._check(file)  # after reading: what was read before a change is whole
        return found

    def _check(self, file: FileBytes) -> None:
        if file.state() != self.state:
            raise changed(self.path)

    def _opened(self) -> FileBytes:
        with open(self.path, "rb") as stream:
            return FileBytes(stream)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def changed(name: str) -> FileError:
    """Return the error for a file that changed while it was in use."""
    return FileError.because(errno.ESTALE, name, "has changed since it was opened; open it again")


def lock(stream: BinaryIO, place: int, *, wait: bool = True) -> bool:
    """Lock a byte of a file against other processes, until the file is closed or the process ends.

    Parameters
    ----------
    stream : binary stream
        A file that is open for writing.
    place : int
        Offset of the byte, which need not exist.
    wait : bool
        Whether to wait while another process has the lock.

    Returns
    -------
    bool
        Whether this process has the lock; False only without ``wait``.

    Raises
    ------
    OSError
        If the file cannot be locked.
    """
    try:
        if sys.platform == "win32":
            position = stream.tell()
            stream.seek(place)
            msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            stream.seek(position)
        else:
            fcntl.lockf(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, place)
    except (BlockingIOError, PermissionError):
        if wait:
            raise
        return False
    return True


def check_folder(folder: str) -> None:
    """Check that files can be made in a folder, or that the folder can be made.

    Raises
    ------
    FileError
        If it is not a folder or not writable; for a missing one, the nearest above it.
    """
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder) or os.curdir
    if not os.path.isdir(folder):
        raise FileError.because(errno.ENOTDIR, folder, "is not a folder")
    if not (os.access(folder, os.W_OK) and os.access(folder, os.X_OK)):
        raise FileError.because(errno.EACCES, folder, "is not writable")


def is_zarr(path: str | os.PathLike[str]) -> bool:
    """Return whether a folder is a zarr store, or an array or group in one."""
    return any(os.path.isfile(os.path.join(path, name)) for name in ZARR_FILES)


def part_of(path: str, key: str | None = None) -> str:
    """Return a name in the folder of a file, for the data that will become the file.

    It has a key of 16 hexadecimal digits; without one, the name is new.
    """
    return os.path.join(os.path.dirname(path), f".mmp-{key or os.urandom(8).hex()}.part")


@contextlib.contextmanager
def continued_whole(
    path: str | os.PathLike[str], key: str, *, overwrite: bool = True
) -> Iterator[BinaryIO]:
    """Open a stream as ``written_whole`` does, with what an earlier process wrote before it ended.

    Its position is 0. The data stay, at ``part_of(path, key)``, if the process is killed or
    interrupted, or the system refuses something. After any other error no file is left.

    Parameters
    ----------
    path, overwrite
        See ``written_whole``.
    key : str
        16 hexadecimal digits that differ for other contents.

    Raises
    ------
    FileError
        If another process writes the same file.
    OSError
        As ``written_whole``.
    """
    final = os.path.realpath(path)
    if overwrite and is_read_only(final):
        raise PermissionError(errno.EACCES, "is read-only", os.fspath(path))
    part = part_of(final, key)
    mode = 0o600 if os.path.exists(final) else 0o666
    fd = os.open(part, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), mode)
    with open(fd, "r+b") as stream:
        if not lock(stream, LOCK_PLACE, wait=False) or not os.path.exists(part):
            raise FileError.because(errno.EBUSY, os.fspath(path), "another run writes it")
        try:
            yield stream
            stream.flush()
            if overwrite and os.path.exists(final):
                _copy_rights(final, fd, part)
            stream.close()
            if overwrite:
                os.replace(part, final)
            else:
                name_new(part, final)
        except BaseException as error:
            stays = isinstance(error, KeyboardInterrupt | OSError | Cancelled)
            with contextlib.suppress(OSError):
                if not stays or os.path.getsize(part) == 0:
                    stream.close()
                    os.unlink(part)
            raise


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """Open a stream whose contents become a file when the context ends without an error.

    A link stays a link. A file that exists keeps its rights, without setuid and its like, and the
    new one has no wider ones while it is written. After an error no file is left; where the system
    has files without a name, as Linux on most file systems, this also holds if the process is
    killed.

    Parameters
    ----------
    path : path
    overwrite : bool
        Whether the file may exist already. If not, one of several writers gets the name.

    Raises
    ------
    FileExistsError
        When the file exists at the end and ``overwrite`` is False.
    PermissionError
        When the file exists and nobody may write to it.
    OSError
        When the file cannot be written.
    """
    final = os.path.realpath(path)
    if overwrite and is_read_only(final):
        raise PermissionError(errno.EACCES, "is read-only", os.fspath(path))
    part = part_of(final)
    mode = 0o600 if os.path.exists(final) else 0o666
    fd = _nameless(os.path.dirname(final), mode)
    nameless = fd is not None
    if fd is None:
        fd = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with open(fd, "w+b") as stream:
            yield stream
            stream.flush()
            if overwrite and os.path.exists(final):
                _copy_rights(final, fd, part)
            if nameless:
                # os.link follows the link in _OWN_FDS only if it gets some descriptor of a folder.
                os.link(f"{_OWN_FDS}/{fd}", part if overwrite else final, src_dir_fd=fd)
        if overwrite:
            os.replace(part, final)
        elif not nameless:
            name_new(part, final)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(part)


def name_new(part: str, final: str) -> None:
    """Give a file or folder its name unless that exists, also if another process tries the same.

    Raises
    ------
    FileExistsError
        If the name exists.
    OSError
        If the file cannot be moved.
    """
    if os.path.lexists(final):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), final)
    if os.path.isdir(part):
        try:
            os.rename(part, final)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.ENOTDIR):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), final) from error
            raise
        return
    try:
        os.link(part, final)
    except FileExistsError:
        raise
    except OSError:  # the file system has no hard links
        os.close(os.open(final, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.replace(part, final)
    else:
        os.unlink(part)


def is_read_only(path: str) -> bool:
    """Return whether a file exists that nobody may write to, as its owner has decided."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and not status.st_mode & 0o222


def make_durable(path: str) -> None:
    """Wait until a file, or all files of a folder, and their names would survive a power cut.

    Raises
    ------
    OSError
        If the system cannot write them.
    """
    for place, _, names in os.walk(path):
        for name in names:
            _write_through(os.path.join(place, name))
        _write_through(place)
    if os.path.isfile(path):
        _write_through(path)
    _write_through(os.path.dirname(os.path.realpath(path)))


def _write_through(path: str) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    windows = sys.platform == "win32"
    if windows and os.path.isdir(path):  # which it cannot open
        return
    fd = os.open(path, os.O_RDWR if windows else os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def placed_whole(path: str, *, overwrite: bool = True) -> Iterator[str]:
    """Give a temporary name whose file or folder gets its own name when the context ends well.

    For what several processes write together; ``written_whole`` serves the others. After an error
    nothing is left, unless the process is killed.

    Parameters
    ----------
    path : str
    overwrite : bool
        Whether a file, or a zarr store in place of one, may exist already. A store is moved aside
        and deleted when the new one is in place.

    Yields
    ------
    str
        A name in the same folder, at which nothing exists.

    Raises
    ------
    FileExistsError
        When the path exists at the end and ``overwrite`` is False, or it is another folder.
    OSError
        When the file or folder cannot be moved.
    """
    final = os.path.realpath(path)
    part = part_of(final)
    try:
        yield part
        there = os.path.lexists(final)
        if there and overwrite and os.path.isdir(final) and not is_zarr(final):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        if not overwrite:
            name_new(part, final)
            return
        if there and os.path.isfile(final) and os.path.isfile(part):
            with open(part, "r+b") as stream:
                _copy_rights(final, stream.fileno(), part)
        if there and (os.path.isdir(final) or os.path.isdir(part)):
            old = part_of(final)
            os.rename(final, old)
            try:
                os.rename(part, final)
            except OSError:
                os.rename(old, final)
                raise
            _remove(old)
        else:
            os.replace(part, final)
    finally:
        _remove(part)


def _remove(path: str) -> None:
    """Remove a file or folder as far as possible."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _nameless(folder: str, mode: int) -> int | None:
    """Open a file without a name in a folder; None where the system cannot name it later."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        fd = os.open(folder, os.O_RDWR | os.O_TMPFILE, mode)
    except OSError:
        return None
    if os.path.exists(f"{_OWN_FDS}/{fd}"):
        return fd
    os.close(fd)
    return None


def _copy_rights(source: str, fd: int, name: str) -> None:
    """Give an open file the rights of another one, or narrower ones where those cannot be had."""
    of_source = os.stat(source)
    mode = stat.S_IMODE(of_source.st_mode) & 0o777  # setuid is for a program, which this is not
    if sys.platform == "win32":
        os.chmod(name, mode)
        return
    kept = True
    try:
        if os.fstat(fd).st_gid != of_source.st_gid:
            os.fchown(fd, -1, of_source.st_gid)
        _copy_acl(source, fd)
    except OSError:
        kept = False
    if not kept:
        # The group may be another one: its members get no more than all others have.
        mode &= ~0o070 | (mode & 0o007) << 3
    os.fchmod(fd, mode)


def _copy_acl(source: str, fd: int) -> None:
    """Give an open file the access control list of another one, or none if that has none."""
    if sys.platform != "linux":
        return
    try:
        entries = os.getxattr(source, _ACL)
    except OSError as error:
        if error.errno not in _NO_ACL:
            raise
        try:
            os.removexattr(fd, _ACL)
        except OSError as missing:
            if missing.errno not in _NO_ACL:
                raise
        return
    os.setxattr(fd, _ACL, entries)
