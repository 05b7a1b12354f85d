"""Borders: the values that windows contain beyond the edge of a picture."""

from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of

MODES = ("reflect", "mirror", "nearest", "wrap", "constant")
"""Names of the rules, as in SciPy."""


def check_mode(mode: str) -> None:
    """Check the name of a mode.

    Raises
    ------
    ParameterError
        When no mode has this name.
    """
    if mode not in MODES:
        raise ParameterError(f"mode = {mode!r}: must be one of {', '.join(MODES)}")


def places(mode: str, length: int, side: int) -> np.ndarray:
    """Return the picture's row or column for each row or column that windows contain.

    Parameters
    ----------
    mode : str
        One of ``MODES``.
    length : int
        Number of rows or columns of the picture.
    side : int
        Height or width of the window.

    Returns
    -------
    (length + side - 1,) int32 array
        Entry i is the row or column, from 0 to length - 1, at position i - side // 2; the centre
        of windows with an even side is the first pixel after their middle. ``length``
        stands for a row or column of constant values.
    """
    lines = np.arange(length + side - 1) - side // 2
    if mode == "constant":
        lines = np.where((lines >= 0) & (lines < length), lines, length)
    elif mode == "nearest":
        lines = np.clip(lines, 0, length - 1)
    elif mode == "wrap":
        lines %= length
    elif mode == "reflect":
        lines %= 2 * length
        lines = np.minimum(lines, 2 * length - 1 - lines)
    else:
        period = max(1, 2 * length - 2)
        lines %= period
        lines = np.minimum(lines, period - lines)
    return lines.astype(np.int32)


def with_constant(plane: Any, value: Any) -> Any:
    """Return a plane with a row and a column of ``value`` added, which ``places`` refers to."""
    return module_of(plane).pad(plane, ((0, 1), (0, 1)), constant_values=value)
