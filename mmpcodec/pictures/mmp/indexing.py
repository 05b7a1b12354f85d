"""Parts of an array that an index selects, as NumPy's basic indexing has it."""

from typing import Any, NamedTuple

import numpy as np


class Part(NamedTuple):
    """The part of an array that an index selects.

    Parameters
    ----------
    rows, columns : slice
        The smallest rectangle, of step 1, that holds the part.
    rest : tuple
        Index of the part in this rectangle.
    """

    rows: slice
    columns: slice
    rest: tuple[Any, ...]


def part_of(shape: tuple[int, ...], index: Any) -> Part | np.ndarray:
    """Return the part of an array of this shape that an index selects.

    Parameters
    ----------
    shape : tuple of int
        (H, W) or (H, W, C).
    index : int, slice, Ellipsis, None, or a tuple of them

    Returns
    -------
    Part, or an empty array of uint8
        The array has the shape of the part, if the part is empty.

    Raises
    ------
    IndexError
        If the index is of another kind or out of range.

    Examples
    --------
    >>> from mmpcodec.pictures.mmp.indexing import part_of
    >>> part_of((100, 200), (slice(90, 10, -30), 7))
    Part(rows=slice(30, 91, None), columns=slice(7, 8, None), rest=(slice(None, None, -30), 0))
    """
    index = index if isinstance(index, tuple) else (index,)
    for each in index:
        if isinstance(each, bool | np.bool_) or not (
            each is None or each is Ellipsis or isinstance(each, int | np.integer | slice)
        ):
            raise IndexError(
                f"index {each!r}: must be an integer, a slice, ... or None, for each axis"
            )
    selected = np.broadcast_to(np.uint8(0), shape)[index]  # of no memory; checks the index
    if selected.size == 0:
        return np.zeros(selected.shape, np.uint8)
    rest = list(index) if Ellipsis in index else [*index, Ellipsis]
    gap = rest.index(Ellipsis)
    missing = len(shape) - sum(each is not None and each is not Ellipsis for each in rest)
    rest[gap : gap + 1] = [slice(None)] * missing
    down, along = [place for place, each in enumerate(rest) if each is not None][:2]
    rows, rest[down] = _bound(rest[down], shape[0])
    columns, rest[along] = _bound(rest[along], shape[1])
    return Part(rows, columns, tuple(rest))


def _bound(index: Any, length: int) -> tuple[slice, Any]:
    """Return the span of an axis that an index selects from, and the index in that span."""
    found = range(length)[index]
    if isinstance(found, int):
        return slice(found, found + 1), 0
    lowest, highest = min(found[0], found[-1]), max(found[0], found[-1])
    return slice(lowest, highest + 1), slice(None, None, found.step)
