"""Answers of the solvers. ``sum`` is an int for integer values, else a float."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Interval:
    """Values ``start`` to ``stop`` - 1 of a sequence."""

    start: int
    stop: int
    sum: int | float

    @property
    def length(self) -> int:
        """Number of values."""
        return self.stop - self.start


@dataclass(frozen=True, eq=False)
class Intervals(Sequence[Interval]):
    """Intervals of a sequence as arrays; a sequence of ``Interval`` too.

    An index gives an ``Interval``, a slice gives ``Intervals``. Two are equal if their intervals
    are. The arrays cannot be written to.

    Parameters
    ----------
    starts, stops : (N,) int64 arrays
        Interval i is the values ``starts[i]`` to ``stops[i]`` - 1.
    sums : (N,) int64 array, or float64 for floating-point values
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    sums: NDArray[np.int64] | NDArray[np.float64]

    def __post_init__(self) -> None:
        for name, dtype in (("starts", np.int64), ("stops", np.int64), ("sums", None)):
            # A view, so that the caller's array stays as it is.
            array = np.asarray(getattr(self, name), dtype).view()
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Numbers of values, as (N,) int64 array."""
        return self.stops - self.starts

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> Interval: ...
    @overload
    def __getitem__(self, index: slice) -> "Intervals": ...
    def __getitem__(self, index: int | slice) -> "Interval | Intervals":
        if isinstance(index, slice):
            return Intervals(self.starts[index], self.stops[index], self.sums[index])
        start, stop, total = self.starts[index], self.stops[index], self.sums[index]
        return Interval(start.item(), stop.item(), total.item())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Intervals):
            return NotImplemented
        return all(map(np.array_equal, vars(self).values(), vars(other).values()))

    def __hash__(self) -> int:
        return hash((self.starts.tobytes(), self.stops.tobytes()))


@dataclass(frozen=True)
class IntervalCensus:
    """All intervals of the largest sum.

    Parameters
    ----------
    sum : int or float
        The largest sum of an interval of at least one value.
    count : int
        Number of intervals of this sum, overlapping ones included.
    disjoint : int
        Largest number of such intervals that do not overlap.
    longest, shortest : Interval
        Of intervals of equal length, the first.
    """

    sum: int | float
    count: int
    disjoint: int
    longest: Interval
    shortest: Interval


class _Window:
    """Sides and mean of a rectangle or a box."""

    top: int
    left: int
    bottom: int
    right: int
    sum: int | float

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.bottom - self.top

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.right - self.left

    @property
    def _size(self) -> int:
        return self.height * self.width

    @property
    def density(self) -> float:
        """Mean of the values."""
        return self.sum / self._size


@dataclass(frozen=True)
class Rectangle(_Window):
    """Rows ``top`` to ``bottom`` - 1 and columns ``left`` to ``right`` - 1 of a matrix."""

    top: int
    left: int
    bottom: int
    right: int
    sum: int | float

    @property
    def area(self) -> int:
        """Number of values."""
        return self._size


@dataclass(frozen=True)
class Box(_Window):
    """Planes ``front`` to ``back`` - 1 of a volume, with equal rows and columns of each plane.

    The rows are ``top`` to ``bottom`` - 1, the columns ``left`` to ``right`` - 1.
    """

    front: int
    top: int
    left: int
    back: int
    bottom: int
    right: int
    sum: int | float

    @property
    def depth(self) -> int:
        """Number of planes."""
        return self.back - self.front

    @property
    def volume(self) -> int:
        """Number of values."""
        return self._size

    @property
    def _size(self) -> int:
        return self.depth * self.height * self.width


Window = TypeVar("Window", Rectangle, Box)


@dataclass(frozen=True)
class _Census(Generic[Window]):
    sum: int | float
    count: int
    largest: Window
    smallest: Window
    densest: Window


class RectangleCensus(_Census[Rectangle]):
    """All rectangles of the largest sum: it, their count, the largest, smallest and densest.

    ``count`` includes overlapping ones. Areas are compared; of equal areas or means, the first is
    taken.
    """


class BoxCensus(_Census[Box]):
    """All boxes of the largest sum, as in ``RectangleCensus``; volumes are compared."""
