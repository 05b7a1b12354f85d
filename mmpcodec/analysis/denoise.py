"""Filter pictures and series of slices with a median, which removes specks and keeps edges."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.samples import Samples
from mmpcodec.solvers.rank_filter import median_filter
from mmpcodec.solvers.rank_filter.borders import places

MAX_MEDIAN_RADIUS = 127
MOST_OF_WINDOW = 3375
"""Most samples of a window that has several slices, such as 15x15x15."""
STRIP_BYTES = 1 << 26
"""Memory of the windows that are sorted at once."""


def check_median_radius(radius: int, name: str = "radius") -> int:
    """Return the radius of a median filter as an int; ``name`` is what errors call it.

    Raises
    ------
    ParameterError
        If it is not an integer from 1 to 127.
    """
    return check_int(name, radius, 1, MAX_MEDIAN_RADIUS)


def denoise(samples: Samples, radius: int, *, backend: str = "auto") -> Samples:
    """Replace each sample by the median of the square window around it.

    Beyond the border, the picture is mirrored.

    Parameters
    ----------
    samples : (H, W) or (H, W, 2 to 4) array of uint8 or uint16
        Each colour is filtered separately. Alpha, the last of 2 or 4 planes, stays unchanged.
    radius : int
        From 1 to 127. The window has 2 radius + 1 rows and columns.
    backend : {"auto", "cpu", "cuda", "reference"}
        The result does not depend on the backend.

    Returns
    -------
    array of the shape and type of ``samples``

    Raises
    ------
    ParameterError
        If the shape, the type or the radius is not allowed.
    BackendUnavailable
        If the named backend cannot run here.
    """
    radius = check_median_radius(radius)
    samples = np.asarray(samples)
    shaped = samples.ndim == 2 or (samples.ndim == 3 and 2 <= samples.shape[2] <= 4)
    if samples.dtype.name not in ("uint8", "uint16") or not shaped:
        raise ParameterError(
            f"samples of shape {samples.shape} and type {samples.dtype}: must be (height, width) "
            "or (height, width, 2 to 4) of uint8 or uint16"
        )
    size = 2 * radius + 1
    if samples.ndim == 2:
        return median_filter(samples, size, backend=backend)
    filtered = samples.copy()
    for number in range(1 if samples.shape[2] == 2 else 3):
        plane = np.ascontiguousarray(samples[..., number])
        filtered[..., number] = median_filter(plane, size, backend=backend)
    return filtered


def check_slices(slices: int, radius: int) -> int:
    """Return the radius of a median filter over slices as an int.

    Raises
    ------
    ParameterError
        If it is below 0, or the window has more than ``MOST_OF_WINDOW`` samples.
    """
    slices = check_int("slices", slices, 0, MAX_MEDIAN_RADIUS)
    size = (2 * slices + 1) * (2 * radius + 1) ** 2
    if slices and size > MOST_OF_WINDOW:
        raise ParameterError(
            f"slices = {slices}: the window of radius {radius} has {size} samples, allowed with "
            f"slices is at most {MOST_OF_WINDOW}"
        )
    return slices


def denoised_series(
    count: int, read: Callable[[int], Samples], radius: int, slices: int, *, backend: str = "auto"
) -> Iterator[Samples]:
    """Yield each slice of a series, with medians over its neighbours too.

    Slices are read in order, and at most ``2 * slices + 1`` are held.

    Parameters
    ----------
    count : int
        Number of slices.
    read : callable
        ``read(number)`` returns a slice, counted from 0, as ``denoise`` takes it. All have one
        shape and type.
    radius : int
        As in ``denoise``.
    slices : int
        The window has this many slices before and behind each, from 0. Beyond the first and the
        last slice, the series is mirrored.
    backend : {"auto", "cpu", "cuda", "reference"}
        For windows of one slice; others are NumPy's work.

    Raises
    ------
    ParameterError
        If an argument is not allowed.
    """
    radius = check_median_radius(radius)
    slices = check_slices(slices, radius)
    if slices == 0:
        for number in range(count):
            yield denoise(read(number), radius, backend=backend)
        return
    order = places("reflect", count, 2 * slices + 1)
    held: dict[int, Samples] = {}
    for number in range(count):
        wanted = order[number : number + 2 * slices + 1].tolist()
        held = {key: each for key, each in held.items() if key in wanted}
        for key in sorted(set(wanted) - set(held)):
            held[key] = read(key)
        yield _median_of([held[key] for key in wanted], held[number], radius)


def _median_of(window: Sequence[Samples], middle: Samples, radius: int) -> Samples:
    """Return the medians of slices around the middle one; its alpha stays."""
    if middle.ndim == 2:
        return _median_of_planes(window, radius)
    found = middle.copy()
    for plane in range(1 if middle.shape[2] == 2 else 3):
        found[..., plane] = _median_of_planes([each[..., plane] for each in window], radius)
    return found


def _median_of_planes(window: Sequence[np.ndarray], radius: int) -> np.ndarray:
    side = 2 * radius + 1
    height, width = window[0].shape
    rows, columns = places("reflect", height, side), places("reflect", width, side)
    wide = np.stack([each[rows][:, columns] for each in window])
    found = np.empty((height, width), wide.dtype)
    size = side * side * len(window)
    step = max(1, STRIP_BYTES // (size * width * wide.itemsize))
    for top in range(0, height, step):
        strip = wide[:, top : top + step + side - 1]
        windows = sliding_window_view(strip, (side, side), axis=(1, 2))
        flat = np.moveaxis(windows, 0, 2).reshape(-1, width, size)  # a copy, sorted in place
        flat.partition(size // 2, axis=-1)
        found[top : top + len(flat)] = flat[..., size // 2]
    return found
