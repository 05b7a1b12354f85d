"""Checks of the arguments that the solvers of maximum sums share."""

from typing import Any

from mmpcodec.errors import ParameterError
from mmpcodec.solvers.arguments import integer


def limits(name: str, least: Any, most: Any, size: int) -> tuple[int, int]:
    """Least and largest length of an answer along a dimension of ``size`` values.

    Raises
    ------
    ParameterError
        When no length is allowed.
    """
    least = 1 if least is None else integer(f"min_{name}", least)
    most = None if most is None else integer(f"max_{name}", most)
    if not 1 <= least <= size:
        raise ParameterError(f"min_{name} = {least}: must be from 1 to {size}, the array's {name}")
    most = size if most is None else min(most, size)
    if most < least:
        raise ParameterError(f"max_{name} = {most}: must be at least min_{name} = {least}")
    return least, most


def count(k: Any) -> int:
    """Check a number of answers.

    Raises
    ------
    ParameterError
        When it is not an integer from 1 up.
    """
    if integer("k", k) < 1:
        raise ParameterError(f"k = {k!r}: must be an integer from 1 up")
    return int(k)
