"""Values rounded to integer multiples of a power of two, so that sums are exact."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mmpcodec.checks import dimensions
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
        int64; any integer type but uint64 on a device, or where asked for. The sum of the
        magnitudes is below 2**63.
    exponent : int or None
        An integer v stands for the number v * 2**exponent; None if the input was integers.
    """

    values: np.ndarray
    exponent: int | None

    def number(self, value: int) -> int | float:
        """Return the number that a sum of the values stands for."""
        return number(value, self.exponent)


def number(total: int, exponent: int | None) -> int | float:
    """Return the number that a sum in units of 2**exponent stands for; None if it is an integer."""
    return int(total) if exponent is None else math.ldexp(int(total), exponent)


class Magnitudes(NamedTuple):
    """Magnitudes of the values of one part of an array. The grid of the whole depends on them.

    Parameters
    ----------
    size : int
        Number of values.
    total : int
        Sum of the magnitudes of integers; 0 for floating-point numbers.
    largest : float
        Largest magnitude of floating-point numbers; 0 for integers.
    """

    size: int
    total: int = 0
    largest: float = 0.0

    def joined(self, other: "Magnitudes") -> "Magnitudes":
        """Return the magnitudes of the values of both parts; the order does not matter."""
        largest = max(self.largest, other.largest)
        return Magnitudes(self.size + other.size, self.total + other.total, largest)

    def exponent(self, dtype: Any) -> int | None:
        """Return the exponent of the grid of an array of this type; None for integers.

        Raises
        ------
        ParameterError
            When the sums may be too large; see ``on_grid``.
        """
        if is_integer(dtype):
            check_total(self.total)
            return None
        return exponent_of(self.largest, self.size)


def magnitudes(values: Any) -> Magnitudes:
    """Return the magnitudes of an array of any shape, which may be empty.

    Raises
    ------
    ParameterError
        When the type is wrong, or a value is NaN or infinite.
    """
    if values.size == 0:
        return Magnitudes(0)
    if is_integer(values.dtype):
        return Magnitudes(values.size, total=_total(values))
    place = first_not_finite(values)
    if place is not None:
        raise not_finite(float(values[place]), place)
    return Magnitudes(values.size, largest=float(abs(values).max()))


def checked(array: Any, rank: int, name: str = "values") -> Any:
    """Return the values as an array of NumPy or CuPy.

    Raises
    ------
    ParameterError
        When the rank is wrong, or the array is empty.
    """
    array = as_array(name, array)
    if array.ndim != rank:
        raise ParameterError(f"{name} of shape {array.shape}: must have {dimensions(rank)}")
    if array.size == 0:
        raise ParameterError(f"{name} of shape {array.shape}: must not be empty")
    return array


