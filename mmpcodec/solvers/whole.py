"""Floats that are integers, as results of NumPy often are."""

from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError


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
