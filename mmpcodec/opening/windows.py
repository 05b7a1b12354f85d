"""Parts of a file, and files whose beginning is read once."""

import threading
from collections.abc import Callable

from mmpcodec.format.collection import Contents, Extent
from mmpcodec.opening.header import FIRST_READ
from mmpcodec.runtime.files import LazyBytes, Source


class Window(LazyBytes):
    """Some bytes of a source, read when they are asked for.

    Parameters
    ----------
    source : Source
    part : Extent
        Its place and number of bytes.
    """

    def __init__(self, source: Source, part: Extent):
        self._source, self.part = source, part

    def __len__(self) -> int:
        return self.part.size

    def __getitem__(self, part: slice) -> memoryview:
        start, stop, _ = part.indices(self.part.size)
        place = self.part.place
        return self._source[place + start : place + max(start, stop)]


class Begun(LazyBytes):
    """A file whose beginning and index are read once, however often they are asked for.

    Several threads may use it at once.

    Parameters
    ----------
    source : LazyBytes
    """

    def __init__(self, source: LazyBytes):
        self._source, self._first = source, source[:FIRST_READ]
        self.ahead = source.ahead
        self._contents: Contents | None = None
        self._lock = threading.RLock()

    @classmethod
    def of(cls, source: Source) -> Source:
        """Return a file as one whose beginning is read once, if it is not in memory."""
        return source if isinstance(source, memoryview | cls) else cls(source)

    def known(self, read: Callable[[], Contents]) -> Contents:
        """Return what the file holds; ``read`` finds it at the first call."""
        with self._lock:
            if self._contents is None:
                self._contents = read()
            return self._contents

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, part: slice) -> memoryview:
        stop = len(self._source) if part.stop is None else part.stop
        if part.start is None and 0 <= stop <= len(self._first):
            return self._first[:stop]
        return self._source[part]


def ahead_of(source: Source) -> int:
    """Return how many bytes a request reads at least; see ``LazyBytes.ahead``."""
    return source.ahead if isinstance(source, LazyBytes) else 0
