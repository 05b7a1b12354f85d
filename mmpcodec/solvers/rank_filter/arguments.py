"""Checks of the arguments of the filters."""

import math
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, module_of

MAX_SIDE = 255
TYPES = ("uint8", "uint16", "int16", "float32", "float64")


def window_of(size: Any, footprint: Any) -> tuple[tuple[int, int], np.ndarray | None, int]:
    """Return height and width of a window, its cells, and their number.

    The cells are a (height, width) bool array in C order, or None if all cells belong to the
    window.

    Raises
    ------
    ParameterError
        When not just one of size and footprint is given, a side is not an integer from 1 to 255,
        the window has one cell that is its centre, or the footprint is not a bool or number array
        of two dimensions with a nonzero cell.
    """
    if (size is None) == (footprint is None):
        given = "neither" if size is None else "both"
        raise ParameterError(f"size, footprint: {given} given; must be one of them")
    if footprint is None:
        return _sides_of(size)
    cells = np.asarray(as_array("footprint", footprint))
    if cells.ndim != 2 or not all(1 <= side <= MAX_SIDE for side in cells.shape):
        raise ParameterError(
            f"footprint of shape {cells.shape}: must have 2 dimensions of 1 to {MAX_SIDE} cells"
        )
    cells = np.ascontiguousarray(cells != 0)
    area = int(np.count_nonzero(cells))
    if area == 0:
        raise ParameterError(f"footprint of shape {cells.shape}: must have a nonzero cell")
    if area == cells.size:
        return _sides_of(cells.shape)
    return (cells.shape[0], cells.shape[1]), cells, area


def _sides_of(size: Any) -> tuple[tuple[int, int], None, int]:
    sides = size if np.ndim(size) else (size, size)
    if len(sides) != 2:
        raise ParameterError(f"size = {size!r}: must be one side, or height and width")
    height, width = (check_int("size", side) for side in sides)
    for side in (height, width):
        if not 1 <= side <= MAX_SIDE:
            raise ParameterError(f"size = {size!r}: sides must be from 1 to {MAX_SIDE}")
    if height == width == 1:
        raise ParameterError(f"size = {size!r}: a window of one pixel; one side must be 2 or more")
    return (height, width), None, height * width


def picture_of(picture: Any) -> Any:
    """Return a picture as (H, W) array of one of ``TYPES``.

    Raises
    ------
    ParameterError
        When the picture has another type or number of dimensions, or no pixels.
    """
    picture = as_array("picture", picture)
    if picture.ndim != 2:
        raise ParameterError(f"picture of shape {picture.shape}: must have 2 dimensions")
    if picture.size == 0:
        raise ParameterError(f"picture of shape {picture.shape}: must not be empty")
    if picture.dtype.name not in TYPES:
        raise ParameterError(f"picture of type {picture.dtype}: must be one of {', '.join(TYPES)}")
    return picture.astype(picture.dtype.name, copy=False)  # in the machine's byte order


def mask_for(mask: Any, picture: Any) -> Any:
    """Return the mask as (H, W) bool array, True where it is nonzero; None if there is no mask.

    Raises
    ------
    ParameterError
        When the mask and the picture have different shapes.
    """
    if mask is None:
        return None
    mask = module_of(picture).asarray(as_array("mask", mask))
    if mask.shape != picture.shape:
        raise ParameterError(
            f"mask of shape {mask.shape}: must be {picture.shape}, the picture's shape"
        )
    return mask != 0


def value_beyond(cval: Any, dtype: np.dtype) -> Any:
    """Return ``cval``, the value beyond the border, in the picture's type.

    Raises
    ------
    ParameterError
        When the type cannot represent ``cval``, or ``cval`` is NaN.
    """
    try:
        value = float(cval)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if dtype.kind == "f":
        most = float(np.finfo(dtype).max)
        allowed = f"a number from {-most:g} to {most:g}, or infinite"
        fits = abs(value) <= most or math.isinf(value)
    else:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        allowed = f"an integer from {least} to {most}"
        fits = least <= value <= most and value.is_integer()
    if not fits:
        raise ParameterError(f"cval = {cval!r}: must be {allowed} for {dtype}")
    return dtype.type(value)
