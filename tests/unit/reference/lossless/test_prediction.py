"""Fitted prediction of lossless samples."""

import numpy as np
import pytest

from mmpcodec.reference.lossless import prediction
from mmpcodec.reference.lossless.prediction import FadedSums, faded, fitted_weights


def test_sums_fade():
    assert faded(np.array([1000, -1000])).tolist() == [688, -687]
    sums = FadedSums(2, 1)
    sums.begin_row()
    sums.at(0)
    sums.add(0, np.array([1]), 0)
    assert sums.at(1).tolist() == [[256 - 64 - 16, 0]]


def test_weights_fit_a_plane():
    """Where each sample is twice the left one less the one before, these become the weights."""
    sums = FadedSums(40, 10)
    rng = np.random.default_rng(5)
    for _ in range(3):
        sums.begin_row()
        for column in range(40):
            sums.at(column)
            regressors = rng.integers(-90, 90, 10)
            sums.add(column, regressors, int(2 * regressors[0] - regressors[4]))
    sums.begin_row()
    found = np.array(fitted_weights(sums.at(0), 8)) / 2**14
    assert found == pytest.approx([2, 0, 0, 0, -1, 0, 0, 0, 0, 0], abs=0.01)


def test_nothing_known_gives_the_prior():
    assert fitted_weights(np.zeros((10, 11), np.int64), 8)[:5] == [10240, 10240, -6144, 2048, 0]


def test_products_stay_within_63_bits_where_the_equations_have_no_solution(monkeypatch):
    """Sums that no samples give: without limits the weights are others, and C++ overflows."""
    sums = np.random.default_rng(647).integers(-(1 << 40), 1 << 40, (10, 11))
    limited = fitted_weights(sums, 16)
    monkeypatch.setattr(prediction, "MOST_VALUE", 1 << 400)
    assert fitted_weights(sums, 16) != limited
