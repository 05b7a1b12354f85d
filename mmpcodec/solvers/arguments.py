"""Checks of arguments that all solvers share."""

import operator
from typing import Any

from mmpcodec.errors import ParameterError


def integer(name: str, value: Any) -> int:
    """The value as an int, if it is an integer of any type but bool.

    Raises
    ------
    ParameterError
        When it is not.
    """
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise ParameterError(f"{name} = {value!r}: must be an integer")
