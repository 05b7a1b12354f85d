"""Mixed bits: predictions of several contexts, mixed by weights that learn."""

from decimal import Decimal, getcontext

import numpy as np

from mmpcodec.reference.entropy.mixed_bits import (
    MOST_MIXED,
    MOST_STRETCH,
    MixedBits,
    squash,
    stretch,
)
from mmpcodec.reference.entropy.symbols import SymbolWriter
from mmpcodec.reference.entropy.syntax import EXACT_SYNTAX


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


def test_mixed_bits_learn_what_their_contexts_tell():
    """A bit that one context tells for certain takes next to nothing, one that none tells a bit."""
    rng = np.random.default_rng(3)
    writer, mixed = SymbolWriter(EXACT_SYNTAX), MixedBits()
    bits = rng.integers(0, 2, (2, 1500)).tolist()
    for told, other in zip(*bits, strict=True):
        mixed.select([told, *rng.integers(0, 2, 7).tolist()], (0, 1))
        mixed.code(writer, "residual", 0, told)
        mixed.code(writer, "map", 1, other)
    assert writer.tally.bits()["residual"] < 80
    assert 1490 < writer.tally.bits()["map"] < 1600
