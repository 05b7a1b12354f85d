"""Fitted prediction of lossless samples."""

import numpy as np

from mmpcodec.reference.lossless import prediction
from mmpcodec.reference.lossless.prediction import fitted_weights


def test_products_stay_within_63_bits_where_the_equations_have_no_solution(monkeypatch):
    """Sums that no samples give: without limits the weights are others, and C++ overflows."""
    sums = np.random.default_rng(647).integers(-(1 << 40), 1 << 40, (10, 11))
    limited = fitted_weights(sums, 16)
    monkeypatch.setattr(prediction, "MOST_VALUE", 1 << 400)
    assert fitted_weights(sums, 16) != limited
