"""Models of flags and indices: contexts, counting, halving."""

import numpy as np
import pytest

from mmpcodec.presets import PRESETS
from mmpcodec.reference.entropy.rates import MAX_TOTAL
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.trees.dictionary import ZERO_CLASS, Dictionary
from mmpcodec.reference.trees.models import Models, flag_context
from mmpcodec.reference.trees.scales import COLUMNS, LEAF, OUTSIDE, ROWS, Scale
from mmpcodec.tools import Partition, TreeTools


def test_pixels_have_no_flag_and_dyadic_flags_are_binary():
    models = Models(TreeTools())
    writer = SymbolWriter()
    assert models.code_flag(writer, Scale(4, 4), 0, LEAF) == LEAF
    assert writer.finish() == b""
    dyadic = Models(TreeTools(partition=Partition.DYADIC))
    assert dyadic.flag_frequencies(Scale(1, 1), 0).tolist() == [1, 1, 0]
    assert dyadic.flag_frequencies(Scale(1, 2), 0).tolist() == [1, 0, 1]


def test_flags_are_counted_by_context_and_scale():
    models = Models(TreeTools())
    writer = SymbolWriter()
    for flag in (LEAF, ROWS, ROWS):
        models.code_flag(writer, Scale(0, 1), 3, flag)
    assert models.flag_frequencies(Scale(0, 1), 3).tolist() == [2, 1, 3]
    assert models.flag_frequencies(Scale(0, 1), 2).tolist() == [1, 1, 1]
    assert models.flag_frequencies(Scale(1, 0), 3).tolist() == [1, 1, 1]


def test_flag_frequencies_are_halved_beyond_the_limit():
    models = Models(TreeTools())
    models.flag_frequency[0, 0] = [MAX_TOTAL - 8, 3, 4]
    models.code_flag(SymbolWriter(), Scale(0, 0), 0, LEAF)
    assert models.flag_frequency[0, 0].tolist() == [MAX_TOTAL - 7, 3, 4]
    models.code_flag(SymbolWriter(), Scale(0, 0), 0, LEAF)
    assert models.flag_frequency[0, 0].tolist() == [(MAX_TOTAL - 6 + 1) // 2, 2, 2]


@pytest.mark.parametrize(
    ("scale", "above", "left", "expected"),
    [
        (Scale(0, 0), OUTSIDE, OUTSIDE, 0),
        (Scale(0, 0), Scale(0, 0), Scale(0, 0), 0),
        (Scale(0, 0), Scale(1, 0), OUTSIDE, 1),
        (Scale(0, 0), Scale(1, 1), OUTSIDE, 2),
        (Scale(0, 0), Scale(1, 1), Scale(2, 2), 3),
        (Scale(0, 0), Scale(0, 1), Scale(0, 2), 6),
        (Scale(0, 0), Scale(0, 1), Scale(1, 0), 2),
        (Scale(2, 2), Scale(4, 3), Scale(1, 4), 7),
    ],
)
def test_flag_context(scale, above, left, expected):
    numbers = [n if n == OUTSIDE else n.number for n in (above, left)]
    assert flag_context(scale, *numbers, PRESETS["plain"]) == expected
    assert flag_context(scale, *numbers, PRESETS["classic"]) == 0


def test_an_element_moves_to_its_used_class_and_is_counted():
    tools = TreeTools()
    dictionary = Dictionary(Scale(3, 3), tools)
    dictionary.insert(np.array([1, 2, 3, 4], np.uint8), Scale(1, 2))
    assert dictionary.element_class[[0, 128, 256]].tolist() == [24, ZERO_CLASS, 7]
    models, writer = Models(tools), SymbolWriter()
    for index in (256, 128, 256):
        models.code_index(writer, dictionary, index)
    assert dictionary.element_class[[128, 256]].tolist() == [ZERO_CLASS, 7 + 25]
    assert dictionary.count[[0, 128, 256]].tolist() == [1, 3, 5]
    frequencies = models.class_frequencies(dictionary)
    assert {int(c): int(frequencies[c]) for c in np.flatnonzero(frequencies)} == {
        24: 1,
        32: 2,
        ZERO_CLASS: 2,
    }


def test_one_class_sends_no_class():
    tools = PRESETS["classic"]
    dictionary = Dictionary(Scale(3, 3), tools)
    models, writer = Models(tools), SymbolWriter()
    models.code_index(writer, dictionary, 17)
    assert writer.tally.bits() == {"flag": 0, "class": 0, "element": 8}
    assert dictionary.count[17] == 2


def test_counts_of_a_class_are_halved_beyond_the_limit():
    dictionary = Dictionary(Scale(3, 3), PRESETS["classic"])
    dictionary.count[5] = MAX_TOTAL - 255
    dictionary.use(9)
    assert dictionary.count[[5, 9, 10]].tolist() == [(MAX_TOTAL - 254) // 2, 1, 1]


def test_symbols_come_back_in_order():
    tools = TreeTools()
    indices = [3, 200, 3, 128, 128, 255]
    writer, reader = SymbolWriter(), None
    for coder in ("encode", "decode"):
        models, dictionary = Models(tools), Dictionary(Scale(2, 1), tools)
        if coder == "encode":
            for index in indices:
                models.code_index(writer, dictionary, index)
                models.code_flag(writer, Scale(2, 1), 1, COLUMNS)
        else:
            reader = SymbolReader(writer.finish())
            for index in indices:
                assert models.code_index(reader, dictionary, None) == index
                assert models.code_flag(reader, Scale(2, 1), 1, None) == COLUMNS
            reader.finish()
            assert reader.tally.bits() == writer.tally.bits()
