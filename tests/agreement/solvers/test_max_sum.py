"""The maximum sums of the cuda backend are those of cpu, with their places."""

import numpy as np
import pytest
from support.arrays import values as values_of
from support.same import on_both

from mmpcodec import ParameterError
from mmpcodec.solvers import max_sum

pytestmark = pytest.mark.gpu

TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "?", "f4", "f8"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [1, 31, 32, 129, 5000, 400_001])
def test_intervals(size, dtype):
    values = values_of(size, dtype, size)
    on_both(max_sum.max_interval, values)
    on_both(max_sum.max_interval, values, allow_empty=True)
    on_both(max_sum.max_interval, values, min_length=size // 3 + 1, max_length=size // 2 + 1)
    on_both(max_sum.sums_through, values)
    on_both(max_sum.interval_census, values)
    on_both(max_sum.maximal_intervals, values)
    on_both(lambda array, **more: max_sum.max_interval_of_shards([array], **more), values)


@pytest.mark.parametrize("values", [np.zeros(70_000, "i4"), np.tile([3, -3], 40_000)])
def test_equal_sums_of_intervals(values):
    on_both(max_sum.max_interval, values)
    on_both(max_sum.interval_census, values)
    on_both(max_sum.max_interval, -abs(values))


@pytest.mark.parametrize("drift", [-3, -1, 0, 1])
@pytest.mark.parametrize("size", [2, 15, 16, 17, 255, 256, 257, 65_537, 3_000_000])
def test_maximal_intervals_of_drifting_values(size, drift):
    values = np.random.default_rng(size).integers(-9, 10, size) + drift
    on_both(max_sum.maximal_intervals, values)
    on_both(max_sum.maximal_intervals, values[::-1])
    on_both(max_sum.maximal_intervals, np.sort(values))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 300), (63, 64), (64, 63), (65, 33), (128, 32), (200, 129)]
)
def test_rectangles(shape, dtype):
    values = values_of(shape, dtype)
    on_both(max_sum.max_rectangle, values)
    height, width = shape
    limits = {"min_height": height // 4 + 1, "max_height": height // 2 + 1}
    on_both(max_sum.max_rectangle, values, **limits)
    limits |= {"min_width": width // 4 + 1, "max_width": width // 2 + 1}
    on_both(max_sum.max_rectangle, values, **limits)
    on_both(max_sum.rectangle_census, values)
    on_both(max_sum.column_range_rectangle, values, width)
    on_both(max_sum.disjoint_rectangles, values, 3, allow_empty=True)


@pytest.mark.parametrize("shape", [(150, 100), (100, 150)])
def test_equal_sums_of_rectangles(shape):
    rng = np.random.default_rng(5)
    for values in (np.zeros(shape), np.eye(*shape), rng.integers(-1, 2, shape)):
        on_both(max_sum.max_rectangle, values)
        on_both(max_sum.max_rectangle, values, max_height=9, max_width=11)
        on_both(max_sum.rectangle_census, values)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 70, 40), (40, 5, 20), (33, 34, 12), (64, 64, 64)])
def test_boxes(shape, dtype):
    on_both(max_sum.max_box, values_of(shape, dtype))
    on_both(max_sum.max_box, values_of(shape, dtype), max_depth=2, max_width=9)
    on_both(max_sum.box_census, values_of(shape, dtype))
    on_both(max_sum.disjoint_boxes, values_of(shape, dtype), 2, allow_empty=True)


def test_equal_sums_of_boxes():
    rng = np.random.default_rng(6)
    for shape in [(9, 7, 70), (70, 9, 7), (7, 70, 9)]:
        on_both(max_sum.max_box, np.zeros(shape, "i2"))
        on_both(max_sum.max_box, rng.integers(-1, 2, shape))


def test_values_stay_on_their_device():
    import cupy

    values = values_of((50, 61), "i4")
    there = cupy.asarray(values)
    expected = max_sum.max_rectangle(values)
    assert max_sum.max_rectangle(there) == expected
    assert max_sum.max_rectangle(there.T) == max_sum.max_rectangle(values.T)
    assert max_sum.max_interval(there[3, 5:]) == max_sum.max_interval(values[3, 5:])
    through = max_sum.sums_through(there[0] / 4)
    assert isinstance(through, cupy.ndarray)
    np.testing.assert_array_equal(through.get(), max_sum.sums_through(values[0] / 4))
    with pytest.raises(ParameterError, match="backend = 'cpu': the values lie on a CUDA device"):
        max_sum.max_rectangle(there, backend="cpu")
