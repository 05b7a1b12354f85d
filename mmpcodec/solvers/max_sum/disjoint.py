"""Disjoint rectangles or boxes, best first; each has the largest sum of the remaining values."""

from collections.abc import Callable, Sequence

from mmpcodec.errors import ParameterError

Places = tuple[int, ...]
"""First index along each axis, then the index after the last along each axis."""

Found = tuple[int, ...]
"""Negated sum, then places: the minimum of several is the best."""


def disjoint(
    shape: Sequence[int],
    least: Sequence[int],
    best: Callable[[Places], Found],
    k: int,
    allow_empty: bool,
    name: str,
) -> list[Found]:
    """Find up to k disjoint parts of an array.

    Parameters
    ----------
    shape : sequence of int
        Sides of the array.
    least : sequence of int
        Smallest sides of a part.
    best : callable
        Returns the best part of a window of the array, with places in the array.
    k : int
    allow_empty : bool
        Whether to return fewer than k parts if no positive sum is left.
    name : str
        What parts are called in the error.

    Raises
    ------
    ParameterError
        When fewer than k parts exist and ``allow_empty`` is False.
    """
    # Each part that overlaps no found part lies in one of these windows.
    whole = (0,) * len(shape) + tuple(shape)
    windows = {whole: best(whole)}
    found: list[Found] = []
    while len(found) < k:
        if not windows:
            if allow_empty:
                break
            raise ParameterError(f"k = {k}: only {len(found)} disjoint {name} exist")
        one = min(windows.values())
        if allow_empty and one[0] >= 0:
            break
        found.append(one)
        windows = _without(windows, one[1:], least, best)
    return found


def _without(
    windows: dict[Places, Found],
    taken: Places,
    least: Sequence[int],
    best: Callable[[Places], Found],
) -> dict[Places, Found]:
    """Return windows that hold each part of the given windows that does not overlap ``taken``.

    Windows that lie inside others are left out.
    """
    rank = len(least)
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
        if all(part[rank + axis] - part[axis] >= least[axis] for axis in range(rank))
    }
    for part in parts:
        if not any(part != other and _inside(part, other) for other in parts | kept.keys()):
            kept[part] = best(part)
    return kept


def _overlap(a: Places, b: Places) -> bool:
    rank = len(a) // 2
    return all(a[axis] < b[rank + axis] and b[axis] < a[rank + axis] for axis in range(rank))


def _inside(a: Places, b: Places) -> bool:
    rank = len(a) // 2
    return all(b[axis] <= a[axis] and a[rank + axis] <= b[rank + axis] for axis in range(rank))
