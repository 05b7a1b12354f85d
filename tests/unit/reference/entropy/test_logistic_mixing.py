"""Logistic mixing: tables, hashed models, sets of weights with shares, and the last stage."""

from decimal import Decimal, getcontext

from mmpcodec.reference.entropy.logistic_mixing import MOST_MIXED, MOST_STRETCH, squash, stretch


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
