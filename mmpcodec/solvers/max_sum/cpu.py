"""Operations in C++, on all processor cores; see ``kernels/cpu/solvers/max_sum/max_sum.h``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mmpcodec import _cpu
from mmpcodec._cpu import interval_census, sums_through
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.grid import rounded
from mmpcodec.solvers.limits import OutOfTime, seconds_left
from mmpcodec.solvers.max_sum.arguments import Limits

__all__ = [
    "box_census",
    "fitting_interval",
    "interval_census",
    "interval_summary",
    "largest_magnitude",
    "max_box",
    "max_interval",
    "max_rectangle",
    "max_rounded",
    "maximal_intervals",
    "maximal_rounded",
    "strip_maxima",
    "sums_through",
]

PIECE = 1 << 15
"""Values of a sequence that ``maximal_intervals`` searches at a time."""
SCALES = 1000
"""Largest exponent of a grid whose factor is a normal number of float64."""
FEW = 1 << 18
"""Largest number of values for which threads take longer than they save."""


def max_interval(values: np.ndarray, lengths: Limits) -> tuple[int, int, int]:
    """See the function in ``reference``; takes any integer type but uint64."""
    if lengths == (1, len(values)):
        return _cpu.largest_interval(_plain(values), 1.0)
    return _cpu.max_interval(values.astype(np.int64, copy=False), lengths)


def interval_summary(values: np.ndarray, exponent: int | None) -> tuple:
    """See the function in ``reference``."""
    if exponent is None:
        return _cpu.interval_summary(_integers(values), 1.0)
    if abs(exponent) > SCALES:
        return _cpu.interval_summary(rounded(values, exponent), 1.0)
    return _cpu.interval_summary(_plain(values), 2.0**-exponent)


def fitting_interval(values: np.ndarray) -> tuple[int, int, int] | None:
    """Return sum, start and stop of the first best interval of int64, which were not checked.

    None if their magnitudes may add up to 2**63.
    """
    return _cpu.fitting_interval(_plain(values))


def largest_magnitude(values: np.ndarray) -> float:
    """Return the largest magnitude of floating-point numbers; infinity if there is NaN."""
    return _cpu.largest_magnitude(_plain(values))


def max_rounded(values: np.ndarray, exponent: int) -> tuple[int, int, int]:
    """Return sum, start and stop of the first best interval, in units of 2**exponent.

    Values are rounded to the units as ``grid.rounded`` does.
    """
    return _cpu.largest_interval(_plain(values), 2.0**-exponent)


def maximal_intervals(values: np.ndarray) -> np.ndarray:
    """See the function in ``reference``; takes any integer type but uint64."""
    return _maximal_intervals(values, 1.0)


def maximal_rounded(values: np.ndarray, exponent: int) -> np.ndarray:
    """Return the maximal intervals, in units of 2**exponent, of floating-point numbers."""
    return _maximal_intervals(values, 2.0**-exponent)


def _maximal_intervals(values: np.ndarray, scale: float) -> np.ndarray:
    threads = processors() if len(values) > FEW else 1
    return _cpu.maximal_intervals(_plain(values), scale, PIECE, threads)


def _integers(values: np.ndarray) -> np.ndarray:
    """Return integers of a type that C++ can read."""
    of_int64 = values.dtype == bool or values.dtype.newbyteorder("=") == np.uint64
    return _plain(values.astype(np.int64) if of_int64 else values)


def _plain(values: np.ndarray) -> np.ndarray:
    """Return an array that C++ can read: in C order, aligned, in the machine's byte order."""
    return np.require(values, values.dtype.newbyteorder("="), ["C", "A"])


def max_rectangle(
    values: np.ndarray,
    heights: Limits,
    widths: Limits,
    transposed: bool,
    deadline: float | None = None,
) -> tuple[int, int, int, int, int]:
    """See the function in ``reference``."""
    left = seconds_left(deadline)
    return _in_time(_cpu.max_rectangle(values, heights, widths, transposed, left, processors()))


def max_box(
    values: np.ndarray, sides: Sequence[Limits], deadline: float | None = None
) -> tuple[int, ...]:
    """See the function in ``reference``."""
    volume, axes = _turned(values)
    limits = tuple(sides[axis] for axis in axes)
    left = seconds_left(deadline)
    total, starts, stops = _in_time(_cpu.max_box(volume, axes, limits, left, processors()))
    return total, *_places(axes, starts, stops)


def box_census(values: np.ndarray, deadline: float | None = None) -> tuple:
    """See the function in ``reference``."""
    volume, axes = _turned(values)
    found = _in_time(_cpu.box_census(volume, axes, seconds_left(deadline), processors()))
    total, count, (_, *largest), (_, *smallest) = found
    return total, count, _places(axes, *largest), _places(axes, *smallest)


def _turned(values: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Return a volume with sides of ascending length, and which axis of the values each is.

    Slabs along the shortest side and intervals along the longest give the least work.
    """
    axes = np.argsort(values.shape, kind="stable").tolist()
    return np.ascontiguousarray(values.transpose(axes)), axes


def _places(axes: list[int], starts: Sequence[int], stops: Sequence[int]) -> tuple[int, ...]:
    """Return the starts and the stops along the axes of the values."""
    order = np.argsort(axes).tolist()
    return (*(starts[axis] for axis in order), *(stops[axis] for axis in order))


def strip_maxima(values: np.ndarray, deadline: float | None = None) -> np.ndarray:
    """See the function in ``reference``."""
    return _in_time(_cpu.strip_maxima(values, seconds_left(deadline), processors()))


def _in_time(found: Any) -> Any:
    """Return an answer of C++, which is None if time has run out."""
    if found is None:
        raise OutOfTime
    return found
