"""The starts that mmp files may name, from the files that an option gives."""

import os
from collections.abc import Sequence

from mmpcodec.start import VARIABLE, Start


def know_starts(paths: Sequence[str] | None) -> None:
    """Let this process, and the processes that it starts, find the starts of these files.

    Raises
    ------
    FileError, FormatError
        If a file is not a start.
    """
    for path in paths or ():
        Start.load(path)
        before = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = os.pathsep.join(filter(None, (os.path.abspath(path), before)))


def start_of(path: str | None) -> Start | None:
    """Return the start of a file, which decoding finds from now on, or None without a file.

    Raises
    ------
    FileError, FormatError
        If the file is not a start.
    """
    if path is None:
        return None
    know_starts([path])
    return Start.load(path)
