"""One comparison for all results: bytes, arrays, coded pictures, and what is made of them."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


def assert_same(expected: Any, found: Any, name: str = "") -> None:
    """Fail, with the first place that differs, unless two results are equal.

    Arrays are equal if shapes and values are; NaN equals NaN. Dictionaries, lists, tuples and data
    classes are compared part by part.
    """
    if dataclasses.is_dataclass(expected):
        assert type(found) is type(expected), name
        for field in dataclasses.fields(expected):
            part = getattr(expected, field.name), getattr(found, field.name)
            assert_same(*part, f"{name} {field.name}")
        if hasattr(expected, "samples"):
            assert found.samples.dtype == expected.samples.dtype, name
    elif isinstance(expected, bytes):
        if found != expected:
            pairs = enumerate(zip(expected, found, strict=False))
            place = next((i for i, (a, b) in pairs if a != b), min(len(expected), len(found)))
            pytest.fail(f"{name}: differs from byte {place} on of {len(expected)}, {len(found)}")
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), name
        for key, value in expected.items():
            assert_same(value, found[key], f"{name} {key}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), name
        for number, (value, other) in enumerate(zip(expected, found, strict=True)):
            assert_same(value, other, f"{name}[{number}]")
    elif isinstance(expected, np.ndarray):
        found = np.asarray(found)
        assert found.shape == expected.shape, name
        nan = expected.dtype.kind == "f"
        if not np.array_equal(found, expected, equal_nan=nan):
            differs = ~((found == expected) | (nan & (found != found) & (expected != expected)))
            place = tuple(int(i) for i in np.argwhere(differs)[0])
            pytest.fail(f"{name} at {place}: {expected[place]} expected, {found[place]} found")
    else:
        assert found == expected or (found != found and expected != expected), name


def on_both(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The result of a solver on cpu, after a check that cuda gives the same."""
    expected = function(*arguments, backend="cpu", **options)
    found = function(*arguments, backend="cuda", **options)
    assert isinstance(found, np.ndarray) == isinstance(expected, np.ndarray)
    assert_same(expected, found, function.__name__)
    return expected
