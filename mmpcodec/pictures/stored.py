"""Read parts of files whose samples have the layout of an array in memory."""

import io
import itertools
import math
from typing import BinaryIO, Literal

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.pictures.limits import check_levels, check_part, damage_reported
from mmpcodec.runtime.files import FileBytes
from mmpcodec.samples import Samples


class StoredArray:
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
        self._bytes: memoryview | FileBytes
        if isinstance(stream, io.BytesIO):  # getbuffer would copy the bytes of which it was made
            self._bytes = memoryview(stream.getvalue())
        else:
            self._bytes = FileBytes(stream)
        self._kind = np.dtype(kind)
        self._shape = shape
        self._start = start
        self._order = order

    def read(self, index: tuple[slice, ...]) -> np.ndarray:
        """Copy a part of the array, a slice of step 1 for each of the first axes.

        Raises
        ------
        EOFError
            If the file has become shorter since it was opened.
        """
        missing = (slice(None),) * (len(self._shape) - len(index))
        if self._order == "F":
            return np.ascontiguousarray(self._read((*index, *missing)[::-1], self._shape[::-1]).T)
        return self._read((*index, *missing), self._shape)

    def _read(self, index: tuple[slice, ...], shape: tuple[int, ...]) -> np.ndarray:
        """Copy a part of an array in C order."""
        bounds = [part.indices(length)[:2] for part, length in zip(index, shape, strict=True)]
        counts = [stop - start for start, stop in bounds]
        cut = [axis for axis, length in enumerate(shape) if counts[axis] < length]
        # From the last axis that is cut on, the part lies together in the file.
        last = cut[-1] if cut else 0
        size = self._kind.itemsize
        steps = [size * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        samples = np.empty(counts, self._kind)
        runs = samples.reshape(-1).view(np.uint8).reshape(math.prod(counts[:last]), -1)
        first = self._start + bounds[last][0] * steps[last]
        for run, place in zip(
            runs, itertools.product(*(range(*one) for one in bounds[:last])), strict=True
        ):
            start = first + sum(number * step for number, step in zip(place, steps, strict=False))
            found = self._bytes[start : start + len(run)]
            if len(found) < len(run):
                raise EOFError(f"the file has become shorter: it ends at byte {start + len(found)}")
            run[:] = found
        return samples

    def close(self) -> None:
        """Close the file."""
        if isinstance(self._bytes, FileBytes):
            self._bytes.close()


class StoredReader:
    """Reads parts of a picture whose samples are a ``StoredArray``; see ``Reader``.

    Parameters
    ----------
    samples : StoredArray
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
        samples: StoredArray,
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

    def read(self, rows: slice, columns: slice) -> Samples:
        """Read the samples of a part of the picture; see ``Reader.read``."""
        rows, columns = check_part(self.shape, rows, columns, self.name, self._limits)
        with damage_reported(self.name):
            samples = self._samples.read((rows, columns))
        if samples.dtype == bool:
            samples = samples.view(np.uint8)
        check_levels(samples, self._maxval, self.name)
        return samples.astype(sample_type(self.depth), copy=False)

    def __enter__(self) -> "StoredReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._samples.close()
