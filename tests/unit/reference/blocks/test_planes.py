"""Prediction of a block from earlier planes: values, and what it reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmpcodec.reference.blocks import planes
from mmpcodec.reference.blocks.partition import CROSS_COMPONENT, WIDE_CROSS_COMPONENT, BlockPlace
from mmpcodec.reference.blocks.planes import predict_from_planes, solved

HEIGHT, WIDTH = 44, 52


@st.composite
def places(draw, least=0):
    """A block of the picture that is not its first one."""
    a, b = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    row = draw(st.integers(0, (HEIGHT >> a) - 1)) << a
    column = draw(st.integers(0, (WIDTH >> b) - 1)) << b
    if row == column == 0:
        column = 1 << b
    return BlockPlace(row, column, a, b)


@given(
    places(),
    st.sampled_from([CROSS_COMPONENT, WIDE_CROSS_COMPONENT]),
    st.integers(1, 2),
    st.sampled_from([8, 9, 12, 16]),
    st.integers(0, 2**32 - 1),
)
def test_only_decoded_samples_are_read_and_results_are_samples(place, mode, count, depth, seed):
    rng = np.random.default_rng(seed)
    most = (1 << depth) - 1
    own, *planes = (most * rng.integers(0, 2, (HEIGHT, WIDTH)) for _ in range(count + 1))
    found = predict_from_planes(mode, own, planes, place, depth)
    assert found.min() >= 0
    assert found.max() <= most
    poisoned = own.copy()
    poisoned[place.row :, place.column :] = 12345
    poisoned[place.row + place.height :] = 12345
    poisoned[:, place.column + place.width :] = 12345
    again = predict_from_planes(mode, poisoned, planes, place, depth)
    np.testing.assert_array_equal(found, again)


@pytest.mark.parametrize("limit", ["MOST_VALUE", "MOST_FACTOR"])
def test_weights_are_limited_where_the_equations_have_no_solution(monkeypatch, limit):
    """Sums that no samples give: without limits the weights are others, and C++ overflows."""
    sums = np.random.default_rng(3600).integers(-(2**23), 2**23, (6, 7))
    sums[:, :6] = np.triu(sums[:, :6]) + np.triu(sums[:, :6], 1).T
    equations = (256 * (sums + 60 * np.eye(6, 7, dtype=int))).tolist()
    assert solved(equations) == [16384, 16384, -16384, 0, 0, 4096]
    monkeypatch.setattr(planes, limit, 1 << 400)
    assert solved(equations) == [16384, 16384, -16384, -16384, 16384, 16384]
