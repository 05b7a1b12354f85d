"""Logistic mixing: tables that machines round alike, and limits that no vector reaches."""

from decimal import Decimal, getcontext

import numpy as np

from mmpcodec.reference.entropy.logistic_mixing import (
    MOST_MIXED,
    MOST_STRETCH,
    WeightSet,
    squash,
    stretch,
)


def test_squash_is_rounded_alike_everywhere():
    """No value is so near to a half that another machine's exponential could round it elsewhere."""
    getcontext().prec = 30
    for x, found in zip(range(-MOST_MIXED, MOST_MIXED + 1), squash(), strict=True):
        value = 65536 / (1 + (Decimal(-x) / 256).exp())
        assert abs(value - int(value) - Decimal("0.5")) > Decimal("1e-6")
        assert found == min(max(round(value), 1), 65535)


def test_stretch_is_the_inverse_of_squash():
    table, odds = squash(), stretch()
    for i in range(4096):
        at = int(odds[i])
        if at < MOST_STRETCH:
            assert table[at + MOST_MIXED] >= 16 * i + 8
        if at > -MOST_STRETCH:
            assert table[at - 1 + MOST_MIXED] < 16 * i + 8


def test_weights_are_limited_and_learn_more_slowly():
    own = WeightSet(8)
    odds = np.full(8, 2047)
    for _ in range(40):
        own.learn(odds, -MOST_MIXED, 1)
    assert own.weights.tolist() == [28000] * 8
    before = own.weights.copy()
    own.uses = 2047
    own.learn(odds, 0, 0)
    # The rate is 2, so the error is 2 (-32768 >> 4) = -4096.
    assert (own.weights - before).tolist() == [(2047 * -4096 + 16384) >> 15] * 8
    assert own.uses == 2047
