"""Models of the modes and levels of predicted blocks."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mmpcodec import CorruptStream
from mmpcodec.presets import PRESETS
from mmpcodec.reference.blocks.models import BlockModels, ModeModels, initial_states, start_class
from mmpcodec.reference.blocks.partition import LEAST_SQUARES, MODES, TEMPLATES
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import BLOCK_SYNTAX

ROOT = Path(__file__).parents[4]


def test_first_probabilities_of_levels():
    models = BlockModels()
    assert models.zero.probability[0, 2, 0].tolist() == [
        65536 * percent // 100 for percent in (24, 56, 84, 90, 90, 90)
    ]
    assert models.zero.probability[1, 0, 3, 0] == 65536 * 12 // 100
    assert models.one.probability[0, 1, 2, 4] == 65536 * 55 // 100
    assert models.two.probability[1, 0, 0, 0] == 65536 * 30 // 100
    assert models.zero.uses.min() == models.two.uses.max() == 4
    assert models.remainder.uses.max() == 0
    # Fine contexts start as the classes that they are parts of.
    assert (models.fine_zero.probability[:, 2, 4, 6] == models.zero.probability[:, 0, 2, 5]).all()
    assert (models.fine_one.probability[:, 7, 7] == models.one.probability[0, 0, 2, 4]).all()
    assert (models.fine_two.probability[:, 0, 3] == models.two.probability[0, 0, 0, 3]).all()
    assert models.fine_zero.uses.min() == models.fine_one.uses.min() == 4


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


def test_a_table_has_the_states_of_the_models_that_the_format_lists():
    text = (ROOT / "docs" / "format" / "format.md").read_text()
    section = text.split("\n## Initial states\n")[1].split("\n## ")[0]
    assert initial_states(True).shape == (6, 3736)
    assert initial_states().shape == (6, 3736)
    models = sum(map(int, re.findall(r"\| (\d+) \|$", section, re.MULTILINE)))
    assert 2 * models + 9 * 38 + 2 * (96 + 30 + 30) == 3736


@pytest.mark.parametrize(
    ("step", "number"),
    [(1, 0), (148, 0), (149, 1), (278, 2), (480, 2), (481, 3), (833, 4), (1445, 5), (65535, 5)],
)
def test_the_step_chooses_the_table(step, number):
    assert start_class(step) == number
    tools = replace(PRESETS["photo"], dependent=False, step=step)
    models, table = BlockModels(tools), initial_states()[number]
    assert models.split.probability[2, 4, 1] == max(192, 256 * int(table[2 * 7]) + 128)
    assert models.split.uses[2, 4, 1] == table[2 * 7 + 1]
    assert models.mode.frequency[8, 37] == table[1435]
    assert models.two.uses[1, 1, 2, 4] == table[1747]
    assert models.fine_zero.uses[0, 0, 0, 0] == table[1749]
    assert models.fine_remainder.uses[2, 7, 11] == table[3603]
    assert models.trained.uses[3, 3] == table[3635]
    assert models.ternary.uses[6, 6, 1] == table[-1]
    assert models.tree.uses[8, 2] == table[2 * 546 + 1]
    # The step of dependent levels counts for 5/6.
    dependent = BlockModels(replace(tools, dependent=True, step=min(step * 6 // 5 + 1, 65535)))
    assert (dependent.split.probability == models.split.probability).all()
    plain = BlockModels(replace(tools, initial_states=False))
    assert (plain.mode.frequency == 3).all()
    assert (plain.split.uses == 0).all()


def test_trained_states_learn_on():
    """No state is so sure that a bit of the other value is an error, and each can be halved."""
    tables = initial_states()
    pairs = np.delete(tables, np.s_[1094:1436], axis=1).reshape(6, 1697, 2)
    assert pairs[..., 1].max() <= 64
    modes = tables[:, 1094:1436].reshape(6, 9, 38)
    assert modes.min() >= 1
    assert modes.sum(axis=2, dtype=int).max() <= 4000
