"""Files of object stores and servers, which URLs name: ``s3://bucket/name``, ``gs://...``.

fsspec reaches them; the extra ``cluster`` installs it, and each kind of store may need a package of
its own, such as s3fs. A name without ``://`` is a path of this machine and does not belong here.
"""

import contextlib
import errno
import hashlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, BinaryIO, NamedTuple, cast

from mmpcodec.errors import FileError, MissingExtra, MmpError, install
from mmpcodec.runtime import downloads, files
from mmpcodec.runtime.files import LazyBytes

_URL = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_ZARR = re.compile(r"\.zarr(/|$)", re.IGNORECASE)
_HTTP = re.compile(r"https?://", re.IGNORECASE)
_FILE = "file://"
_IN_STEPS = {"ftp", "hdfs", "sftp", "ssh", "smb", "webhdfs"}
"""Protocols that show a file while it is being written; the others show it when it is complete."""
_TIMES = ("LastModified", "last_modified", "mtime", "updated", "created")
_HASHES = ("ETag", "etag", "md5Hash", "content_md5")
"""Names that stores give to times and hashes of files."""
_NUMBERS = {FileNotFoundError: errno.ENOENT, PermissionError: errno.EACCES}
"""Errors that stores raise without the number and text of the system."""


class Stored(NamedTuple):
    """A file or folder of a store.

    Parameters
    ----------
    is_folder : bool
    size : int
        Bytes of a file; ``state_of`` gives those of all files of a folder.
    state : str
        Differs when the contents differ: a hash, or size and time.
    modified : int or None
        Time of modification, in nanoseconds since 1970; None if the store does not tell it.
    """

    is_folder: bool
    size: int
    state: str
    modified: int | None


def is_url(name: str) -> bool:
    """Return whether a name is that of a file in a store."""
    return _URL.match(name) is not None


def without_file(name: str) -> str:
    """Return the path of a URL ``file://``, and any other name as it is."""
    return name[len(_FILE) :] if name.startswith(_FILE) else name


def absolute(name: str) -> str:
    """Return the name of a file that does not depend on the working folder; URLs stay."""
    return name if is_url(name) else os.path.abspath(name)


def base_name(url: str) -> str:
    """Return the name of a file in its folder, without the query of an address of HTTP.

    Examples
    --------
    >>> from mmpcodec.runtime.stores import base_name
    >>> base_name("https://example.org/scans/a.mmp?key=1"), base_name("s3://scans/a?.mmp")
    ('a.mmp', 'a?.mmp')
    """
    path = re.split(r"[?#]", url)[0] if _HTTP.match(url) else url
    return path.rstrip("/").rpartition("/")[2]


def joined(folder: str, name: str) -> str:
    """Return the URL of a file in a folder; ``name`` may be a path with folders."""
    return f"{folder.rstrip('/')}/{name.replace(os.sep, '/')}"


def entry(url: str) -> Stored | None:
    """Return what is at a URL; None if nothing is there.

    Raises
    ------
    FileError
        If the store cannot be asked.
    MissingExtra
        If a package for the store is not installed.
    """
    with _named(url):
        system, path = _system(url)
        try:
            return _entry(system.info(path))
        except FileNotFoundError as error:
            if isinstance(_cause(url, error), FileNotFoundError):
                return None
            raise


def files_below(url: str) -> dict[str, Stored]:
    """Return the files in a folder and below it, by their paths in it; none if it is missing.

    Raises
    ------
    FileError, MissingExtra
        As ``entry``.
    """
    with _named(url):
        system, path = _system(url)
        root = path.rstrip("/") + "/"
        found = system.find(path, detail=True)
        return {
            name.removeprefix(root): _entry(each)
            for name, each in sorted(found.items())
            if name.startswith(root)
        }


def state_of(name: str) -> Stored:
    """Return size, state and time of a file, or those of all files in and below a folder.

    Of a folder, such as a zarr store, the size is the sum of the sizes, the state depends on the
    name and state of each file, and the time is the newest one.

    Parameters
    ----------
    name : str
        Path or URL.

    Raises
    ------
    FileError, MissingExtra
        As ``entry``, and if nothing is there.
    """
    if is_url(name):
        found = entry(name)
        if found is None:
            raise FileError.because(errno.ENOENT, name, "is missing")
        return _together(files_below(name)) if found.is_folder else found
    try:
        status = os.stat(name)
        if stat.S_ISDIR(status.st_mode):
            return _folder_state(name)
    except OSError as error:
        raise FileError.from_os(name, error) from error
    return _file_state(status)


