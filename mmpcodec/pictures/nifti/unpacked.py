"""The bytes of a file in gzip, unpacked once."""

import gzip
import io
import os
import tempfile
from typing import BinaryIO

MOST_IN_MEMORY = 1 << 26
"""Unpacked bytes that stay in memory; more lie in a temporary file."""
_STEP = 1 << 20


class Unpacked:
    """A stream of the unpacked bytes of a file. They are unpacked up to where they are read.

    Parameters
    ----------
    packed : binary stream
    """

    def __init__(self, packed: BinaryIO):
        self._rest = gzip.GzipFile(fileobj=packed)
        self._held = tempfile.SpooledTemporaryFile(MOST_IN_MEMORY)  # noqa: SIM115 - see close
        self._size = self._place = 0

    def seek(self, place: int) -> None:
        """Go to a byte, from 0."""
        self._place = place

    def read(self, size: int) -> bytes:
        """Read bytes; fewer at the end.

        Raises
        ------
        OSError, EOFError, zlib.error
            If the file is damaged or truncated, or there is no place for the bytes.
        """
        end = self._place + size
        self._held.seek(0, os.SEEK_END)
        while self._size < end and (part := self._rest.read(min(_STEP, end - self._size))):
            self._held.write(part)
            self._size += len(part)
        self._held.seek(self._place, io.SEEK_SET)
        found = self._held.read(size)
        self._place += len(found)
        return found

    def close(self) -> None:
        """Remove the unpacked bytes."""
        self._held.close()
        self._rest.close()
