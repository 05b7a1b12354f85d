"""Quantised coefficients: scans, contexts, round trip, limits."""

import numpy as np
import pytest

from mmpcodec import CorruptStream
from mmpcodec.reference.blocks.levels import code_levels
from mmpcodec.reference.blocks.models import BlockModels
from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.transform import coefficient_shape
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import BLOCK_SYNTAX

PLACES = [BlockPlace(0, 0, a, b) for a in range(2, 7) for b in range(2, 7)]


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
        writer.plain("level", 17, (1 << 17) - 1)  # is read as bits that are 0
        reader = SymbolReader(writer.finish(), BLOCK_SYNTAX)
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
