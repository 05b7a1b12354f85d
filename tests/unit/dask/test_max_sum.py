"""Maximum sums of Dask arrays: the solver in memory as the judge, ties, bytes, what is refused."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mmpcodec import ParameterError
from mmpcodec.solvers import max_sum

dask = pytest.importorskip("dask", reason="needs dask, of the extra cluster")
da = pytest.importorskip("dask.array", reason="needs dask, of the extra cluster")

from support.chunkings import Counted, in_chunks, of_unknown_sizes  # noqa: E402

from mmpcodec.dask import max_interval, max_rectangle  # noqa: E402
from mmpcodec.solvers.max_sum import bands  # noqa: E402
from mmpcodec.solvers.max_sum.bands import check_parts, lines  # noqa: E402

TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


@st.composite
def any_array(draw, rank, side):
    """Values of any type; few different ones, for ties, or any, or some not finite."""
    dtype = draw(st.sampled_from(TYPES))
    few = {"?": [False, True], "u": [0, 1, 2]}.get(dtype[0], [-2, -1, 0, 1, 2])
    elements = draw(st.sampled_from([st.sampled_from(few), None]))
    if dtype[0] == "f" and elements is None:
        elements = st.floats(width=8 * int(dtype[1]), allow_nan=False, allow_infinity=False)
        elements |= st.sampled_from([np.inf, np.nan]) if draw(st.booleans()) else elements
    shapes = array_shapes(min_dims=rank, max_dims=rank, max_side=side)
    return draw(arrays(dtype, shapes, elements=elements))


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def answer(solve, *arguments, **options):
    """An answer, or the text of the error."""
    try:
        return solve(*arguments, **options)
    except ParameterError as error:
        return str(error)


@given(values=any_array(1, 40), data=st.data(), allow_empty=st.booleans())
@pytest.mark.parametrize("backend", ["auto", "reference"])
def test_intervals_are_those_of_the_gathered_array(backend, values, data, allow_empty):
    array = data.draw(in_chunks(values))
    expected = answer(max_sum.max_interval, values, allow_empty=allow_empty)
    for given_array in (array, of_unknown_sizes(array)):
        found = answer(max_interval, given_array, allow_empty=allow_empty, backend=backend)
        assert found == expected


@given(values=any_array(2, 13), data=st.data(), allow_empty=st.booleans())
@pytest.mark.parametrize("backend", ["auto", "reference"])
def test_rectangles_are_those_of_the_gathered_array(backend, values, data, allow_empty):
    array = data.draw(in_chunks(values))
    side = min(values.shape)
    allowed = [None, 1, *(p for p in (2, 3) if p * p <= side)]
    expected = answer(max_sum.max_rectangle, values, allow_empty=allow_empty)
    for given_array in (array, of_unknown_sizes(array)):
        parts = data.draw(st.sampled_from(allowed))
        options = {"parts": parts, "allow_empty": allow_empty, "backend": backend}
        assert answer(max_rectangle, given_array, **options) == expected


@pytest.mark.parametrize("shape", [(60, 70), (130, 50), (25, 300), (49, 49)])
@pytest.mark.parametrize("parts", [None, 1, 2, 3, 5])
@pytest.mark.parametrize("dtype", ["i1", "f4"])
def test_larger_rectangles(shape, parts, dtype):
    seed = parts or 0
    values = np.random.default_rng(seed).integers(-3 - seed % 3, 4, shape).astype(dtype)
    array = da.from_array(values, chunks=(17, 23))
    assert max_rectangle(array, parts=parts) == max_sum.max_rectangle(values)


def test_ties_go_to_the_first():
    for values in (np.zeros((30, 40), int), np.ones((30, 40), int) * -1, np.eye(30, 40) - 1):
        array = da.from_array(values, chunks=7)
        for parts in (1, 2, 3, 5):
            assert max_rectangle(array, parts=parts) == max_sum.max_rectangle(values)
            turned = max_rectangle(array.T, parts=parts)
            assert turned == max_sum.max_rectangle(values.T)
    for values in ([5, -5, 5, -5, 5], [0, 0, 0], [-1, -1], [0, 5, 0], [-3, 1, -1, 1]):
        for size in range(1, 6):
            found = max_interval(da.from_array(np.array(values), chunks=size))
            assert found == max_sum.max_interval(values)


@pytest.mark.parametrize("order", [1, 2, 3, 5, 7])
def test_any_two_bands_lie_on_one_line(order):
    found = list(lines(order))
    assert len(found) == (order * (order + 1) if order > 1 else 1)
    met = np.zeros((order**2, order**2), int)
    for line in found:
        assert line == sorted(set(line))
        assert len(line) == order
        for low, high in combinations_with_replacement(line, 2):
            met[low, high] += 1
    above = np.triu_indices(order**2, 1)
    assert (met[above] == 1).all()
    assert (met.diagonal() == (order + 1 if order > 1 else 1)).all()


def test_the_number_of_bands():
    assert check_parts(None, (512, 512)) == 1
    assert check_parts(None, (512, 513)) == 5
    assert check_parts(None, (1 << 14, 1 << 14)) == 11
    assert check_parts(None, (30, 1 << 30)) == 5
    assert check_parts(None, (3, 1 << 30)) == 1
    assert check_parts(7, (49, 60)) == 7
    for parts in (0, 4, 7, 1.5, True):
        with pytest.raises(ParameterError, match=f"parts = {parts}: must be"):
            check_parts(parts, (48, 60))


def test_a_task_holds_its_part_of_the_array(monkeypatch):
    seen = []
    solve = bands.best_rectangle
    monkeypatch.setattr(
        bands,
        "best_rectangle",
        lambda values, *rest: seen.append(values.shape) or solve(values, *rest),
    )
    values = np.random.default_rng(0).integers(-9, 9, (200, 300))
    assert max_rectangle(da.from_array(values, chunks=64), parts=5) == max_sum.max_rectangle(values)
    # A fifth of the rows, and at most 4 rows between the bands.
    assert len(seen) == 30
    assert {width for _, width in seen} == {300}
    assert all(40 <= height <= 44 for height, _ in seen)


def test_intervals_take_few_bytes_and_rounds():
    values = np.random.default_rng(1).integers(-50, 50, 100000)
    for dtype, rounds in (("i2", 1), ("i8", 2), ("f4", 2)):
        array = da.from_array(values.astype(dtype), chunks=1000)
        with Counted("ask") as sent:
            assert max_interval(array) == max_sum.max_interval(values.astype(dtype))
        assert sent.rounds == rounds
        assert max(sent.sizes[-100:]) < 400


@pytest.mark.parametrize("solve", [max_interval, max_rectangle])
def test_integers_are_added_exactly_up_to_their_limit(solve):
    shape = (4,) if solve is max_interval else (2, 2)
    judge = max_sum.max_interval if solve is max_interval else max_sum.max_rectangle
    for dtype, values in (
        ("i8", [1 << 62, -(1 << 61), (1 << 60) - 1, 1 << 60]),
        ("u8", [(1 << 63) - 4, 1, 1, 1]),
        ("i8", [-(1 << 62), -(1 << 61), -(1 << 60), 1]),
    ):
        array = np.array(values, dtype).reshape(shape)
        assert solve(da.from_array(array, chunks=1)) == judge(array)
    for dtype, values in (
        ("i8", [1 << 62, -(1 << 62), 0, 0]),
        ("i8", [-(1 << 63), 0, 0, 0]),
        ("u8", [(1 << 64) - 1, 0, 0, 0]),
    ):
        array = np.array(values, dtype).reshape(shape)
        expected = answer(judge, array)
        assert expected.startswith("values whose magnitudes add up to ")
        assert answer(solve, da.from_array(array, chunks=1)) == expected


def test_the_grid_is_that_of_the_whole_array():
    values = np.array([1e-3, 1e300, -1e300, 1e-3, 1e-3, -1e300])
    assert max_interval(da.from_array(values, chunks=1)) == max_sum.max_interval(values)
    # In a chunk of its own, the small value would not be rounded to 0.
    values = np.array([2.0**70, -(2.0**70), 1.0])
    assert max_interval(da.from_array(values, chunks=1)).sum == 2.0**70
    assert max_interval(da.from_array(values[2:], chunks=1)).sum == 1


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.ones(3), r"array of type ndarray: must be a Dask array; .*solvers\.max_sum takes"),
        (da.ones((2, 2, 2)), r"array of shape \(2, 2, 2\): must have (1 dimension|2 dimensions)$"),
    ],
)
def test_wrong_arrays_are_named(array, says):
    for solve in (max_interval, max_rectangle):
        with pytest.raises(ParameterError, match=says):
            solve(array)


@pytest.mark.parametrize("solve", [max_interval, max_rectangle])
def test_other_arrays_are_refused(solve):
    shape = (6,) if solve is max_interval else (2, 3)
    for dtype in ("f2", "c16"):
        with pytest.raises(ParameterError, match=r"array of type .*: must be integers, bool"):
            solve(da.ones(shape, dtype=dtype))
    for empty in (da.ones(shape)[:0], of_unknown_sizes(da.ones(shape)[:0])):
        with pytest.raises(ParameterError, match=r"array of shape \(0.*: must not be empty"):
            solve(empty)


@pytest.mark.gpu
@given(values=any_array(2, 13), data=st.data())
def test_chunks_on_a_device(values, data):
    import cupy

    host = data.draw(in_chunks(values))
    array = host.map_blocks(cupy.asarray, meta=cupy.empty((0, 0), values.dtype))
    parts = data.draw(st.sampled_from([1, *(p for p in (2, 3) if p * p <= min(values.shape))]))
    expected = answer(max_sum.max_rectangle, values)
    assert answer(max_rectangle, array, parts=parts) == expected
    flat = data.draw(in_chunks(values.ravel()))
    there = flat.map_blocks(cupy.asarray, meta=cupy.empty(0, values.dtype))
    assert answer(max_interval, there) == answer(max_sum.max_interval, values.ravel())
