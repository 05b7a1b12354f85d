"""Adaptive models of bits."""

import numpy as np
import pytest

from mmpcodec.reference.entropy.binary import BinaryModels
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import BLOCK_SYNTAX


def test_the_first_bit_moves_a_model_two_thirds_of_the_way():
    models = BinaryModels("split", (1,))
    models.learn((0,), 1)
    assert models.probability[0] == 32768 + 32768 * 43690 // 65536
    assert models.uses[0] == 1


@pytest.mark.parametrize(("bit", "end"), [(0, 192), (1, 65344)])
def test_probabilities_stay_away_from_certainty(bit, end):
    models = BinaryModels("split", (1,))
    for _ in range(2000):
        models.learn((0,), bit)
        assert 192 <= models.probability[0] <= 65344
    assert models.probability[0] == end
    assert models.uses[0] == 64


def test_a_model_approaches_the_share_of_ones():
    rng = np.random.default_rng(0)
    models = BinaryModels("split", (1,))
    seen = []
    for bit in rng.random(3000) < 0.2:
        models.learn((0,), int(bit))
        seen.append(models.probability[0])
    assert np.mean(seen[300:]) / 65536 == pytest.approx(0.2, abs=0.01)


def test_bits_and_plain_numbers_come_back():
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2, 400)
    counts = rng.integers(0, 16, 400)
    numbers = rng.integers(0, 1 << counts)
    writer, models = SymbolWriter(BLOCK_SYNTAX), BinaryModels("kind", (2,))
    for bit, count, number in zip(bits, counts, numbers, strict=True):
        models.code(writer, (int(count % 2),), int(bit))
        writer.plain("level", int(count), int(number))
    reader, models = SymbolReader(writer.finish(), BLOCK_SYNTAX), BinaryModels("kind", (2,))
    for bit, count, number in zip(bits, counts, numbers, strict=True):
        assert models.code(reader, (int(count % 2),), None) == bit
        assert reader.plain("level", int(count), None) == number
    reader.finish()
    assert reader.tally.bits() == writer.tally.bits()
