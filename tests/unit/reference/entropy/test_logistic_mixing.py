"""Logistic mixing: tables, hashed models, sets of weights with shares, and the last stage."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from mmpcodec.reference.entropy.logistic_mixing import (
    MOST_MIXED,
    MOST_STRETCH,
    LogisticMixing,
    WeightSet,
    hashed_line,
    squash,
    stretch,
)
from mmpcodec.reference.entropy.symbols import SymbolCounter, SymbolWriter
from mmpcodec.reference.entropy.syntax import LOSSLESS_SYNTAX

ROWS = (0, 1, 2, 3)


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


class Noted(SymbolCounter):
    """Encoder without output that notes the probabilities."""

    def __init__(self):
        self.probabilities = []

    def bit(self, syntax, probability, bit):
        self.probabilities.append(probability)
        return super().bit(syntax, probability, bit)


def first_bit(models, weight_sets, last_stage, decision=0):
    """Code a 1 as the first bit; return the logistic mixing and the bit's probability."""
    mixed, coder = LogisticMixing(models, weight_sets, last_stage), Noted()
    mixed.select([5] * 16, ROWS)
    assert mixed.code(coder, "residual", decision, 1) == 1
    return mixed, coder.probabilities[0]


def test_first_bit_of_eight_models():
    """All models have the odds 1/256, and their weights add up to 1.28."""
    mixed, probability = first_bit(8, 1, False)
    assert probability == squash()[MOST_MIXED + 1] == 32832
    assert mixed.states[3, 5, 0] == (32768 + 21845, 1)
    own = mixed.sets[0, 0, 0]
    assert own.weights.tolist() == [2622] * 8
    assert own.uses == 1
    assert mixed.stages == {}


def test_first_bit_of_sixteen_models_and_four_sets():
    mixed, probability = first_bit(16, 4, False)
    assert probability == 32832
    assert sorted(mixed.sets) == [(k, k, 0) for k in range(4)]
    assert mixed.sets[2, 2, 0].weights.tolist() == [1639] * 16
    assert mixed.shares[0] == [16384 + (4 * 32704 + (1 << 17) >> 18)] * 4


def test_shares_follow_the_better_set():
    """The first set mixes to the odds 3, the others to -4; so the share of the first one grows."""
    mixed, coder = LogisticMixing(8, 4, False), Noted()
    mixed.select([5] * 8, ROWS)
    for k, start in enumerate((8000, -8000, -8000, -8000)):
        mixed.sets[k, k, 7] = WeightSet(8)
        mixed.sets[k, k, 7].weights[:] = start
    mixed.code(coder, "residual", 7, 1)
    # The mixture of all is (3 - 3 * 4) / 4, rounded down to -3.
    assert coder.probabilities == [squash()[MOST_MIXED - 3]]
    assert mixed.shares[7] == [16386, 16382, 16382, 16382]


def test_last_stage_starts_at_the_odds_and_learns():
    mixed, probability = first_bit(8, 1, True)
    stage = mixed.stages[0, 0]
    assert len(stage) == 33
    assert stage[0] == squash()[MOST_MIXED - 2048]
    assert stage[16] == 32768 + (32767 >> 6)
    # Odds 1/256 are 1/128 of the way from the probability of 0 to the one of 128/256.
    between = (127 * 32768 + int(squash()[MOST_MIXED + 128])) >> 7
    assert probability == (32832 + between) >> 1


def test_last_stage_limits_the_probability():
    mixed, coder = LogisticMixing(16, 4, True), Noted()
    mixed.select([1] * 16, ROWS)
    for _ in range(3000):
        mixed.code(coder, "residual", 3, 0)
    assert min(coder.probabilities) == 32
    assert mixed.states[1, 1, 3] == (32, 127)


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


@pytest.mark.parametrize(
    ("context", "decision", "line"),
    [(0, 15, 0), (1, 0, 4689), (2**32 - 1, 16, 14325), (123456, 139, 25278)],
)
def test_lines_of_hashed_models(context, decision, line):
    assert hashed_line(context, decision) == line


def test_hashed_models_share_lines():
    """Models 1, 12 and 15 know contexts of one line as one; the others tell them apart."""
    line = hashed_line(1, 2)
    other = next(x for x in range(2, 1 << 20) if hashed_line(x, 2) == line)
    mixed, coder = LogisticMixing(16, 1, False), Noted()
    for context in (1, other):
        mixed.select([context] * 16, ROWS)
        mixed.code(coder, "residual", 2, 1)
    uses = [
        max(n for (model, _, _), (_, n) in mixed.states.items() if model == k) for k in range(16)
    ]
    assert uses == [2, *[1] * 10, 2, 1, 1, 2, 1]


@pytest.mark.parametrize("weight_sets", [1, 4])
@pytest.mark.parametrize("last_stage", [False, True])
def test_logistic_mixing_learns_what_its_contexts_tell(weight_sets, last_stage):
    """A bit that one context tells for certain takes next to nothing, one that none tells a bit."""
    rng = np.random.default_rng(3)
    writer, mixed = SymbolWriter(LOSSLESS_SYNTAX), LogisticMixing(8, weight_sets, last_stage)
    bits = rng.integers(0, 2, (2, 700)).tolist()
    for reported, other in zip(*bits, strict=True):
        mixed.select([*rng.integers(0, 2, 7).tolist(), reported], (0, 1, 2, 3))
        mixed.code(writer, "residual", 0, reported)
        mixed.code(writer, "map", 1, other)
    assert writer.tally.bits()["residual"] < 90
    assert 690 < writer.tally.bits()["map"] < 800
