"""The search for windows of an array: rectangles of a matrix, boxes of a volume.

``rectangles`` and ``boxes`` have the functions that users call.
"""

from collections.abc import Sequence
from typing import Any

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.grid import contiguous, on_grid
from mmpcodec.solvers.limits import in_time
from mmpcodec.solvers.max_sum import arguments
from mmpcodec.solvers.max_sum.answers import Window
from mmpcodec.solvers.max_sum.arguments import Limits

SIDES = "depth", "height", "width"

Places = tuple[int, ...]
"""First index along each axis, then the index after the last along each axis."""

Found = tuple[int, ...]
"""Negated sum, then places: the minimum of several is the best."""


def largest(
    kind: type[Window],
    values: Any,
    limits: Sequence[tuple[int | None, int | None]],
    allow_empty: bool,
    time_limit: float | None,
    backend: str,
) -> Window:
    """Return the window of the largest sum; see ``max_rectangle``.

    ``limits`` has the smallest and the largest number of values along each axis.
    """
    search = _Search(kind, values, limits, backend)
    with in_time(f"max_{search.name}", time_limit) as search.deadline:
        total, *places = search.best(search.whole)
    if allow_empty and total >= 0:
        total, places = 0, [0] * len(places)
    return search.window((total, *places))


def disjoint(
    kind: type[Window],
    values: Any,
    k: int,
    limits: Sequence[tuple[int | None, int | None]],
    allow_empty: bool,
    time_limit: float | None,
    backend: str,
    names: str,
) -> list[Window]:
    """Return k disjoint windows, which errors call ``names``; see ``disjoint_rectangles``."""
    search = _Search(kind, values, limits, backend)
    check_int("k", k, 1)
    found: list[Found] = []
    with in_time(f"disjoint_{names}", time_limit) as search.deadline:
        # Each answer that overlaps no found one lies in one of these windows.
        windows = {search.whole: search.best(search.whole)}
        while len(found) < k:
            if not windows:
                if allow_empty:
                    break
                raise ParameterError(f"k = {k}: only {len(found)} disjoint {names} exist")
            one = min(windows.values())
            if allow_empty and one[0] >= 0:
                break
            found.append(one)
            windows = _without(windows, one[1:], search)
    return [search.window(one) for one in found]


def best_rectangle(
    values: Any, sides: Sequence[Limits], operations: Any, deadline: float | None = None
) -> tuple[int, ...]:
    """Return sum, top, left, bottom and right, computed by a backend's operations.

    The arguments are not checked. ``sides`` are the limits of height and width; ``deadline`` is a
    value of ``time.monotonic``.
    """
    heights, widths = sides
    # A backend tries all ranges of rows and scans the columns, so rows are the shorter side.
    if len(values) <= values.shape[1]:
        found = operations.max_rectangle(values, heights, widths, False, deadline)
        total, top, bottom, left, right = found
    else:
        found = operations.max_rectangle(values.T.copy(), widths, heights, True, deadline)
        total, left, right, top, bottom = found
    return total, top, left, bottom, right


class _Search:
    """Checked values and limits, and the operations of a backend."""

    def __init__(
        self,
        kind: type[Any],
        values: Any,
        limits: Sequence[tuple[int | None, int | None]],
        backend: str,
    ):
        self.kind, self.rank = kind, len(limits)
        self.name = kind.__name__.lower()
        self.given = on_grid(values, self.rank, backend)
        shape = self.given.values.shape
        self.whole: Places = (0,) * self.rank + shape
        self.sides = [
            arguments.limits(name, *limit, size)
            for name, limit, size in zip(SIDES[-self.rank :], limits, shape, strict=True)
        ]
        self.operations = dispatch.operations(__package__, backend, self.given.values)
        self.deadline: float | None = None

    def best(self, window: Places) -> Found:
        """Return the best answer inside a window of the array, with places in the array."""
        starts, stops = window[: self.rank], window[self.rank :]
        values = contiguous(self.given.values[tuple(map(slice, starts, stops))])
        sides = [
            (least, min(most, size))
            for (least, most), size in zip(self.sides, values.shape, strict=True)
        ]
        if self.rank == 2:
            total, *places = best_rectangle(values, sides, self.operations, self.deadline)
        else:
            total, *places = self.operations.max_box(values, sides, self.deadline)
        return (-total, *(place + start for place, start in zip(places, starts * 2, strict=True)))

    def window(self, found: Found) -> Any:
        """Return an answer as users see it."""
        total, *places = map(int, found)
        return self.kind(*places, self.given.number(-total))


def _without(windows: dict[Places, Found], taken: Places, search: _Search) -> dict[Places, Found]:
    """Return windows that hold each part of the given windows that does not overlap ``taken``.

    Windows that lie inside others are left out.
    """
    rank = search.rank
    kept = {window: one for window, one in windows.items() if not _overlap(window, taken)}
    parts: set[Places] = set()
    for window in windows.keys() - kept.keys():
        for axis in range(rank):
            before, after = list(window), list(window)
            before[rank + axis] = taken[axis]
            after[axis] = taken[rank + axis]
            parts |= {tuple(before), tuple(after)}
    parts = {
        part
        for part in parts
        if all(part[rank + axis] - part[axis] >= search.sides[axis][0] for axis in range(rank))
    }
    for part in parts:
        if not any(part != other and _inside(part, other) for other in parts | kept.keys()):
            kept[part] = search.best(part)
    return kept


def _overlap(a: Places, b: Places) -> bool:
    rank = len(a) // 2
    return all(a[axis] < b[rank + axis] and b[axis] < a[rank + axis] for axis in range(rank))


def _inside(a: Places, b: Places) -> bool:
    rank = len(a) // 2
    return all(b[axis] <= a[axis] and a[rank + axis] <= b[rank + axis] for axis in range(rank))
