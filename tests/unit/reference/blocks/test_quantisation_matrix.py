"""Quantisation matrix: their values, and what is left of weighted coefficients."""

import numpy as np
import pytest

from mmpcodec.reference.blocks.quantisation_matrix import unweighted, weighted, weights


def test_weights_grow_in_proportion_to_the_frequency():
    for height, width in ((4, 4), (8, 32), (64, 64)):
        found = weights(height, width, 8)
        assert found[0, 0] == 64
        assert found[0, -1] == 64 + 4 * (64 * (min(width, 32) - 1) // width)
        assert (np.diff(found, axis=0) >= 0).all()
        assert (np.diff(found, axis=1) >= 0).all()
    assert np.array_equal(weights(16, 8, 5), weights(8, 16, 5).T)
    assert (weights(16, 16, 5)[::2, ::2] == weights(8, 8, 5)).all()
    assert weights(32, 32, 15).max() == 64 + 15 * 87 // 2 + 1


@pytest.mark.parametrize("strength", [1, 6, 15])
def test_weighting_is_undone_but_for_rounding(strength):
    own = weights(8, 16, strength)
    coefficients = np.random.default_rng(strength).integers(-9000, 9000, own.shape)
    found = weighted(coefficients, 8, 16, strength, 0)
    assert found.rest == 0
    error = np.abs(unweighted(found.coefficients, 8, 16, strength) - coefficients)
    assert (error <= own / 128 + 1).all()
    assert found.error(found.coefficients) == 0


def test_large_coefficients_are_limited():
    assert unweighted(np.full((4, 4), -32767), 4, 4, 9)[3, 3] == -32767


def test_frequencies_that_are_not_coded_count():
    coefficients = np.ones((32, 32), int)
    last = weights(64, 64, 6)[-1, -1] / 64
    found = weighted(coefficients, 64, 64, 6, 32 * 32 + 5000)
    assert found.rest == int(5000 / last**2)
    assert weighted(coefficients, 64, 64, 6, 10).rest == 0
