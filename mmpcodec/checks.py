"""Checks of single arguments. Each returns the value as a plain Python type or raises an error."""

import math
import operator
import re
from collections.abc import Callable
from enum import IntEnum
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

from mmpcodec.errors import NoSuchPage, ParameterError

Member = TypeVar("Member", bound=IntEnum)


def check_int(
    name: str, value: Any, low: int | None = None, high: int | None = None, note: str = ""
) -> int:
    """Return an integer of any type, NumPy's included, as a Python int.

    Parameters
    ----------
    name : str
        Name of the argument in errors.
    value : object
        A bool is refused.
    low, high : int or None
        Least and largest allowed value; None for no bound. ``high`` needs ``low``.
    note : str
        Text that the error adds to the range.

    Raises
    ------
    ParameterError
        If the value is not an integer or lies outside the range.
    """
    allowed = ""
    if low is not None:
        allowed = f" from {low} up{note}" if high is None else f" from {low} to {high}{note}"
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise ParameterError(f"{name} = {value!r}: must be an integer{allowed}")
    if (low is not None and number < low) or (high is not None and number > high):
        raise ParameterError(f"{name} = {number}: must be{allowed}")
    return number


def check_page(page: Any, count: int, name: str | None = None, thing: str = "pictures") -> int:
    """Return the index, from 0, of the picture to read of those in a file.

    Parameters
    ----------
    page : int or None
        Number of the wanted picture, from 1. None takes the only one.
    count : int
        Number of pictures in the file.
    name : str or None
        Name of the file in errors.
    thing : str
        What the format calls its pictures: "frames", "pages".

    Raises
    ------
    NoSuchPage
        If the file has several pictures and no page is given, or fewer than ``page``.
    ParameterError
        If the page is no integer.
    """
    page = None if page is None else check_int("page", page)
    file = "the file" if name is None else f"{name}:"
    if count == 0:
        raise NoSuchPage(f"{file} holds no {thing}")
    if page is None and count > 1:
        raise NoSuchPage(
            f"{file} holds {count} {thing}; --page N, or page=N in Python, reads one, 1 to {count}"
        )
    if page is not None and not 1 <= page <= count:
        several = f"1 to {count}, as the file holds {count} {thing}"
        allowed = several if count > 1 else "1, as the file holds 1 picture"
        raise NoSuchPage(f"{'' if name is None else f'{name}: '}page = {page}: must be {allowed}")
    return (page or 1) - 1


def check_range(levels: Any, depth: int = 16) -> tuple[int, int]:
    """Return the lowest and highest level of a range as a tuple of int.

    Raises
    ------
    ParameterError
        If they are not two levels of ``depth`` bits, the lower one first.
    """
    try:
        low, high = (check_int("range", level) for level in levels)
    except (TypeError, ValueError):
        low = high = 0
    if not 0 <= low < high < 1 << depth:
        raise ParameterError(
            f"range = {levels!r}: must be two levels from 0 to {(1 << depth) - 1}, the lower one "
            "first"
        )
    return low, high


def dimensions(rank: int) -> str:
    """Return the number of dimensions in words: "1 dimension", "2 dimensions"."""
    return "1 dimension" if rank == 1 else f"{rank} dimensions"


def check_number(name: str, value: Any, allowed: str, fits: Callable[[float], bool]) -> int | float:
    """Return a finite real number of any type as a Python int or float.

    Parameters
    ----------
    name : str
        Name of the argument in errors.
    value : object
        A bool is refused.
    allowed : str
        The allowed range in words, for the error.
    fits : callable
        Returns whether a finite number lies in the range.

    Raises
    ------
    ParameterError
        If the value is not a real number, not finite, or outside the range.
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
    """Return a value that equals True or False as a bool.

    Raises
    ------
    ParameterError
        If the value equals neither.
    """
    try:
        known = value in (False, True)
    except ValueError:  # the comparison of an array has no single result
        known = False
    if not known:
        raise ParameterError(f"{name} = {value!r}: must be True or False")
    return bool(value)


def check_member(name: str, value: Any, kind: type[Member]) -> Member:
    """Return a member of an enumeration, given by its name in any case or by its number.

    Raises
    ------
    ParameterError
        If the enumeration has no such member.
    """
    if isinstance(value, str) and value.upper() in kind.__members__:
        return kind[value.upper()]
    if isinstance(value, Integral) and value in list(kind):
        return kind(int(value))
    names = ", ".join(member.lower() for member in kind.__members__)
    raise ParameterError(f"{name} = {value!r}: must be one of {names}")


MOST_ERROR = 32767
"""Largest maximal error, in samples."""


class Bound(NamedTuple):
    """A maximal error in the unit of a calibration.

    Parameters
    ----------
    value : float
    unit : str
        As the calibration names it; capitals are as good as small letters.
    """

    value: float
    unit: str

    def __str__(self):
        return f"{self.value:g}{self.unit}"


def bound_of(text: str) -> Bound | int:
    """Return a maximal error that a text gives, in samples or with a unit.

    The range of a whole number is not checked.

    Raises
    ------
    ParameterError
        If it is neither a whole number nor a number from 0 up with a unit, or if the unit looks
        like an exponent, as in "1e3".

    Examples
    --------
    >>> from mmpcodec.checks import bound_of
    >>> bound_of("3"), bound_of("2.5 HU")
    (3, Bound(value=2.5, unit='HU'))
    """
    if re.fullmatch(r"\s*-?[0-9]{1,9}\s*", text):
        return int(text)
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*((?:[^\W\d_]|[%°])\S{,63})?\s*", text)
    if match and match[2] and re.fullmatch(r"[eE][+-]?[0-9]+.*", match[2]):
        raise ParameterError(
            f"max_error = {text!r}: must be written without an exponent, such as 1000 for 1e3"
        )
    if match and match[2]:
        return Bound(float(match[1]), match[2])
    raise ParameterError(
        f"max_error = {text!r}: must be a whole number of samples from 0 to {MOST_ERROR}, such as "
        "3, or a number from 0 up with the unit of the picture, such as 2HU"
    )


def with_bound(options: Any) -> tuple[Any, Bound | None]:
    """Return options of tools in which a maximal error is a number of samples, and its bound.

    The number is 1 in place of a bound.
    """
    asked = options.get("max_error")
    found = bound_of(asked) if isinstance(asked, str) else asked
    if isinstance(found, Bound):
        return {**options, "max_error": 1}, found
    return {**options, "max_error": found} if asked is not None else options, None
