"""Append pictures to a collection, so that it stays whole if the writer is stopped."""

import contextlib
import os
from collections.abc import Iterator

from mmpcodec.errors import FileError, ParameterError
from mmpcodec.format import collection
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import is_collection, read_contents
from mmpcodec.opening.windows import Window
from mmpcodec.runtime.files import FileBytes, lock

_LOCKED = (1 << 62) - 1
"""Offset of the byte that a writer locks, behind the end of any file."""


@contextlib.contextmanager
def append_to(
    path: str | os.PathLike[str],
    *,
    loops: int | None = None,
    limits: DecodeLimits | None = None,
) -> Iterator[CollectionWriter]:
    """Append pictures to a file of several.

    The new pictures and a new index are written behind the old index. If the process is killed
    before the new index is complete, the file opens as it was, and the next writer overwrites what
    the first one left. After an error the file is as it was.

    Parameters
    ----------
    path : path
        A file on this machine.
    loops : int or None
        How often frames are shown, 0 for without end; None keeps what the file says.
    limits : DecodeLimits or None
        Its ``max_pictures`` limits the pictures that the file holds already.

    Yields
    ------
    CollectionWriter
        The caller adds pictures; the index is written when the context ends.

    Raises
    ------
    ParameterError
        If the file holds one picture and is no collection.
    FormatError
        If the file is damaged.
    FileError
        If another process appends to the file.
    OSError
        If the file cannot be read or written.

    Examples
    --------
    >>> import mmpcodec
    >>> with mmpcodec.append_to("book.mmp") as writer:  # doctest: +SKIP
    ...     writer.add(mmpcodec.encode(page))
    """
    name = os.fspath(path)
    with open(path, "r+b") as stream, FileBytes(stream) as data:
        if not lock(stream, _LOCKED, wait=False):
            raise FileError(f"{name}: another process appends to it; wait until it ends")
        if not is_collection(data):
            raise ParameterError(
                f"{name}: is no file of several pictures, which can be appended to"
            )
        contents = read_contents(data, (limits or DecodeLimits()).max_pictures)
        bodies = (
            bytes(collection.read_metadata(Window(data, part)[:], part.place))
            for part in contents.metadata
        )
        end = len(data) - contents.unfinished
        writer = CollectionWriter(stream, contents, end, loops)
        writer.remember(bodies)
        stream.seek(end)
        stream.truncate()
        try:
            yield writer
            if len(writer) == len(contents.entries) and loops is None:
                return
            stream.flush()
            os.fsync(stream.fileno())  # the pictures are on the disk before an index names them
            writer.close()
            stream.flush()
            os.fsync(stream.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                stream.flush()
            stream.truncate(end)
            raise
