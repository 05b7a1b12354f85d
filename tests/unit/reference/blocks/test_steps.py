"""Delta step: the steps of fragments, their coding, and those of samples."""

import numpy as np

from mmpcodec.reference.blocks.steps import (
    MOST_LAMBDA_FIXED,
    FragmentMap,
    lambda_at,
    step_at,
    weight_of,
)


def test_lambda_follows_the_square_of_the_step():
    assert [lambda_at(1000, change) for change in (-4, -2, 0, 2, 4)] == [250, 500, 1000, 2000, 4000]
    assert lambda_at(1000, 24) == 4096000
    assert lambda_at(1 << 30, 24) == MOST_LAMBDA_FIXED
    assert weight_of(-4) == 4 * weight_of(0) == 16 * weight_of(4)


def test_changes_of_a_map_give_lambdas():
    changes, hidden = np.array([[-4, 0, 4]], np.int8), np.array([[False, True, False]])
    found = FragmentMap(changes, hidden).lambdas(1000)
    assert found.tolist() == [[250, MOST_LAMBDA_FIXED, 4000]]
    assert found.dtype == np.int64


def test_a_step_stays_in_its_range():
    assert step_at(1, -24) == 1
    assert step_at(65535, 24) == step_at(65535, 1) == 65535
