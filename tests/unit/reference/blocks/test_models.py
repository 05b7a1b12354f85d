"""Models of the modes and levels of predicted blocks."""

import re
from pathlib import Path

import numpy as np

from mmpcodec.reference.blocks.models import ModeModels, initial_states

ROOT = Path(__file__).parents[4]


def test_mode_frequencies_are_halved_beyond_the_limit():
    models = ModeModels()
    for _ in range(194):
        models.learn(3, 7)
    assert models.frequency[3].sum() == 37 * 3 + 194 * 20 == 3991
    models.learn(3, 7)
    assert models.frequency[3].tolist() == [2] * 7 + [(3 + 195 * 20 + 1) // 2] + [2] * 29
    assert (models.frequency[2] == 3).all()


def test_a_table_has_the_states_of_the_models_that_the_format_lists():
    text = (ROOT / "docs" / "format" / "format.md").read_text()
    section = text.split("\n## Initial states\n")[1].split("\n## ")[0]
    assert initial_states(True).shape == (6, 3727)
    assert initial_states().shape == (6, 3727)
    models = sum(map(int, re.findall(r"\| (\d+) \|$", section, re.MULTILINE)))
    assert 2 * models + 9 * 37 + 2 * (96 + 30 + 30) == 3727


def test_trained_states_learn_on():
    """No state is so sure that a bit of the other value is an error, and each can be halved."""
    tables = initial_states()
    pairs = np.delete(tables, np.s_[1094:1427], axis=1).reshape(6, 1697, 2)
    assert pairs[..., 1].max() <= 64
    modes = tables[:, 1094:1427].reshape(6, 9, 37)
    assert modes.min() >= 1
    assert modes.sum(axis=2, dtype=int).max() <= 4000
