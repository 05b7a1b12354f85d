"""Reference of each operation in NumPy; the other backends must return the same answers.

A backend is a module with these two functions. Both take samples of uint8, uint16 or uint32 in C
order and the border, two int32 arrays in host memory: the windows move over
``samples[np.ix_(rows, columns)]``, which has H + height - 1 rows and W + width - 1 columns for a
result of (H, W). Sides of the window are odd, 1 to 255, not both 1. Answers are in the memory of
the samples, host or device.

The first H rows and W columns of the samples are the picture: ``rows[height // 2 + y]`` is y for
all y below H. A constant border adds one row and one column.
"""

from collections.abc import Iterator

import numpy as np

Window = tuple[int, int]
"""Height and width."""

Border = tuple[np.ndarray, np.ndarray]
"""Rows and columns of the samples that windows contain, as ``borders.places`` gives them."""

VALUES_AT_ONCE = 1 << 22
NO_VALUE = np.int64(1 << 32)
"""Number larger than all values."""


def ranked(samples: np.ndarray, border: Border, window: Window, rank: int) -> np.ndarray:
    """Return the value of a rank in each window.

    Parameters
    ----------
    samples : (H, W) or (H + 1, W + 1) array of uint8, uint16 or uint32
    border : (H + height - 1,) and (W + width - 1,) int32 arrays
    window : (int, int)
    rank : int
        From 0, the smallest value, to height * width - 1.

    Returns
    -------
    (H, W) array of the same type
    """
    windows = _windows(samples, border, window)
    out = np.empty(windows.shape[:2], samples.dtype)
    for part in _parts(windows.shape):
        values = windows[part].reshape(*out[part].shape, -1)
        out[part] = np.partition(values, rank, axis=2)[..., rank]
    return out


def ranked_of_valid(
    samples: np.ndarray, valid: np.ndarray, border: Border, window: Window, ranks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the value of a rank among the valid values of each window.

    Parameters
    ----------
    samples : (H, W) or (H + 1, W + 1) array of uint8, uint16 or uint32
    valid : bool array of the same shape, in C order
    border : (H + height - 1,) and (W + width - 1,) int32 arrays
    window : (int, int)
    ranks : (height * width + 1,) int32 array
        ``ranks[n]``, from 0 to n - 1, is the rank among n valid values. ``ranks[0]`` is not used.
        Always in host memory.

    Returns
    -------
    (H, W) array of the same type
        Values of the rank, 0 where a window has no valid value.
    (H, W) bool array
        Whether the window has a valid value.
    """
    windows = _windows(samples, border, window)
    valid_windows = _windows(valid, border, window)
    out = np.empty(windows.shape[:2], samples.dtype)
    found = np.empty(out.shape, bool)
    for part in _parts(windows.shape):
        shape = *out[part].shape, -1
        counts_in = valid_windows[part].reshape(shape)
        values = np.where(counts_in, windows[part].reshape(shape), NO_VALUE)
        counts = counts_in.sum(axis=2)
        places = ranks[counts][..., None]
        found[part] = counts > 0
        chosen = np.take_along_axis(np.sort(values, axis=2), places, axis=2)[..., 0]
        out[part] = np.where(found[part], chosen, 0)
    return out, found


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