def _file_state(status: os.stat_result) -> Stored:
    time = status.st_mtime_ns
    return Stored(stat.S_ISDIR(status.st_mode), status.st_size, str(time), time)


def _folder_state(folder: str) -> Stored:
    """Return the state of a folder of this machine, whose time changes when a file is removed."""

    def fail(error: OSError) -> None:
        raise error

    found: dict[str, Stored] = {}
    times = []
    for place, _, names in os.walk(folder, onerror=fail):
        times.append(os.stat(place).st_mtime_ns)
        for name in names:
            path = os.path.join(place, name)
            found[os.path.relpath(path, folder)] = _file_state(os.stat(path))
    whole = _together(found)
    return whole._replace(modified=max([*times, whole.modified or 0]))


def _together(found: Mapping[str, Stored]) -> Stored:
    """Return the state of a folder with these files."""
    digest = hashlib.sha256()
    for name, each in sorted(found.items()):
        digest.update(f"{name!r} {each.size} {each.state}\n".encode())
    times = [each.modified for each in found.values()]
    known = [time for time in times if time is not None]
    newest = max(known) if known and len(known) == len(times) else None
    return Stored(True, sum(each.size for each in found.values()), digest.hexdigest(), newest)


def is_zarr(name: str) -> bool:
    """Return whether a name is that of a zarr store, or of an array or group in one.

    A folder of this machine has a file that says so. Of a URL, a part must end in ``.zarr``: no
    store is asked.
    """
    if is_url(name):
        return _ZARR.search(name) is not None
    return files.is_zarr(name)


def lies_in_zarr(name: str) -> bool:
    """Return whether the folder that holds a file is a zarr store; see ``is_zarr``."""
    above = name.rstrip("/").rpartition("/")[0]
    return is_zarr(above or os.curdir)


def zarr_options(name: str) -> dict[str, Any] | None:
    """Return ``storage_options`` with which zarr reads a store; None for those of this machine."""
    return {"get_client": downloads.client_of_chunks} if _HTTP.match(name) else None


def read(url: str, most: int | None = None) -> bytes:
    """Read all bytes of a file.

    Parameters
    ----------
    url : str
    most : int or None
        Most bytes to accept. None is ``downloads.MOST_BYTES`` for a web server, and no limit for
        other stores, which the user chose by their own configuration.

    Raises
    ------
    FileError, MissingExtra
        As ``entry``, if the file is missing, or if it has more bytes.
    """
    with _named(url):
        system, path = _system(url)
        if _HTTP.match(url):
            size = _size_of(system.info(path))
            return bytes(downloads.download(system, url, path, size, most))
        if most is not None:
            downloads.check_size(url, _size_of(system.info(path)) or 0, most)
        return bytes(system.cat_file(path))


class UrlBytes(LazyBytes):
    """The bytes of a file in a store, read when they are asked for; slices are as of a memoryview.

    ``state`` is the state of the file when it was opened; see ``Stored``. A server may ignore the
    range of a request and send the whole file, or not tell the size of a file; then the whole file
    is kept, and ``is_whole`` is True.

    Parameters
    ----------
    url : str
    most : int or None
        Most bytes of a slice, or of a whole file that is kept; see ``read``.

    Raises
    ------
    FileError, MissingExtra
        As ``read``.
    """

    ahead = 1 << 20

    def __init__(self, url: str, most: int | None = None):
        self._url, self._most = url, most
        self._whole: memoryview | None = None
        with _named(url):
            self._system, self._path = _system(url)
            found = self._system.info(self._path)
            self.state = _entry(found).state
            size = _size_of(found)
            if size is None:
                self._whole = memoryview(read(url, most))
                size = len(self._whole)
            self._size = size

    @property
    def is_whole(self) -> bool:
        """Whether the server has sent the whole file in place of a part of it."""
        return self._whole is not None

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> memoryview:
        start, stop, _ = part.indices(self._size)
        if start >= stop:
            return memoryview(b"")
        if self._whole is not None:
            return self._whole[start:stop]
        with _named(self._url):
            found = memoryview(self._fetched(start, stop))
        if len(found) <= stop - start:
            return found
        if len(found) != self._size:
            raise FileError(
                f"{self._url}: the server sent {len(found)} bytes, not the {stop - start} that "
                f"were asked for, nor the whole file of {self._size}"
            )
        self._whole = found
        return found[start:stop]

    def _fetched(self, start: int, stop: int) -> Any:
        """Return bytes of the file, or all of them."""
        if _HTTP.match(self._url):
            span = start, stop
            return downloads.download(
                self._system, self._url, self._path, self._size, self._most, span
            )
        if self._most is not None:
            downloads.check_size(self._url, stop - start, self._most)
        return self._system.cat_file(self._path, start=start, end=stop)


