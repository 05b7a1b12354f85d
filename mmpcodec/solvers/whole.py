"""Floats that are integers, as results of NumPy often are."""

import re
from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError

INTEGER = re.compile(r"[+-]?\d{1,40}", re.ASCII)
_FLOAT = re.compile(r"[+-]?\d{1,40}\.?\d{0,40}(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
_MOST = 2.0**53


def whole_of_text(text: str) -> int | None:
    """Return the integer that a text is, also as a float below 2**53, or None if it is none.

    Examples
    --------
    >>> from mmpcodec.solvers.whole import whole_of_text
    >>> whole_of_text("3"), whole_of_text("-3.0"), whole_of_text("3.2e1"), whole_of_text("3.5")
    (3, -3, 32, None)
    """
    text = text.strip()
    if INTEGER.fullmatch(text):
        return int(text)
    value = float(text) if _FLOAT.fullmatch(text) else 0.5
    return int(value) if value.is_integer() and abs(value) < _MOST else None


def whole(name: str, value: Any) -> Any:
    """Return a float that is an integer as an int, and any other value as it is."""
    if not isinstance(value, float | np.floating) or not value.is_integer():
        return value
    return int(whole_numbers(name, np.asarray(value)))


def whole_numbers(name: str, array: np.ndarray) -> np.ndarray:
    """Return an array of floats that are integers as int64.

    Raises
    ------
    ParameterError
        When a value is no integer, or so large that its type does not have all integers nearby:
        2**53 and more for float64.
    """
    most = 2.0 ** (np.finfo(array.dtype).nmant + 1)
    with np.errstate(invalid="ignore"):
        wrong = np.argwhere((array != np.rint(array)) | ~(np.abs(array) < most))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise ParameterError(
            f"{name}{list(place) or ''} = {array[place]}: must be an integer; "
            f"floats of type {array.dtype} must be below {most:.0f} in magnitude"
        )
    return array.astype(np.int64)
