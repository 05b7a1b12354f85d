"""Reference of each operation in NumPy; the other backends must return the same answers.

A backend is a module with these two functions. Both take samples of uint8, uint16, int16, float32
or float64 in C order and the border, two int32 arrays in host memory: the windows move over
``samples[np.ix_(rows, columns)]``, which has H + height - 1 rows and W + width - 1 columns for a
result of (H, W). Sides of the window are 1 to 255, not both 1 if all cells belong to it. ``cells``
is a (height, width) bool array in host memory, true for the cells that belong to the window, or
None if all do. Answers are in the memory of the samples, host or device.

The first H rows and W columns of the samples are the picture: ``rows[height // 2 + y]`` is y for
all y below H. A constant border adds one row and one column.
"""

from collections.abc import Iterator

import numpy as np

from mmpcodec.solvers.selection.keys import from_keys, to_keys

Window = tuple[int, int]
"""Height and width."""

Border = tuple[np.ndarray, np.ndarray]
"""Rows and columns of the samples that windows contain, as ``borders.places`` gives them."""

VALUES_AT_ONCE = 1 << 22
Cells = np.ndarray | None
"""Cells of the window, or None for all of them."""


def ranked(
    samples: np.ndarray, border: Border, window: Window, rank: int, cells: Cells = None
) -> np.ndarray | None:
    """Return the value of a rank in each window.

    Parameters
    ----------
    samples : (H, W) or (H + 1, W + 1) array
    border : (H + height - 1,) and (W + width - 1,) int32 arrays
    window : (int, int)
    rank : int
        From 0, the smallest value, to the number of cells minus 1.
    cells : (height, width) bool array or None

    Returns
    -------
    (H, W) array of the same type
        None if a sample is NaN; then ``ranked_of_valid`` has to leave it out.
    """
    if samples.dtype.kind == "f" and np.isnan(samples).any():
        return None
    windows = _windows(to_keys(samples), border, window)
    out = np.empty(windows.shape[:2], windows.dtype)
    for part in _parts(windows.shape):
        values = _chosen(windows[part], cells)
        out[part] = np.partition(values, rank, axis=2)[..., rank]
    return from_keys(out, samples.dtype)


def ranked_of_valid(
    samples: np.ndarray,
    valid: np.ndarray,
    border: Border,
    window: Window,
    ranks: np.ndarray,
    cells: Cells = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the value of a rank among the valid values of each window.

    Parameters
    ----------
    samples : (H, W) or (H + 1, W + 1) array
    valid : bool array of the same shape, in C order
        False where a sample is NaN.
    border : (H + height - 1,) and (W + width - 1,) int32 arrays
    window : (int, int)
    ranks : (n + 1,) int32 array, n being the number of cells
        ``ranks[n]``, from 0 to n - 1, is the rank among n valid values. ``ranks[0]`` is not used.
        Always in host memory.
    cells : (height, width) bool array or None

    Returns
    -------
    (H, W) array of the same type
        Values of the rank, 0 where a window has no valid value.
    (H, W) bool array
        Whether the window has a valid value.
    """
    windows = _windows(to_keys(samples), border, window)
    valid_windows = _windows(valid, border, window)
    out = np.empty(windows.shape[:2], windows.dtype)
    found = np.empty(out.shape, bool)
    for part in _parts(windows.shape):
        values, counted = (_chosen(each[part], cells) for each in (windows, valid_windows))
        # Invalid values come last, those of the largest key among them.
        order = np.lexsort((values, ~counted), axis=2)
        counts = counted.sum(axis=2)
        place = np.take_along_axis(order, ranks[counts][..., None].astype(np.int64), axis=2)
        found[part] = counts > 0
        out[part] = np.take_along_axis(values, place, axis=2)[..., 0]
    return np.where(found, from_keys(out, samples.dtype), samples.dtype.type(0)), found


def _chosen(windows: np.ndarray, cells: Cells) -> np.ndarray:
    """Return the values of windows as (rows, columns, cells) array."""
    if cells is not None:
        return windows[:, :, cells]
    return windows.reshape(*windows.shape[:2], -1)


def _windows(plane: np.ndarray, border: Border, window: Window) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(plane[np.ix_(*border)], window)


def _parts(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Yield parts of the result whose windows hold at most ``VALUES_AT_ONCE`` values in all."""
    rows, columns, height, width = shape
    pixels = max(1, VALUES_AT_ONCE // (height * width))
    wide = min(columns, pixels)
    high = max(1, pixels // wide)
    for top in range(0, rows, high):
        for left in range(0, columns, wide):
            yield slice(top, top + high), slice(left, left + wide)
