"""Bring the samples of a volume to unsigned integers of up to 16 bits, of which none changes."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mmpcodec.depth import MAX_DEPTH, sample_type
from mmpcodec.errors import PictureError
from mmpcodec.samples import Samples

_LEVELS = 1 << MAX_DEPTH
_NEXT = (
    "nibabel scales them to 16 bits, with rounding: image.set_data_dtype('int16'), then "
    "nibabel.save(image, name)"
)


@dataclass(frozen=True)
class StoredLevels:
    """How stored samples become samples.

    Parameters
    ----------
    shift : int
        Is subtracted from each.
    depth : int
        Bits of a sample.
    """

    shift: int
    depth: int

    def samples(self, stored: np.ndarray) -> Samples:
        """Return the samples of a slice."""
        if stored.dtype.kind == "u":
            stored = stored - stored.dtype.type(self.shift)
        elif self.shift or stored.dtype.kind == "f":
            stored = stored.astype(np.float64 if stored.dtype.kind == "f" else np.int64)
            stored -= self.shift
        return stored.astype(sample_type(self.depth), order="C")


def levels_of(
    kind: np.dtype, count: int, read: Callable[[int], np.ndarray], name: str
) -> StoredLevels:
    """Find how the samples of a volume become unsigned; those that are not are looked through.

    The shift is 0 if no sample is negative and all fit into 16 bits, else the least sample.

    Parameters
    ----------
    kind : dtype
        Type of a stored sample.
    count : int
        Number of slices.
    read : callable
        ``read(number)`` returns the stored samples of a slice.
    name : str

    Raises
    ------
    PictureError
        If there are samples that are no integers, or too many levels between them.
    """
    if kind.kind == "u" and kind.itemsize <= 2:
        return StoredLevels(0, 8 * kind.itemsize)
    least: list[int] = []
    most: list[int] = []
    for number in range(count):
        try:
            stored = read(number)
        except (OSError, EOFError, zlib.error):  # reading the slice will say what is wrong
            if not least:
                raise
            break
        if kind.kind == "f":
            _check_integers(stored, number, name)
        least.append(int(stored.min()))
        most.append(int(stored.max()))
    low, high = min(least), max(most)
    if high - low >= _LEVELS:
        raise PictureError(
            f"{name}: holds samples from {low} to {high}; supported are {_LEVELS} levels. {_NEXT}"
        )
    shift = 0 if low >= 0 and high < _LEVELS else low
    return StoredLevels(shift, max(1, (high - shift).bit_length()))


def _check_integers(stored: np.ndarray, number: int, name: str) -> None:
    wrong = ~np.isfinite(stored)
    wrong |= np.rint(stored) != stored
    if wrong.any():
        row, column = (int(each[0]) for each in np.nonzero(wrong))
        raise PictureError(
            f"{name}: holds floating-point samples that are no integers, as {stored[row, column]} "
            f"at voxel ({column}, {row}) of slice {number + 1}; supported are integers. {_NEXT}"
        )
