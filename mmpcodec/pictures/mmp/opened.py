"""An mmp file that is open for any number of readers."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from mmpcodec.errors import FileError, FormatError, LimitExceeded, PictureError
from mmpcodec.format.collection import Contents
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import contents_of
from mmpcodec.opening.windows import Begun
from mmpcodec.pictures.limits import refused
from mmpcodec.pictures.mmp.file import RESCUE
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import PathBytes, changed


class OpenFile:
    """An mmp file that its readers share; any number of threads may use it at once.

    It is opened when it is first used, and what it holds is read once. A pickled one has the
    absolute path or the URL and opens the file again, which must not have changed.

    Parameters
    ----------
    name : str
        Path or URL.
    limits : DecodeLimits
    keep_open : bool
        Whether a local file stays open; see ``MmpReader``.
    """

    def __init__(self, name: str, limits: DecodeLimits, *, keep_open: bool = True):
        self.name = name
        self.place = stores.absolute(name)
        self.limits = limits
        self._keep_open = keep_open
        self._state: str | None = None
        self._prepare()

    def _prepare(self) -> None:
        self._lock = threading.RLock()
        self._bytes: PathBytes | stores.UrlBytes | None = None
        self._source: Begun | None = None

    def __getstate__(self) -> dict[str, Any]:
        again = {"_lock", "_bytes", "_source"}
        return {name: value for name, value in vars(self).items() if name not in again}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()

    @property
    def state(self) -> str:
        """Text that differs when the contents of the file differ: size and time, or a hash."""
        if self._state is None:
            with self.errors_named():
                self.source()
        assert self._state is not None
        return self._state

    def source(self) -> Begun:
        """Return the bytes of the file.

        Raises
        ------
        OSError
            If it cannot be opened, or has changed since it was.
        MissingExtra
            If a URL needs a package that is not installed.
        """
        with self._lock:
            if self._source is None:
                if stores.is_url(self.place):
                    self._bytes = stores.UrlBytes(self.place, self.limits.max_memory)
                    if self._state not in (None, self._bytes.state):
                        raise changed(self.place)
                else:
                    self._bytes = PathBytes(self.place, self._state, keep_open=self._keep_open)
                self._state = self._bytes.state
                self._source = Begun(self._bytes)
            return self._source

    def contents(self) -> Contents:
        """Return what the file holds; it is read once.

        Raises
        ------
        FormatError
            If that is damaged, or beyond the limits.
        OSError, MissingExtra
            See ``source``.
        """
        source = self.source()
        return source.known(lambda: contents_of(source, self.limits.max_pictures))

    def close(self) -> None:
        """Close the file; it is opened again if it is used again."""
        with self._lock:
            if isinstance(self._bytes, PathBytes):
                self._bytes.close()
            self._bytes = self._source = None

    @contextlib.contextmanager
    def errors_named(self) -> Iterator[None]:
        """Turn the errors of the codec, of the system or of a store into a ``PictureError``."""
        try:
            yield
        except (FormatError, OSError) as error:
            raise self.named(error) from error

    def named(self, error: FormatError | OSError) -> PictureError:
        """Return the error of the codec, of the system or of a store as one that names the file."""
        if isinstance(error, PictureError):
            return error
        if isinstance(error, FormatError):
            if isinstance(self._bytes, stores.UrlBytes) and not isinstance(error, LimitExceeded):
                with contextlib.suppress(FileError):
                    found = stores.entry(self.place)
                    if found is None or found.state != self._state:
                        return PictureError.from_os(self.name, changed(self.place))
            return PictureError(f"{self.name}: {error.with_hint(RESCUE)}")
        return refused(self.name, error)
