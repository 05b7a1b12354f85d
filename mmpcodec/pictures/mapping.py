"""Read parts of files whose samples have the layout of an array in memory."""

import io
import mmap
from typing import BinaryIO, Literal

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.metadata import Metadata
from mmpcodec.params import DecodeLimits
from mmpcodec.pictures.limits import check_levels, check_part


class Mapping:
    """An array in a file. Only the part that is being read takes memory.

    Parameters
    ----------
    stream : binary stream
        A file, or ``io.BytesIO``. It may be closed afterwards.
    kind : dtype
    shape : tuple of int
    start : int
        Byte of the file where the array begins. The array must end within the file.
    order : {"C", "F"}
        Whether the last or the first index changes fastest.
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
        """Copy a part of the array."""
        part = np.array(self._samples[index], order="C")
        # Otherwise the pages of the whole file add up in the memory of the process.
        if self._file is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._file.madvise(mmap.MADV_DONTNEED)
        return part


class MappedReader:
    """Reads parts of a picture whose samples are a ``Mapping``; see ``Reader``.

    Parameters
    ----------
    samples : Mapping
    shape : tuple of int
        (H, W) or (H, W, C).
    maxval : int
        Largest sample that the file may have.
    depth : int
        Bits per sample.
    metadata : Metadata
    name : str
        Name of the file in error messages.
    limits : DecodeLimits
        Limits of each part.
    """

    def __init__(
        self,
        samples: Mapping,
        shape: tuple[int, ...],
        maxval: int,
        depth: int,
        metadata: Metadata,
        name: str,
        limits: DecodeLimits,
    ):
        self.shape = shape
        self.depth = depth
        self.metadata = metadata
        self.name = name
        self._samples = samples
        self._maxval = maxval
        self._limits = limits

    def read(self, rows: slice, columns: slice) -> np.ndarray:
        """Read the samples of a part of the picture; see ``Reader.read``."""
        rows, columns = check_part(self.shape, rows, columns, self.name, self._limits)
        samples = self._samples.read((rows, columns))
        if samples.dtype == bool:
            samples = samples.view(np.uint8)
        check_levels(samples, self._maxval, self.name)
        return samples.astype(sample_type(self.depth), copy=False)

    def __enter__(self) -> "MappedReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the mapping."""
        del self._samples
