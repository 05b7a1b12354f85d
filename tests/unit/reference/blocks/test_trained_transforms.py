"""Trained transforms of the low frequencies of a block."""

import numpy as np
import pytest

from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.trained_transforms import (
    SIZES,
    forward_low,
    group_of,
    inverse_low,
    is_turned,
    matrices,
)


@pytest.mark.parametrize("size", SIZES)
def test_the_matrices_are_nearly_orthonormal(size):
    matrix = matrices()[size] / 128
    assert np.abs(matrix @ matrix.T - np.eye(len(matrix))).max() < 0.03
    # The sum of a row's sizes bounds the sums of both directions.
    most = max(np.abs(matrices()[size]).sum(axis=axis).max() for axis in (0, 1))
    assert most * 32767 + 64 < 2**31


def test_groups_of_modes():
    assert [group_of(mode) for mode in (0, 1, 2, 36, 37, 38, 39)] == [0, 0, 0, 1, 1, 1, 1]
    angles = [4] * 6 + [3] * 5 + [2] * 11 + [3] * 5 + [4] * 6
    assert [group_of(mode) for mode in range(3, 36)] == angles
    high, square = BlockPlace(0, 0, 4, 2), BlockPlace(0, 0, 3, 3)
    assert [is_turned(high, mode) for mode in (0, 2, 3, 18, 19, 35, 36, 39)] == [
        *(True, True, True, True, False, False, True, True)
    ]
    assert [is_turned(square, mode) for mode in (0, 18, 19, 37)] == [False, True, False, False]


@pytest.mark.parametrize("mode", [1, 5, 18, 19, 33, 37])
@pytest.mark.parametrize(("a", "b"), [(2, 2), (2, 5), (4, 2), (3, 3), (6, 4), (6, 6)])
def test_the_inverse_gives_the_coefficients_back(mode, a, b):
    place = BlockPlace(0, 0, a, b)
    shape = min(place.height, 32), min(place.width, 32)
    coefficients = np.random.default_rng(a).integers(-900, 900, shape)
    changed = forward_low(coefficients, place, mode)
    low = np.s_[:6, :6]
    assert (changed[low] != coefficients[low]).mean() > 0.9
    assert np.abs(inverse_low(changed, place, mode) - coefficients).max() < 60
    changed[low] = coefficients[low]
    assert (changed == coefficients).all()


def test_a_value_is_spread_by_its_row():
    """The second value in the order of levels has the second row of the matrix."""
    row = matrices()[3, 6, 4][1].reshape(6, 4)
    place = BlockPlace(0, 0, 4, 2)
    levels = np.zeros((16, 4), int)
    levels[1, 0] = 128  # 1 * 4 before 0 * 4 + 1 * 16
    assert (inverse_low(levels, place, 3 + 23)[:6] == row).all()
    turned = np.zeros((4, 16), int)
    turned[0, 1] = 128
    assert (inverse_low(turned, BlockPlace(0, 0, 2, 4), 3 + 9)[:, :6] == row.T).all()
    # A mode that is no angle turns a high block, so the first steps are along its rows.
    row = matrices()[0, 4, 6][1].reshape(4, 6)
    assert (inverse_low(levels, place, 2)[:6] == row.T).all()


def test_extremes_stay_in_range():
    place = BlockPlace(0, 0, 5, 5)
    for sign in (1, -1):
        extreme = np.full((32, 32), sign * 32767)
        for found in (forward_low(extreme, place, 2), inverse_low(extreme, place, 20)):
            assert np.abs(found).max() == 32767
