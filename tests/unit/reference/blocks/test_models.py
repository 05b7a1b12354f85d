"""Models of the modes and levels of predicted blocks."""

import numpy as np
import pytest

from mmpcodec import CorruptStream
from mmpcodec.reference.blocks.models import BlockModels, ModeModels
from mmpcodec.reference.blocks.partition import LEAST_SQUARES, MODES, TEMPLATES
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import BLOCK_SYNTAX


def test_first_probabilities_of_levels():
    models = BlockModels()
    assert models.zero.probability[2, 0].tolist() == [
        65536 * percent // 100 for percent in (24, 56, 84, 90, 90, 90)
    ]
    assert models.zero.probability[0, 3, 0] == 65536 * 12 // 100
    assert models.one.probability[1, 2, 4] == 65536 * 55 // 100
    assert models.two.probability[0, 0, 0] == 65536 * 30 // 100
    assert models.zero.uses.min() == models.two.uses.max() == 4
    assert models.remainder.uses.max() == 0


def test_modes_near_those_of_the_neighbours_are_likelier():
    frequencies = ModeModels().frequencies(0, (10, 11), [LEAST_SQUARES])
    factors = (frequencies / 3).astype(int).tolist()
    expected = [2] * MODES
    for mode, factor in {8: 5, 9: 11, 10: 0, 11: 0, 12: 11, 13: 5, LEAST_SQUARES: 0}.items():
        expected[mode] = factor
    assert factors == expected


def test_neighbours_of_the_first_angle_are_angles():
    frequencies = ModeModels().frequencies(0, (3, 3), [])
    assert (frequencies / 3).astype(int)[:7].tolist() == [2, 2, 2, 0, 14, 8, 2]
    assert frequencies[LEAST_SQUARES] == 6


def test_mode_frequencies_are_halved_beyond_the_limit():
    models = ModeModels()
    for _ in range(194):
        models.learn(3, 7)
    assert models.frequency[3].sum() == 38 * 3 + 194 * 20 == 3994
    models.learn(3, 7)
    assert models.frequency[3].tolist() == [2] * 7 + [(3 + 195 * 20 + 1) // 2] + [2] * 30
    assert (models.frequency[2] == 3).all()


def test_modes_come_back():
    rng = np.random.default_rng(2)
    fitted = [[], [LEAST_SQUARES], [TEMPLATES], [LEAST_SQUARES, TEMPLATES]]
    given = [
        (int(rng.integers(9)), tuple(map(int, rng.integers(0, MODES, 2))), fitted[i % 4])
        for i in range(500)
    ]
    modes = [
        int(rng.choice([mode for mode in range(MODES) if mode not in absent]))
        for _, _, absent in given
    ]
    writer, models = SymbolWriter(BLOCK_SYNTAX), ModeModels()
    for context, mode in zip(given, modes, strict=True):
        models.code(writer, *context, mode)
    reader, models = SymbolReader(writer.finish(), BLOCK_SYNTAX), ModeModels()
    assert [models.code(reader, *context, None) for context in given] == modes


@pytest.mark.parametrize("mode", [LEAST_SQUARES, TEMPLATES])
def test_a_mode_that_is_not_there_is_refused(mode):
    writer = SymbolWriter(BLOCK_SYNTAX)
    ModeModels().code(writer, 4, (mode, 2), [], mode)
    reader = SymbolReader(writer.finish(), BLOCK_SYNTAX)
    with pytest.raises(CorruptStream, match=rf"^Modes: mode is {mode}, which is not there$"):
        ModeModels().code(reader, 4, (mode, 2), [mode], None)