@contextlib.contextmanager
def written_whole(url: str, *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """Open a stream whose contents become a file when the context ends without an error.

    The data lie in a temporary file of this machine until then. A store that shows files while they
    are written gets them under another name first.

    Parameters
    ----------
    url : str
    overwrite : bool
        Whether the file may exist already; it is looked for at the end.

    Raises
    ------
    FileExistsError
        When the file exists at the end and ``overwrite`` is False.
    FileError, MissingExtra
        If the file cannot be written.
    """
    with tempfile.NamedTemporaryFile() as stream:
        yield cast(BinaryIO, stream)
        stream.flush()
        if not overwrite and entry(url) is not None:
            raise FileExistsError(url)
        with _named(url):
            system, path = _system(url)
            if url.split("://")[0].lower() in _IN_STEPS:
                part = f"{path}.{os.urandom(8).hex()}.part"
                system.makedirs(system._parent(path), exist_ok=True)
                system.put_file(stream.name, part)
                system.mv(part, path)
            else:
                system.put_file(stream.name, path)


@contextlib.contextmanager
def _named(url: str) -> Iterator[None]:
    """Turn what a store raises into errors that name the URL."""
    try:
        yield
    except MmpError:
        raise
    except ImportError as error:
        name = error.name or str(error)
        advice = install("cluster") if name == "fsspec" else "install the package that it names"
        raise MissingExtra(f"{url}: needs a package: {error}; {advice}") from error
    except OSError as error:
        raise _error_of(url, _cause(url, error)) from error
    except Exception as error:  # stores raise errors of their own kinds
        raise _error_of(url, error) from error


def _cause(url: str, error: OSError) -> Exception:
    """Return why a server gives no file: fsspec calls a file missing if it cannot be asked for."""
    cause = error.__cause__
    if not (isinstance(error, FileNotFoundError) and isinstance(cause, Exception)):
        return error
    is_missing = getattr(cause, "status", None) in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
    return cause if _HTTP.match(url) and not is_missing else error


def _error_of(url: str, error: Exception) -> FileError:
    """Return the error that names a URL, and the number and text of the system if there are any."""
    if not isinstance(error, OSError):
        reason = " ".join(str(error).split())
        return FileError(f"{url}: {type(error).__name__}: {reason}")
    number = error.errno or _NUMBERS.get(type(error))
    if number is None or error.errno:
        return FileError.from_os(url, error)
    return FileError.because(number, url, os.strerror(number))


def _system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, which fsspec keeps, and the path in it."""
    from fsspec.core import url_to_fs

    system, path = url_to_fs(url, use_listings_cache=False)
    return system, path


def _size_of(found: dict[str, Any]) -> int | None:
    """Return the size of a file; None if its store does not tell a size that a file can have."""
    size = found.get("size")
    return int(size) if size is not None and 0 <= int(size) <= sys.maxsize else None


def _entry(found: dict[str, Any]) -> Stored:
    size = _size_of(found) or 0
    time = _nanoseconds(next((found[key] for key in _TIMES if found.get(key)), None))
    state = next((found[key] for key in _HASHES if found.get(key)), f"{size} {time}")
    return Stored(found["type"] == "directory", size, str(state), time)


def _nanoseconds(time: Any) -> int | None:
    """Return a time in nanoseconds since 1970; None for what is no time."""
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time)
        except ValueError:
            return None
    if isinstance(time, datetime):
        time = time.timestamp()
    return int(time * 1e9) if isinstance(time, int | float) else None
