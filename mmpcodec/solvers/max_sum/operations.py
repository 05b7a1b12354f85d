"""Which backend does the work."""

import operator
from importlib import import_module
from typing import Any

from mmpcodec import backends
from mmpcodec.devices import on_device
from mmpcodec.errors import BackendUnavailable, ParameterError

NAMES = ("cpu", "cuda", "reference")


def get(backend: str, values: Any = None) -> Any:
    """The module with the operations of a backend.

    Parameters
    ----------
    backend : {"auto", "cpu", "cuda", "reference"}
        "auto" is cuda for values that lie on a device, and else cpu.
    values : array
        What it will work on.

    Raises
    ------
    ParameterError
        When there is no such backend.
    BackendUnavailable
        When it cannot run here.
    """
    if backend not in ("auto", *NAMES):
        raise ParameterError(f"backend = {backend!r}: must be one of auto, {', '.join(NAMES)}")
    name = backend if backend != "auto" else "cuda" if on_device(values) else "cpu"
    if name == "cuda":
        reason = backends.status()["cuda"]
        if reason is not None:
            raise BackendUnavailable(f"backend cuda cannot run here: {reason}")
    return import_module(f"mmpcodec.solvers.max_sum.{name}")


def limits(name: str, least: Any, most: Any, size: int) -> tuple[int, int]:
    """Lengths that an answer may have along one dimension of ``size`` values.

    Raises
    ------
    ParameterError
        When no length is left.
    """
    least = 1 if least is None else _integer(f"min_{name}", least)
    most = None if most is None else _integer(f"max_{name}", most)
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
    if _integer("k", k) < 1:
        raise ParameterError(f"k = {k!r}: must be an integer from 1 up")
    return int(k)


def _integer(name: str, value: Any) -> int:
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise ParameterError(f"{name} = {value!r}: must be an integer")
