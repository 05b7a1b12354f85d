"""Files that appear whole or not at all: written under another name, then renamed."""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from typing import BinaryIO

STANDARD = "-"
"""Name of standard input and output on command lines."""


def part_of(path: str) -> str:
    """Return a new name in the folder of a file, for the data that will become the file."""
    return os.path.join(os.path.dirname(path), f".mmp-{os.urandom(8).hex()}.part")


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """Open a stream whose contents become a file when the context ends without an error.

    A link stays a link, and a file that exists keeps its mode. After an error no file is left.

    Parameters
    ----------
    path : path
    overwrite : bool
        Whether the file may exist already.

    Raises
    ------
    FileExistsError
        When the file exists at the end and ``overwrite`` is False.
    OSError
        When the file cannot be written.
    """
    final = os.path.realpath(path)
    part = part_of(final)
    try:
        with open(part, "x+b") as stream:
            yield stream
        if os.path.exists(final):
            if not overwrite:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(path))
            shutil.copymode(final, part)
        os.replace(part, final)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(part)
