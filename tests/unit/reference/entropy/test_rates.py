"""The table of logarithms."""

import math

import numpy as np

from mmpcodec.reference.entropy.rates import LOG2, MAX_TOTAL


def test_rate_table_is_log2_to_half_a_unit():
    exact = np.array([math.log2(i) * 4096 for i in range(1, 2 * MAX_TOTAL)])
    assert np.abs(LOG2[1:] - exact).max() <= 0.502
    assert LOG2[1] == 0
    assert LOG2[1 << 17] == 17 * 4096
