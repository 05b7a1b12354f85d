"""Values rounded to integer multiples of a power of two, so that sums are exact."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, module_of
from mmpcodec.solvers import dispatch

MAX_SUM = (1 << 63) - 1
GRID_SUM_BITS = 62
MAX_EXPONENT = 1023


@dataclass(frozen=True)
class Grid:
    """An array of integers in units of a power of two.

    Parameters
    ----------
    values : integer array in C order
        int64; on a device any integer type except uint64. The sum of the magnitudes is below 2**63.
    exponent : int or None
        An integer v stands for the number v * 2**exponent; None if the input was integers.
    """

    values: np.ndarray
    exponent: int | None

    def number(self, value: int) -> int | float:
        """Return the number that a sum of the values stands for."""
        return int(value) if self.exponent is None else math.ldexp(int(value), self.exponent)


def on_grid(array: Any, rank: int, backend: str = "auto", name: str = "values") -> Grid:
    """Check an array and round it to a grid; ``max_sum`` states the rule on sums.

    Parameters
    ----------
    array : array of integers, floating-point numbers or bool
        A CuPy array stays on its device.
    rank : int
        Required number of dimensions.
    backend : str
        Name of the backend that will add the values.
    name : str
        Name of the argument in errors.

    Raises
    ------
    ParameterError
        When the rank or the type is wrong, the array is empty or contains NaN or infinities, the
        magnitudes of integers add up to 2**63 or more, or sums of floating-point numbers may reach
        2**1023.
    """
    array = as_array(name, array)
    if array.ndim != rank:
        raise ParameterError(f"{name} of shape {array.shape}: must have {rank} dimensions")
    if array.size == 0:
        raise ParameterError(f"{name} of shape {array.shape}: must not be empty")
    if array.dtype.kind in "iub":
        return Grid(_checked_integers(array, dispatch.runs_on_device(backend, array)), None)
    if array.dtype.kind == "f" and array.dtype.itemsize in (4, 8):
        return _rounded(array.astype(np.float64))
    raise ParameterError(
        f"{name} of type {array.dtype}: must be integers, bool, float32 or float64"
    )


def _checked_integers(array: Any, any_type: bool) -> Any:
    # The range of the type avoids reading the values; the range of the values avoids summing them.
    largest = 1 if array.dtype == bool else np.iinfo(array.dtype).max + 1
    if largest * array.size > MAX_SUM:
        largest = max(int(array.max()), -int(array.min()))
    if largest * array.size > MAX_SUM:
        total = sum(map(abs, array.ravel().tolist()))
        if total > MAX_SUM:
            raise ParameterError(
                f"values whose magnitudes add up to {total}: must be at most {MAX_SUM}"
            )
    if any_type and array.dtype.kind != "b" and array.dtype != np.uint64:
        return _contiguous(array)
    return _contiguous(array.astype(np.int64, copy=False))


def _contiguous(array: Any) -> Any:
    """Return the array in C order, in the same memory space."""
    return array if array.flags.c_contiguous else array.copy(order="C")


def _rounded(array: Any) -> Grid:
    xp = module_of(array)
    if not bool(xp.isfinite(array).all()):
        place = tuple(int(i) for i in xp.argwhere(~xp.isfinite(array))[0])
        raise ParameterError(f"value {float(array[place])} at {place}: must be finite")
    largest = float(abs(array).max())
    if largest == 0:
        return Grid(xp.zeros(array.shape, np.int64), 0)
    # |v| < 2**high, so rounded magnitudes are at most 2**bits, their sum at most 2**GRID_SUM_BITS.
    high = math.frexp(largest)[1]
    if high + (array.size - 1).bit_length() > MAX_EXPONENT:
        raise ParameterError(
            f"{array.size} values up to {largest}: their sums must be below 2**{MAX_EXPONENT}"
        )
    bits = GRID_SUM_BITS - (array.size - 1).bit_length()
    exponent = high - bits
    return Grid(xp.rint(xp.ldexp(array, -exponent)).astype(np.int64), exponent)
