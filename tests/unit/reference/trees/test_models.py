"""Models of flags and indices: halving, which pictures of many fragments reach only."""

from mmpcodec.presets import PRESETS
from mmpcodec.reference.entropy.rates import MAX_TOTAL
from mmpcodec.reference.entropy.symbols import SymbolWriter
from mmpcodec.reference.trees.dictionary import Dictionary
from mmpcodec.reference.trees.models import Models
from mmpcodec.reference.trees.scales import LEAF, Scale
from mmpcodec.tools import TreeTools


def test_flag_frequencies_are_halved_beyond_the_limit():
    models = Models(TreeTools())
    models.flag_frequency[0, 0] = [MAX_TOTAL - 8, 3, 4]
    models.code_flag(SymbolWriter(), Scale(0, 0), 0, LEAF)
    assert models.flag_frequency[0, 0].tolist() == [MAX_TOTAL - 7, 3, 4]
    models.code_flag(SymbolWriter(), Scale(0, 0), 0, LEAF)
    assert models.flag_frequency[0, 0].tolist() == [(MAX_TOTAL - 6 + 1) // 2, 2, 2]


def test_counts_of_a_class_are_halved_beyond_the_limit():
    dictionary = Dictionary(Scale(3, 3), PRESETS["classic"])
    dictionary.count[5] = MAX_TOTAL - 255
    dictionary.use(9)
    assert dictionary.count[[5, 9, 10]].tolist() == [(MAX_TOTAL - 254) // 2, 1, 1]
