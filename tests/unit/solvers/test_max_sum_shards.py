"""Maximum sums of arrays in pieces: the solver of the whole array as the judge, ties, errors."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mmpcodec import ParameterError
from mmpcodec.solvers.max_sum import (
    Interval,
    IntervalSummary,
    interval_summary,
    max_interval,
    max_interval_of_shards,
    max_rectangle,
    max_rectangle_of_shards,
    shard_magnitudes,
)
from mmpcodec.solvers.max_sum import strips as strips_module

BACKENDS = ["cpu", "reference", pytest.param("cuda", marks=pytest.mark.gpu)]
every_backend = pytest.mark.parametrize("backend", BACKENDS)
TYPES = ["?", "i1", "u2", "i4", "i8", "u8", ">i2", "f4", "f8", ">f8"]


@st.composite
def any_values(draw, rank, side):
    """Values of any type; few different ones, for ties, or any."""
    dtype = draw(st.sampled_from(TYPES))
    kind = np.dtype(dtype).kind
    few = {"b": [False, True], "u": [0, 1, 2]}.get(kind, [-2, -1, 0, 1, 2])
    elements = draw(st.sampled_from([st.sampled_from(few), None]))
    if kind == "f" and elements is None:
        # Sums beyond 2**1023 are refused.
        size = 1e300 if dtype.endswith("8") else 2.0**100
        width = 8 * int(dtype[-1])
        elements = st.floats(-size, size, width=width)
    if dtype.endswith("8") and kind in "iu" and elements is None:
        elements = st.integers(0 if kind == "u" else -(1 << 52), 1 << 52)
    shapes = array_shapes(min_dims=rank, max_dims=rank, max_side=side)
    return draw(arrays(dtype, shapes, elements=elements))


def cut(data, values):
    """Pieces of an array, some of them empty."""
    places = data.draw(st.lists(st.integers(0, len(values)), max_size=5))
    return np.split(values, sorted(places))


def by_brute_force(values):
    """The summary of a list of integers."""
    sums = np.concatenate([[0], np.cumsum(values)])
    size = len(values)
    prefix = max((int(sums[stop]), -stop) for stop in range(1, size + 1))
    suffix = max((int(sums[size] - sums[start]), -start) for start in range(size))
    best = max(
        (int(sums[stop] - sums[start]), -start, -stop)
        for start in range(size)
        for stop in range(start + 1, size + 1)
    )
    flipped = [(found[0], *(-place for place in found[1:])) for found in (prefix, suffix, best)]
    return IntervalSummary(size, int(sums[size]), *flipped)


@every_backend
@given(values=arrays(np.int64, st.integers(1, 20), elements=st.integers(-3, 3)))
def test_summaries_are_those_of_brute_force(backend, values):
    assert interval_summary(values, backend=backend) == by_brute_force(values)


@pytest.mark.parametrize("kind", ["ties", "noise", "zeros", "negative", "positive", "large"])
@pytest.mark.parametrize("size", [1, 1023, 1024, 1025, 2500])
@pytest.mark.parametrize("dtype", [*TYPES, "u1", "i2", "u4"])
def test_chunks_are_those_of_the_reference(kind, size, dtype):
    rng, one_byte = np.random.default_rng(size), dtype in ("?", "i1", "u1")
    values = {
        "ties": rng.integers(-1, 2, size),
        "noise": rng.integers(-100, 101, size),
        "zeros": np.zeros(size, np.int64),
        "negative": -rng.integers(2, 4, size),
        "positive": rng.integers(1, 4, size),
        "large": rng.integers(-2, 3, size) << 27,
    }[kind]
    if one_byte or np.dtype(dtype).kind == "u":
        values = np.abs(values) & (127 if one_byte else -1)
    values = (values % 4000 if dtype[-1] == "2" else values).astype(dtype)
    exponent = shard_magnitudes(values).exponent(dtype)
    for some in (values, values[::-1]):
        expected = interval_summary(some, exponent, backend="reference")
        assert interval_summary(some, exponent, backend="cpu") == expected
        assert max_interval(some, backend="cpu") == max_interval(some, backend="reference")


@given(values=any_values(1, 30), data=st.data())
def test_summaries_join_in_any_grouping(values, data):
    pieces = [piece for piece in cut(data, values) if len(piece)]
    known = reduce(lambda a, b: b.joined(a), map(shard_magnitudes, pieces))
    exponent = known.exponent(values.dtype)
    summaries = [interval_summary(piece, exponent) for piece in pieces]
    assert reduce(IntervalSummary.then, summaries) == reduce(
        lambda after, before: before.then(after), reversed(summaries)
    )
    whole = interval_summary(values, exponent)
    assert reduce(IntervalSummary.then, summaries) == whole
    assert whole.interval(exponent) == max_interval(values)


@every_backend
@given(values=any_values(1, 30), data=st.data(), allow_empty=st.booleans())
def test_intervals_are_those_of_the_whole(backend, values, data, allow_empty):
    shards = cut(data, values)
    options = {"allow_empty": allow_empty, "backend": backend}
    least = data.draw(st.integers(1, len(values)))
    most = data.draw(st.integers(least, len(values) + 2) | st.none())
    for limits in ({}, {"min_length": least, "max_length": most}):
        expected = max_interval(values, **limits, allow_empty=allow_empty)
        assert max_interval_of_shards(shards, **limits, **options) == expected


@every_backend
@given(values=any_values(2, 9), data=st.data(), allow_empty=st.booleans())
def test_rectangles_are_those_of_the_whole(backend, values, data, allow_empty):
    shards = cut(data, values)
    options = {"allow_empty": allow_empty, "backend": backend}
    limits = {}
    cut_side = min(values.shape)
    for side, name in zip(values.shape, ("height", "width"), strict=True):
        if data.draw(st.booleans()):
            least = data.draw(st.integers(1, side))
            limits[f"min_{name}"] = least
            limits[f"max_{name}"] = data.draw(st.integers(least, side + 2) | st.none())
    expected = max_rectangle(values, **limits, allow_empty=allow_empty)
    assert max_rectangle_of_shards(shards, **limits, **options) == expected
    parts = data.draw(st.sampled_from([1, *(p for p in (2, 3) if p * p <= cut_side)]))
    expected = max_rectangle(values, allow_empty=allow_empty)
    assert max_rectangle_of_shards(shards, parts=parts, **options) == expected


@pytest.mark.parametrize("shape", [(130, 70), (70, 130)])
def test_larger_matrices_in_bands_and_windows(shape, monkeypatch):
    monkeypatch.setattr(strips_module.bands, "TASK", 100)
    seen = []
    solve = strips_module.best_rectangle
    monkeypatch.setattr(
        strips_module,
        "best_rectangle",
        lambda values, *rest: seen.append(values.shape) or solve(values, *rest),
    )
    values = np.random.default_rng(4).integers(-9, 9, shape)
    strips = np.array_split(values, 4)
    for limits in (
        {},
        {"max_width": 9},
        {"min_height": 30},
        {"min_height": 3, "max_height": 9, "min_width": 20, "max_width": 30},
        {"min_height": 50, "max_width": 8},
    ):
        assert max_rectangle_of_shards(strips, **limits) == max_rectangle(values, **limits)
    assert strips_module.bands.check_parts(None, shape, in_turn=True) == 7
    # Limits along both sides: windows of twice the smaller largest length, less one.
    assert len(seen) > 10
    assert max(map(min, seen)) == 17


def test_ties_go_to_the_first():
    for values in ([5, -5, 5, -5, 5], [0, 0, 0, 0], [-1, -1], [0, 5, 0], [-3, 1, -1, 1]):
        for place in range(len(values)):
            shards = np.split(np.array(values), [place])
            assert max_interval_of_shards(shards) == max_interval(values)
    zeros = [np.zeros((3, 7), int)] * 4
    assert max_rectangle_of_shards(zeros, parts=2) == max_rectangle(np.concatenate(zeros))


def test_grids_are_those_of_the_whole():
    """The largest magnitude of one shard sets the grid of all."""
    first, second = np.full(5, 0.1, np.float32), np.array([1e20, -1e20], np.float32)
    whole = max_interval(np.concatenate([first, second]))
    assert max_interval_of_shards([first, second]) == whole
    assert whole.sum != max_interval([*first, 1e10, -1e10]).sum
    known = shard_magnitudes(first).joined(shard_magnitudes(second))
    assert known.size == 7
    assert known == shard_magnitudes(second).joined(shard_magnitudes(first))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: max_interval_of_shards([]), "shards: must hold at least one value"),
        (lambda: max_interval_of_shards([[1], [[1]]]), r"shards\[1\] of shape \(1, 1\): must have"),
        (lambda: max_interval_of_shards([[1], [1.5]]), r"shards\[1\] of type float64: must be int"),
        (lambda: max_interval_of_shards([[1.0], [np.nan]]), r"part 1 .*: value nan at \(0,\)"),
        (lambda: max_interval_of_shards([[1j]]), "type complex128: must be integers"),
        (
            lambda: max_interval_of_shards([[1 << 62], [1 << 62]]),
            f"add up to {1 << 63}: must be at most",
        ),
        (lambda: max_interval_of_shards([[1], [2]], min_length=3), "min_length = 3: must be from"),
        (
            lambda: max_rectangle_of_shards([[[1, 2]], [[1]]]),
            r"shards\[1\] of 1 columns: must have 2",
        ),
        (
            lambda: max_rectangle_of_shards([np.zeros((9, 12))], parts=4),
            "parts = 4: must be 1, or a prime whose square is at most 9, the height, which is cut",
        ),
        (lambda: interval_summary([0.5]), "exponent = None: must be an integer for floating"),
        (lambda: interval_summary([1], 3), "exponent = 3: must be None for integers"),
        (lambda: interval_summary([]), "must not be empty"),
        (lambda: shard_magnitudes([np.inf]), r"value inf at \(0,\): must be finite"),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ParameterError, match=says):
        call()


def test_sums_up_to_the_limit_are_exact():
    shards = [np.array([(1 << 62) - 1]), np.array([1 << 62])]
    assert max_interval_of_shards(shards) == Interval(0, 2, (1 << 63) - 1)
    assert shard_magnitudes(shards[0]).joined(shard_magnitudes(shards[1])).total == (1 << 63) - 1
