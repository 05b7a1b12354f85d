"""Selection on a device: many values, awkward ones, and where they lie."""

import numpy as np
import pytest
from support.same import on_both

from mmpcodec import ParameterError
from mmpcodec.solvers.selection import cuda, kth_smallest, median, quantile

pytestmark = pytest.mark.gpu

COUNT = 10_000_019
KINDS = {
    "random": lambda rng: rng.integers(-(1 << 62), 1 << 62, COUNT),
    "normal": lambda rng: rng.normal(size=COUNT) * 1e9,
    "sorted": lambda rng: np.arange(COUNT),
    "equal": lambda rng: np.full(COUNT, 77),
    "two values": lambda rng: np.arange(COUNT) % 2 * 1000,
    "heavy middle": lambda rng: np.where(np.arange(COUNT) % 3 == 0, np.arange(COUNT), COUNT // 2),
    "equal leading bytes": lambda rng: rng.integers(0, 3000, COUNT) + (1 << 40),
}


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u4", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("kind", KINDS)
def test_many_values(kind, dtype):
    with np.errstate(over="ignore", invalid="ignore"):
        values = KINDS[kind](np.random.default_rng(1)).astype(dtype)
    ks = [1, 3, COUNT // 4, COUNT // 2, COUNT // 2 + 1, COUNT - 1000, COUNT]
    expected = on_both(kth_smallest, values, ks)
    for k, one in zip(ks, expected, strict=True):
        assert kth_smallest(values, k, backend="cuda") == one


def test_a_bracket_that_misses_is_noticed(monkeypatch):
    values = np.random.default_rng(0).integers(0, 1 << 60, COUNT)
    expected = median(values, backend="cpu")
    monkeypatch.setattr(cuda, "_place", lambda rank, count: np.asarray(rank) * 0 + 700)
    assert median(values, backend="cuda") == expected
    monkeypatch.undo()
    monkeypatch.setattr(cuda, "ROOM", 0)
    assert median(values, backend="cuda") == expected


def test_nan_and_many_ranks():
    values = np.random.default_rng(0).normal(size=COUNT).astype("f4")
    q = np.linspace(0, 1, 200)
    on_both(quantile, values, q)
    values[17] = np.copysign(np.nan, -1)
    assert np.isnan(median(values, backend="cuda"))
    assert np.isnan(quantile(values, q, backend="cuda")).all()
    on_both(median, values, nan="omit")


@pytest.mark.parametrize("shape", [(3, 300_000), (1000, 700), (70_000, 3)])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
def test_rows(shape, dtype):
    values = (np.random.default_rng(3).normal(size=shape) * 50 + 100).astype(dtype)
    for axis in (0, 1):
        on_both(quantile, values, [0.2, 0.5], axis=axis)


def test_values_stay_where_they_are():
    import cupy

    values = np.random.default_rng(3).normal(size=(50, 60)).astype("f4")
    there = cupy.asarray(values)
    assert median(there) == median(values)
    assert isinstance(median(there, axis=0), cupy.ndarray)
    np.testing.assert_array_equal(median(there, axis=0).get(), median(values, axis=0))
    assert median(there[1:, 3]) == median(values[1:, 3])
    assert median(there.ravel()[1:]) == median(values.ravel()[1:])
    with pytest.raises(ParameterError, match="backend = 'cpu': the values lie on a CUDA device"):
        median(there, backend="cpu")


def test_an_array_that_does_not_fit_comes_in_parts(monkeypatch):
    values = np.random.default_rng(3).normal(size=1_000_000).astype("f4")
    monkeypatch.setattr(cuda, "PART", 1_000_000)
    monkeypatch.setattr(cuda, "free_bytes", lambda: 10)
    q = [0.1, 0.5, 0.9]
    np.testing.assert_array_equal(quantile(values, q, backend="cuda"), quantile(values, q))
    values[-1] = np.nan
    assert np.isnan(median(values, backend="cuda"))
