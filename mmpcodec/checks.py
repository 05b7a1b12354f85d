"""Checks of single arguments."""

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

from mmpcodec.errors import ParameterError


def check_int(name: str, value: Any, low: int, high: int) -> int:
    """A value as an integer of Python, if it is one of any kind within a range.

    Raises
    ------
    ParameterError
        When it is not.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ParameterError(f"{name} = {value!r}: must be an integer from {low} to {high}")
    number = int(value)
    if not low <= number <= high:
        raise ParameterError(f"{name} = {number}: must be from {low} to {high}")
    return number


def check_number(name: str, value: Any, allowed: str, fits: Callable[[float], bool]) -> int | float:
    """A value as a number of Python, if it is a finite one of any kind, and fits.

    Raises
    ------
    ParameterError
        When it is not; it says what is allowed.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"{name} = {value!r}: must be a number, {allowed}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and fits(number)):
        raise ParameterError(f"{name} = {value!r}: must be {allowed}")
    return value if type(value) is int else number


def check_switch(name: str, value: Any) -> bool:
    try:
        known = value in (False, True)
    except ValueError:  # of an array
        known = False
    if not known:
        raise ParameterError(f"{name} = {value!r}: must be True or False")
    return bool(value)
