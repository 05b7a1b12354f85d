"""Checks of the arguments that the solvers of maximum sums share."""

from typing import Any

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError

Limits = tuple[int, int]
"""Smallest and largest number of values along one dimension."""


def limits(name: str, least: Any, most: Any, size: int) -> Limits:
    """Return the smallest and largest length of an answer along a dimension of ``size`` values.

    Raises
    ------
    ParameterError
        When a length is invalid, or ``most`` is below ``least``.
    """
    least = 1 if least is None else least
    least = check_int(f"min_{name}", least, 1, size, f", the array's {name}")
    most = size if most is None else min(check_int(f"max_{name}", most), size)
    if most < least:
        raise ParameterError(f"max_{name} = {most}: must be at least min_{name} = {least}")
    return least, most
