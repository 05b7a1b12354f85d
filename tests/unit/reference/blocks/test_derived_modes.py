"""Weights of the angles, derived from the gradients around a block."""

import numpy as np

from mmpcodec.reference.blocks.derived_modes import weighted


def test_weights_keep_the_total_within_the_table_of_rates():
    # All frequency is at one angle that both neighbours are next to.
    frequencies = np.ones(38, np.int64)
    frequencies[20] = 14 * 4000
    assert weighted(frequencies, np.full(33, 34)).sum() < 2**18
