"""Rectangles and boxes of largest sum: brute force, census, limits of sides, disjoint ones."""

import itertools
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mmpcodec import ParameterError
from mmpcodec.solvers import max_sum
from mmpcodec.solvers.max_sum import Box, box_census, disjoint_boxes, max_box, max_rectangle
from mmpcodec.solvers.max_sum.reference import box_by_slabs

every_backend = pytest.mark.parametrize(
    "backend", ["cpu", "reference", pytest.param("cuda", marks=pytest.mark.gpu)]
)
every_rank = pytest.mark.parametrize("rank", [2, 3])
NAMES = ["depth", "height", "width"]
KIND = {2: "rectangle", 3: "box"}
KINDS = {2: "rectangles", 3: "boxes"}


def solver(name, rank):
    return getattr(max_sum, name.format(KIND[rank], KINDS[rank]))


def places(window):
    return astuple(window)[:-1]


def size(window):
    return window.area if hasattr(window, "area") else window.volume


def first(windows):
    return min(windows, key=lambda window: (-window.sum, *places(window)))


def all_windows(values, sides=((1, 99),) * 3):
    kind = max_sum.Rectangle if values.ndim == 2 else Box
    ranges = [
        [(a, b) for a, b in itertools.combinations(range(n + 1), 2) if least <= b - a <= most]
        for n, (least, most) in zip(values.shape, sides[: values.ndim], strict=True)
    ]
    return [
        kind(*starts, *stops, int(values[tuple(map(slice, starts, stops))].sum()))
        for starts, stops in (zip(*ends, strict=True) for ends in itertools.product(*ranges))
    ]


def options(sides):
    return {
        f"{end}_{name}": side[end == "max"]
        for name, side in zip(NAMES[-len(sides) :], sides, strict=True)
        for end in ("min", "max")
    }


def drawn(data, rank):
    """Few different values, for ties, and limits of the sides."""
    shapes = array_shapes(min_dims=rank, max_dims=rank, max_side=6 if rank == 2 else 4)
    values = data.draw(arrays(np.int64, shapes, elements=st.integers(-3, 3)))
    sides = []
    for side in values.shape:
        least = data.draw(st.integers(1, side))
        sides.append((least, data.draw(st.integers(least, side + 1))))
    return values, sides


@every_rank
@every_backend
@given(data=st.data())
def test_windows_are_those_of_brute_force(backend, rank, data):
    values, sides = drawn(data, rank)
    search = solver("max_{0}", rank)
    assert search(values, backend=backend) == first(all_windows(values))
    found = search(values, **options(sides), backend=backend)
    assert found == first(all_windows(values, sides))
    nothing = search(-abs(values), allow_empty=True, backend=backend)
    assert astuple(nothing) == (0,) * (2 * rank + 1)


@every_rank
@every_backend
@given(data=st.data())
def test_census_is_that_of_brute_force(backend, rank, data):
    values, _ = drawn(data, rank)
    everything = all_windows(values)
    most = max(window.sum for window in everything)
    best = [window for window in everything if window.sum == most]
    census = solver("{0}_census", rank)(values, backend=backend)
    assert (census.sum, census.count) == (most, len(best))
    assert census.largest == min(best, key=lambda window: (-size(window), *places(window)))
    assert census.smallest == min(best, key=lambda window: (size(window), *places(window)))
    assert census.densest == min(best, key=lambda window: (-window.density, *places(window)))


@every_rank
@given(data=st.data(), k=st.integers(1, 4), is_limited=st.booleans())
def test_disjoint_windows_are_greedy(rank, data, k, is_limited):
    values, sides = drawn(data, rank)
    free = all_windows(values, sides) if is_limited else all_windows(values)
    limits = options(sides) if is_limited else {}
    expected = []
    while free and len(expected) < k:
        best = first(free)
        expected.append(best)
        free = [
            window
            for window in free
            if any(
                places(window)[axis + rank] <= places(best)[axis]
                or places(best)[axis + rank] <= places(window)[axis]
                for axis in range(rank)
            )
        ]
    search = solver("disjoint_{1}", rank)
    if len(expected) == k:
        assert search(values, k, **limits) == expected
    else:
        says = f"k = {k}: only {len(expected)} disjoint {KINDS[rank]} exist"
        with pytest.raises(ParameterError, match=says):
            search(values, k, **limits)
    positive = [window for window in expected if window.sum > 0]
    assert search(values, k, **limits, allow_empty=True) == positive