def on_grid(
    array: Any, rank: int, backend: str = "auto", name: str = "values", *, any_type: bool = False
) -> Grid:
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
    any_type : bool
        Whether integers of host memory may keep their type, except uint64 and bool.

    Raises
    ------
    ParameterError
        When the rank or the type is wrong, the array is empty or contains NaN or infinities, the
        magnitudes of integers add up to 2**63 or more, or sums of floating-point numbers may reach
        2**1023.
    """
    array = checked(array, rank, name)
    if is_integer(array.dtype, name):
        any_type = any_type or dispatch.runs_on_device(backend, array)
        return Grid(_checked_integers(array, any_type), None)
    return _rounded(array.astype(np.float64))


def is_integer(dtype: Any, name: str = "values") -> bool:
    """Return whether values of a type are added as they are, instead of rounded to a grid.

    Raises
    ------
    ParameterError
        When the type is none of integers, bool, float32 and float64.
    """
    dtype = np.dtype(dtype)
    if dtype.kind in "iub":
        return True
    if dtype.kind == "f" and dtype.itemsize in (4, 8):
        return False
    raise ParameterError(f"{name} of type {dtype}: must be integers, bool, float32 or float64")


def bound(dtype: Any) -> int:
    """Return an upper bound of the magnitudes of an integer type or bool."""
    return 1 if np.dtype(dtype) == bool else int(np.iinfo(dtype).max) + 1


def check_total(total: int) -> None:
    """Check the sum of the magnitudes of integers.

    Raises
    ------
    ParameterError
        When the sum is 2**63 or more.
    """
    if total > MAX_SUM:
        raise ParameterError(
            f"values whose magnitudes add up to {total}: must be at most {MAX_SUM}"
        )


def exponent_of(largest: float, size: int) -> int:
    """Return the exponent of the grid of ``size`` floating-point numbers.

    Parameters
    ----------
    largest : float
        The largest magnitude.
    size : int

    Raises
    ------
    ParameterError
        When sums may reach 2**1023.
    """
    if largest == 0:
        return 0
    # |v| < 2**high, so rounded magnitudes are at most 2**bits, their sum at most 2**GRID_SUM_BITS.
    high = math.frexp(largest)[1]
    if high + (size - 1).bit_length() > MAX_EXPONENT:
        raise ParameterError(
            f"{size} values up to {largest}: their sums must be below 2**{MAX_EXPONENT}"
        )
    return high - (GRID_SUM_BITS - (size - 1).bit_length())


def rounded(array: Any, exponent: int) -> Any:
    """Return floating-point numbers in units of 2**exponent, as int64 array."""
    xp = module_of(array)
    return xp.rint(xp.ldexp(array.astype(np.float64), -exponent)).astype(np.int64)


def first_not_finite(array: Any) -> tuple[int, ...] | None:
    """Return the place of the first NaN or infinity in C order, or None."""
    xp = module_of(array)
    if bool(xp.isfinite(array).all()):
        return None
    return tuple(int(i) for i in xp.argwhere(~xp.isfinite(array))[0])


def not_finite(value: float, place: tuple[int, ...]) -> ParameterError:
    """Return the error of a NaN or an infinity."""
    return ParameterError(f"value {value} at {place}: must be finite")


def on_known_grid(values: Any, exponent: int | None) -> Any:
    """Return the values of a part of an array as int64 array in C order, in units of its grid."""
    if exponent is None:
        return values.astype(np.int64, order="C", copy=False)
    return rounded(values, exponent)


def largest_of(values: Any) -> int:
    """Return the largest magnitude of integers or bool."""
    return max(int(values.max()), -int(values.min()))


def _total(values: Any) -> int:
    """Return the exact sum of the magnitudes of integers."""
    xp = module_of(values)
    if largest_of(values) * values.size <= MAX_SUM:
        return int(xp.abs(values.astype(np.int64)).sum())
    # The magnitude of the smallest int64 fits uint64 only, and the sum may fit neither.
    unsigned = values.astype(np.uint64)
    if values.dtype.kind == "i":
        unsigned = xp.where(values < 0, ~unsigned + np.uint64(1), unsigned)
    half = np.uint64(32)
    return (int((unsigned >> half).sum()) << 32) + int((unsigned & np.uint64(2**32 - 1)).sum())


def _checked_integers(array: Any, any_type: bool) -> Any:
    # The range of the type avoids reading the values; the range of the values avoids summing them.
    largest = bound(array.dtype)
    if largest * array.size > MAX_SUM:
        largest = largest_of(array)
    if largest * array.size > MAX_SUM:
        check_total(_total(array))
    if any_type and array.dtype.kind != "b" and array.dtype.isnative and array.dtype != np.uint64:
        return contiguous(array)
    return contiguous(array.astype(np.int64, copy=False))


def contiguous(array: Any) -> Any:
    """Return the array in C order, in the same memory space."""
    return array if array.flags.c_contiguous else array.copy(order="C")


def _rounded(array: Any) -> Grid:
    place = first_not_finite(array)
    if place is not None:
        raise not_finite(float(array[place]), place)
    exponent = exponent_of(float(abs(array).max()), array.size)
    return Grid(rounded(array, exponent), exponent)
