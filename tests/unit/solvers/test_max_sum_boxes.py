"""Census, disjoint boxes and limits of sides in volumes, beside brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mmpcodec import ParameterError
from mmpcodec.solvers.max_sum import (
    Box,
    box_census,
    disjoint_boxes,
    max_box,
    max_rectangle,
    rectangle_census,
)
from mmpcodec.solvers.max_sum.reference import box_by_slabs

BACKENDS = ["cpu", "reference", pytest.param("cuda", marks=pytest.mark.gpu)]
every_backend = pytest.mark.parametrize("backend", BACKENDS)
NAMES = ["depth", "height", "width"]
volumes = arrays(
    np.int64, array_shapes(min_dims=3, max_dims=3, max_side=4), elements=st.integers(-3, 3)
)


def places(box):
    return box.front, box.top, box.left, box.back, box.bottom, box.right


def first(boxes):
    return min(boxes, key=lambda box: (-box.sum, *places(box)))


def all_boxes(values, sides=((1, 99),) * 3):
    ranges = [
        [(a, b) for a, b in itertools.combinations(range(n + 1), 2) if least <= b - a <= most]
        for n, (least, most) in zip(values.shape, sides, strict=True)
    ]
    return [
        Box(f, t, left, g, b, r, int(values[f:g, t:b, left:r].sum()))
        for (f, g), (t, b), (left, r) in itertools.product(*ranges)
    ]


def options(sides):
    return {
        f"{end}_{name}": side[end == "max"]
        for name, side in zip(NAMES, sides, strict=True)
        for end in ("min", "max")
    }


@st.composite
def limited_volumes(draw):
    values = draw(volumes)
    sides = []
    for side in values.shape:
        least = draw(st.integers(1, side))
        sides.append((least, draw(st.integers(least, side + 1))))
    return values, sides


@every_backend
@given(given_volume=limited_volumes())
def test_limited_boxes_are_those_of_brute_force(backend, given_volume):
    values, sides = given_volume
    assert max_box(values, **options(sides), backend=backend) == first(all_boxes(values, sides))


@every_backend
@given(values=volumes)
def test_census_is_that_of_brute_force(backend, values):
    everything = all_boxes(values)
    most = max(box.sum for box in everything)
    best = [box for box in everything if box.sum == most]
    census = box_census(values, backend=backend)
    assert (census.sum, census.count) == (most, len(best))
    assert census.largest == min(best, key=lambda box: (-box.volume, *places(box)))
    assert census.smallest == min(best, key=lambda box: (box.volume, *places(box)))
    assert census.densest == min(best, key=lambda box: (-box.density, *places(box)))
    assert census.sum == max_box(values, backend=backend).sum


@pytest.mark.parametrize("shape", [(1, 19, 23), (19, 1, 23), (23, 19, 1)])
def test_census_of_a_plane_is_that_of_rectangles(shape):
    flat = np.random.default_rng(8).integers(-1, 2, shape) * 2
    census = box_census(flat)
    plane = rectangle_census(flat.reshape([side for side in shape if side > 1]))
    assert (census.sum, census.count) == (plane.sum, plane.count)
    assert census.largest.volume == plane.largest.area
    assert census.smallest.volume == plane.smallest.area


def test_census_of_many_ties():
    zeros = box_census(np.zeros((6, 20, 9)))
    assert zeros.count == 21 * 210 * 45
    assert places(zeros.largest) == (0, 0, 0, 6, 20, 9)
    assert places(zeros.smallest) == places(zeros.densest) == (0, 0, 0, 1, 1, 1)
    ones = np.full((5, 6, 7), -1)
    assert box_census(ones).count == 210
    wide = np.zeros((3, 3, 3), np.int64)
    wide[1, 1, 1] = 1 << 40
    assert box_census(wide).count == 64


@pytest.mark.parametrize("shape", [(17, 20, 33), (33, 17, 20), (20, 33, 17)])
@pytest.mark.parametrize("kind", ["ties", "noise", "zeros", "large"])
@pytest.mark.parametrize("sides", [((3, 9),) * 3, ((1, 5), (9, 99), (1, 4)), ((12, 17),) * 3])
def test_limits_in_larger_volumes(shape, kind, sides):
    rng = np.random.default_rng(shape[0])
    values = {
        "ties": rng.integers(-1, 2, shape) * (rng.random(shape) < 0.3),
        "noise": rng.integers(-100, 101, shape),
        "zeros": np.zeros(shape, np.int64),
        "large": rng.integers(-2, 3, shape) << 40,
    }[kind]
    sides = [(least, min(most, side)) for (least, most), side in zip(sides, shape, strict=True)]

    def best(slab, heights, widths):
        found = max_rectangle(
            slab,
            min_height=heights[0],
            max_height=heights[1],
            min_width=widths[0],
            max_width=widths[1],
        )
        return found.sum, found.top, found.left, found.bottom, found.right

    total, *expected = box_by_slabs(values, sides, best)
    found = max_box(values, **options(sides))
    assert found.sum == total
    assert list(places(found)) == expected


@given(values=volumes, k=st.integers(1, 4))
def test_disjoint_boxes_are_greedy(values, k):
    free = all_boxes(values)
    expected = []
    while free and len(expected) < k:
        best = first(free)
        expected.append(best)
        free = [
            box
            for box in free
            if any(
                places(box)[axis + 3] <= places(best)[axis]
                or places(best)[axis + 3] <= places(box)[axis]
                for axis in range(3)
            )
        ]
    if len(expected) == k:
        assert disjoint_boxes(values, k) == expected
    else:
        with pytest.raises(ParameterError, match=f"k = {k}: only {len(expected)} disjoint boxes"):
            disjoint_boxes(values, k)
    positive = [box for box in expected if box.sum > 0]
    assert disjoint_boxes(values, k, allow_empty=True) == positive


@given(given_volume=limited_volumes(), k=st.integers(1, 3))
def test_limits_of_disjoint_boxes(given_volume, k):
    values, sides = given_volume
    found = disjoint_boxes(values, k, **options(sides), allow_empty=True)
    allowed = all_boxes(values, sides)
    assert set(found) <= set(allowed)
    if found:
        assert found[0] == first(allowed)
    taken = np.zeros(values.shape, int)
    for box in found:
        taken[box.front : box.back, box.top : box.bottom, box.left : box.right] += 1
    assert taken.max() <= 1


@every_backend
def test_sums_of_floats(backend):
    values = np.zeros((3, 4, 5), np.float32)
    values[1, 2, 3], values[2, 2, 3] = 0.5, 0.25
    values[0], values[:, :2], values[:, :, 0] = -1, -1, -1
    census = box_census(values, backend=backend)
    assert census.sum == 0.75
    assert type(census.sum) is float
    assert census.densest.density == 0.375
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
        (lambda values: disjoint_boxes(values, 25), "k = 25: only 24 disjoint boxes exist"),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ParameterError, match=says):
        call(np.full((2, 3, 4), -1))
