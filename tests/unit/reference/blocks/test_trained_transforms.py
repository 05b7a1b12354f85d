"""Trained transforms of the low frequencies of a block."""

import numpy as np
import pytest

from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.trained_transforms import SIZES, forward_low, inverse_low, matrices


@pytest.mark.parametrize("size", SIZES)
def test_the_matrices_are_nearly_orthonormal(size):
    matrix = matrices()[size] / 128
    assert np.abs(matrix @ matrix.T - np.eye(len(matrix))).max() < 0.03
    # The sum of a row's sizes bounds the sums of both directions.
    most = max(np.abs(matrices()[size]).sum(axis=axis).max() for axis in (0, 1))
    assert most * 32767 + 64 < 2**31


def test_extremes_stay_in_range():
    place = BlockPlace(0, 0, 5, 5)
    for sign in (1, -1):
        extreme = np.full((32, 32), sign * 32767)
        for found in (forward_low(extreme, place, 2), inverse_low(extreme, place, 20)):
            assert np.abs(found).max() == 32767
