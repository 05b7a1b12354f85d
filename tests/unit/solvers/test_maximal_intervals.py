"""All maximal intervals: the published example, the definition by brute force, pieces, types."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mmpcodec import ParameterError, _cpu
from mmpcodec.solvers.max_sum import Interval, Intervals, max_interval, maximal_intervals

BACKENDS = ["cpu", "reference", pytest.param("cuda", marks=pytest.mark.gpu)]
every_backend = pytest.mark.parametrize("backend", BACKENDS)
sequences = arrays(np.int64, st.integers(1, 40), elements=st.integers(-4, 4))
SHORT = [4, -5, 3, -3, 1, 2, -2, 2, -2, 1, 5]
"""The example of Ruzzo and Tompa 1999."""


def rows(found):
    return [found.starts.tolist(), found.stops.tolist(), found.sums.tolist()]


@every_backend
def test_the_published_example(backend):
    found = maximal_intervals(SHORT, backend=backend)
    assert rows(found) == [[0, 2, 4], [1, 3, 11], [4, 3, 7]]
    assert [array.dtype for array in (found.starts, found.stops, found.sums)] == [np.int64] * 3


def by_definition(values):
    """Intervals in which each prefix and suffix is positive, and that lie in no other such."""
    sums = np.concatenate([[0], np.cumsum(values)])
    good = [
        (start, stop, int(sums[stop] - sums[start]))
        for start in range(len(values))
        for stop in range(start + 1, len(values) + 1)
        if (sums[start + 1 : stop + 1] > sums[start]).all()
        and (sums[start:stop] < sums[stop]).all()
    ]
    inside = [any(a[0] <= b[0] and b[1] <= a[1] and a != b for a in good) for b in good]
    return [list(row) for row in zip(*np.array(good, object)[~np.array(inside)], strict=True)]


@every_backend
@given(values=sequences)
def test_intervals_are_those_of_the_definition(backend, values):
    found = maximal_intervals(values, backend=backend)
    assert rows(found) == (by_definition(values) if (values > 0).any() else [[], [], []])
    best = max_interval(values, allow_empty=True)
    assert max(found.sums, default=0) == best.sum


@given(values=sequences, piece=st.integers(1, 9), threads=st.integers(1, 3))
def test_pieces_of_any_size_give_the_same_intervals(values, piece, threads):
    found = _cpu.maximal_intervals(values, 1.0, piece, threads)
    assert found.tolist() == rows(maximal_intervals(values, backend="reference"))


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2"])
def test_types_of_integers(dtype):
    values = np.random.default_rng(5).integers(-100, 101, 3000)
    values = (values if np.dtype(dtype).kind == "i" else abs(values) % 2).astype(dtype)
    expected = maximal_intervals(values.astype(np.int64), backend="reference")
    for backend in ("cpu", "reference"):
        assert maximal_intervals(values, backend=backend) == expected
        assert maximal_intervals(values[::-3], backend=backend) == maximal_intervals(
            values[::-3].astype(np.int64), backend="reference"
        )


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8"])
@pytest.mark.parametrize("scale", [1, 2.0**-140, 2.0**100, 5e-324])
def test_floats_are_rounded_to_the_same_grid(dtype, scale):
    values = (np.random.default_rng(3).normal(size=500) * scale).astype(dtype)
    found = maximal_intervals(values, backend="cpu")
    assert found == maximal_intervals(values, backend="reference")
    assert found.sums.dtype == np.float64
    assert max(found.sums, default=0) == max_interval(values, allow_empty=True).sum


@pytest.mark.parametrize("drift", [-60, -2, 0, 1, 60])
def test_long_sequences_agree(drift):
    values = np.random.default_rng(6).integers(-100 + drift, 101 + drift, 300_000, np.int32)
    found = maximal_intervals(values)
    np.testing.assert_array_equal(found.starts[1:] >= found.stops[:-1], True)
    sums = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    np.testing.assert_array_equal(found.sums, sums[found.stops] - sums[found.starts])
    whole = _cpu.maximal_intervals(values, 1.0, len(values), 1)
    for piece in (100, 1 << 14):
        np.testing.assert_array_equal(_cpu.maximal_intervals(values, 1.0, piece, 2), whole)
    np.testing.assert_array_equal([found.starts, found.stops, found.sums], whole)
    few = values[:3000]
    assert maximal_intervals(few) == maximal_intervals(few, backend="reference")


def test_as_many_intervals_as_positive_values():
    values = np.empty(4000, int)
    values[::2], values[1::2] = np.arange(2000, 0, -1), -10000
    found = maximal_intervals(values)
    assert len(found) == 2000
    np.testing.assert_array_equal(found.sums, values[::2])
    np.testing.assert_array_equal(found.starts, np.arange(0, 4000, 2))
    np.testing.assert_array_equal(found.lengths, 1)


def test_intervals_are_a_sequence():
    found = maximal_intervals(SHORT)
    assert list(found) == [Interval(0, 1, 4), Interval(2, 3, 3), Interval(4, 11, 7)]
    assert found[-1] == Interval(4, 11, 7)
    assert type(found[0].sum) is int
    assert list(found[1:]) == [Interval(2, 3, 3), Interval(4, 11, 7)]
    assert Interval(2, 3, 3) in found
    with pytest.raises(IndexError):
        found[3]
    assert type(maximal_intervals([0.5])[0].sum) is float
    assert len(maximal_intervals([-1, 0])) == 0


def test_intervals_compare_by_content():
    found, again = maximal_intervals(SHORT), maximal_intervals(SHORT)
    assert found == again
    assert hash(found) == hash(again)
    assert found != maximal_intervals(SHORT[1:])
    assert found != list(found)
    # An int and a float of the same value are equal, so their hashes are, too.
    floats = Intervals(found.starts.copy(), found.stops.copy(), found.sums.astype(float))
    assert floats == found
    assert hash(floats) == hash(found)
    with pytest.raises(ValueError, match="read-only"):
        found.sums[0] = 1
    starts = np.array([0, 2, 4], np.int32)
    own = Intervals(starts, np.array([1, 3, 11]), np.array([4, 3, 7]))
    assert own == found
    assert hash(own) == hash(found)
    starts[0] = 1


def test_bad_input_is_named():
    with pytest.raises(ParameterError, match=r"shape \(0,\): must not be empty"):
        maximal_intervals([])
    with pytest.raises(ParameterError, match=r"value nan at \(1,\): must be finite"):
        maximal_intervals([1.0, np.nan])
    with pytest.raises(ParameterError, match="type complex128: must be integers"):
        maximal_intervals([1j])
