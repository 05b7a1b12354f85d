"""Arguments that the solvers of maximum sums share, and who does the work."""

from typing import Any

from mmpcodec.errors import ParameterError
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.arguments import integer


def get(backend: str, values: Any = None) -> Any:
    """The module with the operations of a backend; see ``backends.operations``."""
    return dispatch.operations(__package__, backend, values)


def limits(name: str, least: Any, most: Any, size: int) -> tuple[int, int]:
    """Lengths that an answer may have along one dimension of ``size`` values.

    Raises
    ------
    ParameterError
        When no length is left.
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
    """A number of answers.

    Raises
    ------
    ParameterError
        When it is no integer from 1 up.
    """
    if integer("k", k) < 1:
        raise ParameterError(f"k = {k!r}: must be an integer from 1 up")
    return int(k)
