"""Maximum sums: the source's golden vectors, brute force, and what is refused."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mmpcodec import ParameterError
from mmpcodec.solvers.grid import exponent_of
from mmpcodec.solvers.max_sum import (
    Interval,
    Rectangle,
    column_range_rectangle,
    disjoint_intervals,
    interval_census,
    max_box,
    max_interval,
    max_rectangle,
    rectangle_census,
    sums_through,
)

BACKENDS = ["cpu", "reference", pytest.param("cuda", marks=pytest.mark.gpu)]
every_backend = pytest.mark.parametrize("backend", BACKENDS)

TABLE_3_2 = [3, 5, 10, -5, -30, 5, 7, 2, -3, 10, -7, 5]
TABLE_3_3 = [3, 2, -7, 11, 10, -6, 4, 9, -6, 1, -2, -3, 4, -3, 0, 2]
TABLE_3_5 = [1, 1, -5, 20, 20, -5, 1, 1] * 4
FIGURE_3_5 = [5, 10, -20, 15, -20, 8, 4, 1, 2, -1]
FIGURE_4_1 = """
-20 4 0 -15 -2 2 -22 2 / 4 -2 -1 3 2 1 -18 10 / -15 6 3 -5 -1 3 -20 4 / -1 -1 3 -1 4 1 -17 -20 /
3 -3 2 0 3 -3 -2 -20 / -2 1 -2 1 -1 3 -1 1 / 2 -14 0 1 0 -3 -20 -18 / -11 1 -2 -1 1 -17 14 2
"""
FIGURE_4_5 = """
2 -1 12 -9 12 8 6 1 / 5 -4 -12 10 -1 1 2 -9 / 3 -8 -9 11 -10 -2 -8 -7 / -7 9 -11 9 -2 10 -2 9 /
0 -8 8 -1 -1 5 3 -6 / 6 -5 -9 7 -2 11 4 8 / 2 6 7 -8 2 -3 -6 -8 / 4 5 -1 -8 1 -7 10 6
"""


def matrix(text):
    return np.array([[int(v) for v in row.split()] for row in text.split("/")])


@every_backend
def test_interval_golden_vectors(backend):
    assert max_interval(TABLE_3_2, backend=backend) == Interval(5, 10, 21)
    assert max_interval([*TABLE_3_2, 40], backend=backend) == Interval(5, 13, 59)
    assert max_interval(TABLE_3_3, backend=backend) == Interval(3, 8, 28)
    assert max_interval(TABLE_3_5, backend=backend) == Interval(3, 29, 142)
    assert sums_through(TABLE_3_3, backend=backend).tolist() == [
        *[26] * 3, *[28] * 5, 23, 23, 22, 22, 22, 21, 21, 21,
    ]  # fmt: skip
    assert sums_through(FIGURE_3_5, backend=backend).tolist() == [
        15, 15, 10, 15, 10, 15, 15, 15, 15, 14,
    ]  # fmt: skip
    census = interval_census(FIGURE_3_5, backend=backend)
    assert (census.sum, census.count, census.disjoint) == (15, 3, 3)
    assert (census.longest, census.shortest) == (Interval(5, 9, 15), Interval(3, 4, 15))


@every_backend
def test_interval_census_at_its_edges(backend):
    """Pieces of sum zero, and maxima that are not positive."""
    for values, expected in {
        (5, -5, 5): (5, 3, 2, 3, 1),
        (0, 5): (5, 2, 1, 2, 1),
        (-1, -1): (-1, 2, 2, 1, 1),
        (0, 0, -1, 0): (0, 4, 3, 2, 1),
        (7,): (7, 1, 1, 1, 1),
    }.items():
        c = interval_census(values, backend=backend)
        assert (c.sum, c.count, c.disjoint, c.longest.length, c.shortest.length) == expected


@every_backend
def test_rectangle_golden_vectors(backend):
    assert max_rectangle(matrix(FIGURE_4_5), backend=backend) == Rectangle(0, 3, 6, 7, 61)
    strip = matrix(FIGURE_4_5)[:, 2:6].sum(axis=1)
    assert strip.tolist() == [23, -2, -10, 6, 11, 7, -2, -15]
    assert max_interval(strip, backend=backend) == Interval(0, 6, 35)
    census = rectangle_census(matrix(FIGURE_4_1), backend=backend)
    assert (census.sum, census.count) == (16, 3)
    assert census.largest == Rectangle(1, 1, 6, 6, 16)
    assert census.smallest == Rectangle(7, 6, 8, 8, 16)
    assert (census.largest.area, census.smallest.area, census.densest.density) == (25, 2, 8)
    best = [column_range_rectangle(matrix(FIGURE_4_1), k, backend=backend) for k in range(1, 37)]
    assert [r.sum for r in best[:4]] == [16, 16, 16, 15]
    assert len({(r.left, r.right) for r in best}) == 36
    assert sorted((r.sum for r in best), reverse=True) == [r.sum for r in best]
    assert sorted(best, key=lambda r: (-r.sum, r.left, r.right)) == best


small = st.integers(-4, 4)
sequences = arrays(np.int64, st.integers(1, 14), elements=small)


def all_intervals(values, lengths=(1, 99)):
    for start, stop in itertools.combinations(range(len(values) + 1), 2):
        if lengths[0] <= stop - start <= lengths[1]:
            yield Interval(start, stop, int(values[start:stop].sum()))


@given(values=arrays(np.int64, 60, elements=small), lengths=st.tuples(*[st.integers(1, 60)] * 2))
def test_windows_of_starts_are_those_of_the_reference(values, lengths):
    limits = {"min_length": min(lengths), "max_length": max(lengths)}
    expected = max_interval(values, **limits, backend="reference")
    assert max_interval(values, **limits, backend="cpu") == expected


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8"])
@pytest.mark.parametrize("scale", [1, 2.0**-140, 2.0**100])
def test_floats_are_rounded_to_the_same_grid(dtype, scale):
    rng = np.random.default_rng(3)
    for values in (rng.normal(size=2500), rng.integers(-2, 3, 2500) / 4, np.zeros(1500)):
        values = (values * scale).astype(dtype)
        assert max_interval(values, backend="cpu") == max_interval(values, backend="reference")
    tiny = np.array([-5e-324, 5e-324, 5e-324])
    assert max_interval(tiny, backend="cpu") == max_interval(tiny, backend="reference")


@every_backend
@given(values=sequences, least=st.integers(1, 4), more=st.integers(0, 9))
def test_intervals_are_those_of_brute_force(backend, values, least, more):
    least = min(least, len(values))
    everything = list(all_intervals(values))
    allowed = all_intervals(values, (least, least + more))
    expected = min(allowed, key=lambda i: (-i.sum, i.start, i.stop))
    found = max_interval(values, min_length=least, max_length=least + more, backend=backend)
    assert found == expected
    through = [max(i.sum for i in everything if i.start <= n < i.stop) for n in range(len(values))]
    assert sums_through(values, backend=backend).tolist() == through
    most = max(i.sum for i in everything)
    best = [i for i in everything if i.sum == most]
    census = interval_census(values, backend=backend)
    assert census.count == len(best)
    ends = [-1]
    for interval in sorted(best, key=lambda i: i.stop):
        ends += [interval.stop] if interval.start >= ends[-1] else []
    assert census.disjoint == len(ends) - 1
    assert census.longest == max(best, key=lambda i: (i.length, -i.start))
    assert census.shortest == min(best, key=lambda i: (i.length, i.start))
    if not most > 0:
        assert max_interval(values, allow_empty=True, backend=backend) == Interval(0, 0, 0)


@every_backend
@given(values=sequences, k=st.integers(1, 5))
def test_disjoint_intervals_are_greedy(backend, values, k):
    free = list(all_intervals(values))
    expected = []
    while free and len(expected) < k:
        best = min(free, key=lambda i: (-i.sum, i.start, i.stop))
        expected.append(best)
        free = [i for i in free if i.stop <= best.start or best.stop <= i.start]
    positive = [i for i in expected if i.sum > 0]
    assert disjoint_intervals(values, k, allow_empty=True, backend=backend) == positive
    if len(expected) == k:
        assert disjoint_intervals(values, k, backend=backend) == expected
    else:
        with pytest.raises(ParameterError, match=f"only {len(expected)} disjoint intervals"):
            disjoint_intervals(values, k, backend=backend)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "?"])
def test_integer_types_do_not_overflow(dtype):
    values = np.full((40, 50), np.iinfo(dtype).max if dtype != "?" else True, dtype)
    if dtype == "i8":
        values = np.full((40, 50), (1 << 63) // 2000, dtype)
    found = max_rectangle(values)
    assert found == Rectangle(0, 0, 40, 50, 2000 * int(values[0, 0]))
    assert isinstance(found.sum, int)


def test_sums_of_floats_depend_on_no_order():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(60, 40)) * 10.0 ** rng.integers(-9, 9, (60, 40))
    found = max_rectangle(values)
    assert found == max_rectangle(values, backend="reference")
    turned = max_rectangle(values[::-1, ::-1])
    assert turned.sum == found.sum
    inside = values[found.top : found.bottom, found.left : found.right]
    assert found.sum == pytest.approx(inside.sum(), rel=1e-12)
    assert max_interval(np.float32([0.5, 0.25])) == Interval(0, 2, 0.75)
    assert max_interval([0.0, -0.0]).sum == 0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: max_interval([[1]]), r"shape \(1, 1\): must have 1 dimension$"),
        (lambda: max_interval([]), r"shape \(0,\): must not be empty"),
        (lambda: max_rectangle([1, 2]), "must have 2 dimensions"),
        (lambda: max_box(np.zeros((2, 0, 1))), "must not be empty"),
        (lambda: max_interval([1.0, np.nan]), r"value nan at \(1,\): must be finite"),
        (lambda: max_interval([np.inf]), "value inf"),
        (lambda: max_rectangle([[1, 2], [3]]), "values: "),
        (
            lambda: max_interval([1.5e308] * 3),
            r"3 values up to 1.5e\+308: their sums must be below",
        ),
        (lambda: column_range_rectangle(np.zeros((1, 16385)), 1), "16385 columns: at most 16384"),
        (lambda: max_interval([1j]), "type complex128: must be integers"),
        (lambda: max_interval([1 << 62, 1 << 62]), f"add up to {1 << 63}: must be at most"),
        (
            lambda: max_interval([1], backend="gpu"),
            "backend = 'gpu': must be one of auto, cpu, cuda",
        ),
        (lambda: max_interval([1, 2], min_length=3), "min_length = 3: must be from 1 to 2"),
        (lambda: max_interval([1], min_length=1.0), "min_length = 1.0: must be an integer"),
        (
            lambda: max_rectangle([[1, 2]], min_width=2, max_width=1),
            "max_width = 1: must be at least min_width = 2",
        ),
        (lambda: disjoint_intervals([1], 0), "k = 0: must be from 1 up"),
        (lambda: column_range_rectangle([[1, 2]], 4), "only 3 ranges of columns exist"),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ParameterError, match=says):
        call()


def test_sums_up_to_the_limit_are_exact():
    values = np.array([[(1 << 62) - 1, 1 << 62], [0, 0]])
    assert max_rectangle(values).sum == (1 << 63) - 1


@pytest.mark.parametrize("place", [0, 1500, 2999])
@pytest.mark.parametrize("size", [50, 61, 62])
def test_large_int64_are_checked_while_they_are_read(place, size):
    """A bound of chunks of 1024 values refuses some sums that fit; then they are added up."""
    values = np.random.default_rng(place).integers(-9, 10, 3000)
    values[place] = 1 << size
    assert max_interval(values, backend="cpu") == max_interval(values, backend="reference")
    # Exactly the largest sum of magnitudes, then one more.
    values[place] = 1 << 62
    values[place - 1] = 0
    values[place - 1] = sum(map(abs, values.tolist())) - (2**63 - 1)
    assert max_interval(values, backend="cpu") == max_interval(values, backend="reference")
    values[place - 1] -= 1
    with pytest.raises(ParameterError, match=f"add up to {2**63}: must be at most {2**63 - 1}$"):
        max_interval(values, backend="cpu")


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_totals_of_the_largest_magnitudes_are_exact(dtype):
    largest = np.iinfo(dtype).min if dtype == "i8" else np.iinfo(dtype).max
    total = 2000 * abs(int(largest))
    with pytest.raises(ParameterError, match=f"add up to {total}: must be at most"):
        max_interval(np.full(2000, largest, dtype))
    with pytest.raises(ParameterError, match=f"add up to {total}: must be at most"):
        max_rectangle(np.full((40, 50), largest, dtype))


def test_bounds_of_many_chunks_add_up():
    with pytest.raises(ParameterError, match=f"add up to {2**64}: must be at most"):
        max_interval(np.full(1 << 21, 1 << 43))
    assert max_interval(np.full(1 << 21, 1 << 41)).sum == 1 << 62


@pytest.mark.parametrize("size", [1, 2, 3, 4, 1024, 1025])
def test_the_grid_is_the_finest_whose_sums_fit(size):
    """Magnitudes round up to a power of two, and so does the number of values."""
    assert exponent_of(0.75, size) == math.ceil(math.log2(size)) - 62


def test_numpy_numbers_and_none_are_taken():
    assert max_interval([1, 2], min_length=np.int64(2)).length == 2
    assert max_rectangle([[1, -2]], min_height=None, min_width=None).area == 1
    assert max_interval(np.array([1, 2], ">f8")).sum == 3