@pytest.mark.parametrize("shape", [(1, 300), (300, 1), (90, 67), (67, 90)])
@pytest.mark.parametrize("top", [1, 3, 1 << 40])
def test_larger_matrices_agree(shape, top):
    values = np.random.default_rng(top).integers(-top, top + 1, shape)
    assert max_rectangle(values) == max_rectangle(values, backend="reference")
    if min(shape) > 1:
        for least, most in ((1, 7), (5, 5), (9, 40), (60, 66)):
            limits = {"min_width": least, "max_width": most, "min_height": 2, "max_height": 50}
            expected = max_rectangle(values, **limits, backend="reference")
            assert max_rectangle(values, **limits) == expected


@pytest.mark.parametrize("shape", [(17, 20, 33), (33, 17, 20), (20, 33, 17), (1, 40, 9)])
@pytest.mark.parametrize("kind", ["ties", "noise", "zeros", "negative", "large"])
@pytest.mark.parametrize(
    "sides", [((1, 99),) * 3, ((3, 9),) * 3, ((1, 5), (9, 99), (1, 4)), ((12, 17),) * 3]
)
def test_larger_volumes_have_the_boxes_of_slabs(shape, kind, sides):
    rng = np.random.default_rng(shape[0])
    values = {
        "ties": rng.integers(-1, 2, shape) * (rng.random(shape) < 0.3),
        "noise": rng.integers(-100, 101, shape),
        "zeros": np.zeros(shape, np.int64),
        "negative": -rng.integers(1, 3, shape),
        "large": rng.integers(-2, 3, shape) << 40,
    }[kind]
    sides = [(min(a, side), min(b, side)) for (a, b), side in zip(sides, shape, strict=True)]

    def best(slab, heights, widths):
        found = max_rectangle(slab, **options([heights, widths]))
        return found.sum, *places(found)

    found = max_box(values, **options(sides))
    assert (found.sum, *places(found)) == box_by_slabs(values, sides, best)


def test_a_box_that_its_bound_only_equals_may_come_first():
    values = np.full((7, 8, 9), -10)
    values[1:3, 0, 0] = 3
    values[5, 0, 0] = 6
    assert max_box(values) == Box(1, 0, 0, 3, 1, 1, 6)


@pytest.mark.parametrize("shape", [(1, 19, 23), (19, 1, 23), (23, 19, 1)])
def test_census_of_a_plane_is_that_of_rectangles(shape):
    flat = np.random.default_rng(8).integers(-1, 2, shape) * 2
    census = box_census(flat)
    plane = max_sum.rectangle_census(flat.reshape([side for side in shape if side > 1]))
    assert (census.sum, census.count) == (plane.sum, plane.count)
    assert census.largest.volume == plane.largest.area
    assert census.smallest.volume == plane.smallest.area


def test_census_of_many_ties():
    zeros = box_census(np.zeros((6, 20, 9)))
    assert zeros.count == 21 * 210 * 45
    assert places(zeros.largest) == (0, 0, 0, 6, 20, 9)
    assert places(zeros.smallest) == places(zeros.densest) == (0, 0, 0, 1, 1, 1)
    assert box_census(np.full((5, 6, 7), -1)).count == 210
    wide = np.zeros((3, 3, 3), np.int64)
    wide[1, 1, 1] = 1 << 40
    assert box_census(wide).count == 64


def test_of_equal_areas_the_first_counts():
    values = np.full((2, 8), -9)
    values[:2, :2] = values[0, 3:7] = 1
    for matrix in (values, values.T):
        census = max_sum.rectangle_census(matrix)
        assert (census.count, census.largest.area) == (2, 4)
        assert census.largest == census.smallest == max_sum.Rectangle(0, 0, 2, 2, 4)


@every_backend
def test_sums_of_floats(backend):
    values = np.zeros((3, 4, 5), np.float32)
    values[1, 2, 3], values[2, 2, 3] = 0.5, 0.25
    values[0], values[:, :2], values[:, :, 0] = -1, -1, -1
    census = box_census(values, backend=backend)
    assert (census.sum, type(census.sum), census.densest.density) == (0.75, float, 0.375)
    assert places(census.smallest) == (1, 2, 3, 3, 3, 4)
    assert (census.smallest.depth, census.smallest.height, census.smallest.width) == (2, 1, 1)
    assert disjoint_boxes(values, 2, max_depth=1, allow_empty=True, backend=backend)[1].sum == 0.25


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda values: max_box(values, min_depth=3), "min_depth = 3: must be from 1 to 2"),
        (
            lambda values: max_box(values, min_width=3, max_width=2),
            "max_width = 2: must be at least min_width = 3",
        ),
        (lambda values: disjoint_boxes(values, 0), "k = 0: must be from 1 up"),
        (lambda values: disjoint_boxes(values, 1, max_height=0), "max_height = 0"),
        (lambda values: box_census(values[0]), "must have 3 dimensions"),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ParameterError, match=says):
        call(np.full((2, 3, 4), -1))
