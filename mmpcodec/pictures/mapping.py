"""Samples that lie in a file as in memory."""

import io
import mmap
from typing import BinaryIO, Literal

import numpy as np


class Mapping:
    """An array in a file, of which only what is being read is in memory.

    Parameters
    ----------
    stream : binary stream
        A file, or bytes in memory; it may be closed afterwards.
    kind : dtype
    shape : tuple of int
    start : int
        Byte of the file where the array begins; it must not end beyond the file.
    order : {"C", "F"}
    """

    def __init__(
        self,
        stream: BinaryIO,
        kind: np.dtype,
        shape: tuple[int, ...],
        start: int,
        order: Literal["C", "F"] = "C",
    ):
        self._file: mmap.mmap | None = None
        data: mmap.mmap | memoryview
        if isinstance(stream, io.BytesIO):
            data = stream.getbuffer()
        else:
            data = self._file = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        self._samples = np.ndarray(shape, kind, data, start, order=order)

    def read(self, index: tuple[slice, ...]) -> np.ndarray:
        """A copy of a part of the array."""
        part = np.array(self._samples[index], order="C")
        # Without this, pages of the whole file come to count as memory of the process.
        if self._file is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._file.madvise(mmap.MADV_DONTNEED)
        return part
