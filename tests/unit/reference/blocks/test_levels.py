"""Quantised coefficients: scans, contexts, round trip, limits."""

import numpy as np
import pytest

from mmpcodec import CorruptStream
from mmpcodec.reference.blocks.levels import (
    code_levels,
    direction_of,
    fine_frequency,
    frequency_class,
    group_of,
    last_groups,
    scan,
    sum_class,
)
from mmpcodec.reference.blocks.models import COARSE, BlockModels
from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.transform import coefficient_shape
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import BLOCK_SYNTAX

PLACES = [BlockPlace(0, 0, a, b) for a in range(2, 7) for b in range(2, 7)]


def test_scans_go_from_low_to_high_frequencies():
    assert scan(4, 4)[:7] == ((0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 0), (0, 3))
    assert scan(4, 8)[:6] == ((0, 0), (0, 1), (0, 2), (1, 0), (0, 3), (1, 1))
    for place in PLACES:
        rows, columns = coefficient_shape(place.height, place.width)
        order = scan(place.height, place.width)
        assert sorted(order) == [(i, j) for i in range(rows) for j in range(columns)]
        slant = [i / place.height + j / place.width for i, j in order]
        assert slant == sorted(slant)
        assert 1 << last_groups(place) == len(order)


def test_groups_and_classes():
    assert [group_of(number) for number in (0, 1, 2, 3, 6, 7, 1023)] == [0, 1, 1, 2, 2, 3, 10]
    assert [frequency_class(0, j) for j in range(7)] == [0, 1, 1, 2, 2, 2, 3]


def test_fine_classes():
    assert [fine_frequency(0, j) for j in range(13)] == [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7]
    assert [fine_frequency(i, 31) for i in (0, 31)] == [7, 7]
    # A fine class is a part of a class without fine contexts.
    assert all(COARSE[fine_frequency(2, j)] == frequency_class(2, j) for j in range(32))
    assert [sum_class(around) for around in range(16)] == [0, 1, 2, 3, 4, 5, 5, *[6] * 3, *[7] * 6]
    # Rows are lower frequencies than columns, or higher; the angle comes from the left, or above.
    assert [direction_of(family, 0, 3) for family in range(4)] == [0, 2, 1, 0]
    assert [direction_of(family, 4, 1) for family in range(4)] == [0, 1, 2, 0]
    assert direction_of(1, 2, 2) == 0


def test_fine_contexts_choose_the_models_and_average_two():
    """A level of 1 at (0, 1), then one of 3 at (0, 0), of a block with an angle from above."""
    models, coder = BlockModels(), Recorder()
    models.zero.probability[0, 0, 0, 1] = 10000
    models.fine_zero.probability[0, 0, 0, 1] = 10101
    models.fine_one.probability[0, 0, 1] = 20000
    models.fine_two.probability[0, 0, 1] = 30000
    models.fine_remainder.probability[0, 1] = 40000
    models.fine_one.probability[0, 1, 0] = 50000
    levels = np.zeros((4, 4), int)
    levels[0, :2] = 3, 1
    code_levels(coder, models, BlockPlace(0, 0, 2, 2), levels, False, 2)
    assert coder.probabilities[-5:] == [50000, 10050, 20000, 30000, 40000]
    assert models.zero.uses[0, 0, 0, 1] == models.fine_zero.uses[0, 0, 0, 1] == 5
    assert models.fine_zero.probability[0, 0, 0, 1] > 15000
    assert (models.one.uses == 4).all()


class Recorder:
    """Takes what it is asked to code; see ``bitmodels.BitCoder``."""

    def __init__(self):
        self.probabilities = []

    def bit(self, syntax, probability, bit):
        self.probabilities.append(probability)
        return int(bit)

    def plain(self, syntax, bits, number):
        return int(number)


def sparse(rng, place):
    """Levels of every size, few of them large, at least one."""
    shape = coefficient_shape(place.height, place.width)
    levels = rng.integers(-3, 4, shape) * (rng.random(shape) < rng.random())
    for _ in range(rng.integers(4)):
        at = tuple(rng.integers(shape))
        levels[at] = rng.choice([-1, 1]) * int(2 ** (15 * rng.random()) - 1)
    levels[tuple(rng.integers(shape))] = rng.choice([1, -2, 3, -32767, 32767])
    return levels


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("family", [None, 0, 1])
def test_levels_come_back(dependent, family):
    rng = np.random.default_rng(0)
    blocks = [(place, sparse(rng, place)) for place in PLACES]
    writer, models = SymbolWriter(BLOCK_SYNTAX), BlockModels()
    for place, levels in blocks:
        assert (code_levels(writer, models, place, levels, dependent, family) == levels).all()
    reader, models = SymbolReader(writer.finish(), BLOCK_SYNTAX), BlockModels()
    for place, levels in blocks:
        assert (code_levels(reader, models, place, None, dependent, family) == levels).all()
    reader.finish()
    assert reader.tally.bits() == writer.tally.bits()


def test_the_last_place_of_all_is_reached_and_none_beyond():
    place = BlockPlace(0, 0, 2, 2)
    for high, fine in ((0, True), (1, False)):
        writer, models = SymbolWriter(BLOCK_SYNTAX), BlockModels()
        for group in range(4):
            models.last.code(writer, (place.size, group), 1)
        models.last_bit.code(writer, (4,), high)
        writer.plain("level", 3, 0)
        reader = SymbolReader(writer.finish() + b"\x80", BLOCK_SYNTAX)
        if fine:
            assert code_levels(reader, BlockModels(), place, None)[3, 3] != 0
        else:
            expected = r"^Levels: last place is 23, allowed is 0 to 15$"
            with pytest.raises(CorruptStream, match=expected):
                code_levels(reader, BlockModels(), place, None)


@pytest.mark.parametrize("digits", [14, 15])
def test_sizes_are_limited(digits):
    place, rest = BlockPlace(0, 0, 2, 2), 16382
    writer, models = SymbolWriter(BLOCK_SYNTAX), BlockModels()
    models.last.code(writer, (place.size, 0), 0)
    writer.plain("level", 1, 0)
    models.one.code(writer, (0, 0, 0, 0), 1)
    models.two.code(writer, (0, 0, 0, 0), 1)
    for k in range(digits):
        models.remainder.code(writer, (0, min(k, 11)), 1)
    if digits < 15:
        models.remainder.code(writer, (0, 11), 0)
    writer.plain("level", digits, rest)
    reader = SymbolReader(writer.finish(), BLOCK_SYNTAX)
    size = 2 + (1 << digits) + rest
    expected = rf"^Levels: size of a level is {size}, allowed is 0 to 32767$"
    with pytest.raises(CorruptStream, match=expected):
        code_levels(reader, BlockModels(), place, None)
