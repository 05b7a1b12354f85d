"""Median, rank and percentile filters. See the package for ranks, borders and masks."""

import math
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.rank_filter.arguments import (
    mask_for,
    picture_of,
    value_beyond,
    window_of,
)
from mmpcodec.solvers.rank_filter.borders import check_mode, places, with_constant

Size = int | tuple[int, int] | None


def median_filter(
    picture: Any,
    size: Size = None,
    *,
    footprint: Any = None,
    mode: str = "reflect",
    cval: float = 0,
    mask: Any = None,
    backend: str = "auto",
) -> Any:
    """Replace each pixel by the median of the window around it.

    Parameters
    ----------
    picture : (H, W) array of uint8, uint16, int16, float32 or float64
    size : int or (int, int)
        Height and width of the window, from 1 to 255, not both 1. One number sets both.
    footprint : (height, width) array
        Instead of ``size``: nonzero for the cells of a window of any shape.
    mode : {"reflect", "mirror", "nearest", "wrap", "constant"}
        Rule for the values beyond the border.
    cval : number
        Value beyond the border for "constant", within the type of the picture, not NaN.
    mask : (H, W) array or None
        Zero for pixels that windows leave out. NaN is always left out.
    backend : {"auto", "cpu", "cuda", "reference"}

    Returns
    -------
    (H, W) array of the picture's type

    Raises
    ------
    ParameterError
        When an argument is invalid.
    BackendUnavailable
        When a named backend cannot run here.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.solvers.rank_filter import median_filter
    >>> row = np.array([[5, 5, 90, 5, 7]], np.uint8)
    >>> median_filter(row, (1, 3)).tolist()
    [[5, 5, 5, 7, 7]]
    >>> cross = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
    >>> median_filter(np.array([[1, 9, 2], [8, 5, 7], [3, 6, 4]], np.uint8), footprint=cross)[1, 1]
    np.uint8(7)
    """
    window = window_of(size, footprint)
    ranks = (_counts(window) - 1) // 2
    ranks[-1] = window[-1] // 2
    return _filtered(picture, window, ranks, mode, cval, mask, backend)


def rank_filter(
    picture: Any,
    rank: int,
    size: Size = None,
    *,
    footprint: Any = None,
    mode: str = "reflect",
    cval: float = 0,
    mask: Any = None,
    backend: str = "auto",
) -> Any:
    """Replace each pixel by the value of a rank in the window around it.

    Parameters
    ----------
    picture : (H, W) array of uint8, uint16, int16, float32 or float64
    rank : int
        Position in ascending order, from 0 for the smallest value. Negative ranks count from the
        largest value, which has the rank -1.
    size, footprint, mode, cval, mask, backend
        As in ``median_filter``, which also names the result and the errors.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.solvers.rank_filter import rank_filter
    >>> row = np.array([[5, 5, 90, 5, 7]], np.uint8)
    >>> rank_filter(row, -1, (1, 3)).tolist()
    [[5, 90, 90, 90, 7]]
    """
    window = window_of(size, footprint)
    counts, area = _counts(window), window[-1]
    rank = check_int("rank", rank, -area, area - 1, f" for {area} pixels")
    ranks = np.minimum(rank, counts - 1) if rank >= 0 else counts + rank
    return _filtered(picture, window, ranks, mode, cval, mask, backend)


def percentile_filter(
    picture: Any,
    percentile: float,
    size: Size = None,
    *,
    footprint: Any = None,
    mode: str = "reflect",
    cval: float = 0,
    mask: Any = None,
    backend: str = "auto",
) -> Any:
    """Replace each pixel by a percentile of the window around it.

    Parameters
    ----------
    picture : (H, W) array of uint8, uint16, int16, float32 or float64
    percentile : float
        From 0, the smallest value, to 100, the largest.
    size, footprint, mode, cval, mask, backend
        As in ``median_filter``, which also names the result and the errors.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.solvers.rank_filter import percentile_filter
    >>> row = np.array([[5, 5, 90, 5, 7]], np.uint8)
    >>> percentile_filter(row, 0, (1, 3)).tolist()
    [[5, 5, 5, 5, 5]]
    """
    window = window_of(size, footprint)
    counts = _counts(window)
    try:
        part = float(percentile)
    except (TypeError, ValueError, OverflowError):
        part = math.nan
    if not 0 <= part <= 100:
        raise ParameterError(f"percentile = {percentile!r}: must be a number from 0 to 100")
    ranks = np.minimum(counts * part / 100, counts - 1)
    return _filtered(picture, window, ranks, mode, cval, mask, backend)


def _counts(window: tuple[Any, Any, int]) -> np.ndarray:
    """Return the possible numbers of valid pixels in a window: 0 to that of its cells."""
    return np.arange(window[-1] + 1)


def _filtered(
    picture: Any,
    window: tuple[tuple[int, int], np.ndarray | None, int],
    ranks: np.ndarray,
    mode: str,
    cval: float,
    mask: Any,
    backend: str,
) -> Any:
    """Replace each pixel by the value of rank ``ranks[n]``, n being the window's valid pixels."""
    sides, cells, _ = window
    ranks = np.maximum(ranks, 0).astype(np.int32)
    check_mode(mode)
    picture = picture_of(picture)
    beyond = value_beyond(cval, picture.dtype)
    xp = module_of(picture)
    valid = mask_for(mask, picture)
    operation = dispatch.operations(__package__, backend, picture)
    rows, columns = (
        places(mode, length, side) for length, side in zip(picture.shape, sides, strict=True)
    )
    constant = mode == "constant"
    samples = xp.ascontiguousarray(with_constant(picture, beyond) if constant else picture)
    if valid is None:
        filtered = operation.ranked(samples, (rows, columns), sides, int(ranks[-1]), cells)
        if filtered is not None:
            return filtered
    if picture.dtype.kind == "f":
        numbers = ~xp.isnan(picture)
        valid = numbers if valid is None else valid & numbers
    valid = xp.ascontiguousarray(with_constant(valid, True) if constant else valid)
    filtered, found = operation.ranked_of_valid(
        samples, valid, (rows, columns), sides, ranks, cells
    )
    return xp.where(found, filtered, picture)
