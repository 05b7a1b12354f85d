"""Arrays that solvers take, and what agreement compares of their answers."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

TYPES = ("i1", "u2", "i4", "i8", "?", "f4", "f8")


def values(shape: int | tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Random values of a type; the sum of integers stays below 2**62."""
    rng = np.random.default_rng(seed)
    if dtype[0] == "f":
        return rng.normal(size=shape).astype(dtype)
    if dtype == "?":
        return rng.random(shape) < 0.5
    info = np.iinfo(dtype)
    most = min(info.max, (1 << 62) // int(np.prod(shape)))
    return rng.integers(max(info.min, -most), most, shape, dtype, endpoint=True)


def of_types(shape: int | tuple[int, ...]) -> dict[str, Callable[[], tuple]]:
    """Inputs of one array, for each type."""
    return {each: partial(lambda dtype: (values(shape, dtype),), each) for each in TYPES}


def items_and_value(found: Any) -> tuple:
    return found.value, found.items


def items_and_sum(found: Any) -> tuple:
    return found.sum, found.exact, found.method, found.items


def with_type(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that gives the type of its picture too."""

    def both(*arguments: Any, **options: Any) -> tuple[np.ndarray, str]:
        found = function(*arguments, **options)
        return found, str(found.dtype)

    return both


def weights_and_profits(count: int) -> tuple[np.ndarray, np.ndarray]:
    weights = np.random.default_rng(count).integers(1, 200, count)
    return weights + 20, weights
