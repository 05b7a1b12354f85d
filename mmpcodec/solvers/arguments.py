"""Arguments that all solvers take, checked."""

import operator
from typing import Any

from mmpcodec.errors import ParameterError


def integer(name: str, value: Any) -> int:
    """An integer of any type, but no bool.

    Raises
    ------
    ParameterError
        When it is none.
    """
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise ParameterError(f"{name} = {value!r}: must be an integer")
