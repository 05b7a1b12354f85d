"""Lossless samples: classes of activity, signed classes, and lists of values."""

import numpy as np
import pytest

import mmpcodec
from mmpcodec import CorruptStream
from mmpcodec.format.palette import ColourTools
from mmpcodec.reference.entropy.binary import BinaryModels
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import LOSSLESS_SYNTAX
from mmpcodec.reference.lossless.context import activity_class, signed_class
from mmpcodec.reference.lossless.values import code_values, map_pays

TOOLS = ColourTools()


@pytest.mark.parametrize(
    ("activity", "expected"),
    [(0, 0), (3, 3), (4, 4), (5, 4), (6, 5), (8, 6), (12, 7), (2**16, 31), (2**20, 31)],
)
def test_activity_classes(activity, expected):
    assert activity_class(activity) == expected


def test_signed_classes():
    values = [-20, -19, -8, -7, -3, -2, -1, 0, 1, 2, 3, 7, 8, 19, 20, 300]
    expected = [0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8]
    assert [signed_class(value) for value in values] == expected


def test_values_are_named_where_few_occur():
    used = np.zeros(256, bool)
    used[[3, 77, 255]] = True
    writer = SymbolWriter(LOSSLESS_SYNTAX)
    assert code_values(writer, 8, used, True).tolist() == [3, 77, 255]
    reader = SymbolReader(writer.finish(), LOSSLESS_SYNTAX)
    assert code_values(reader, 8, None, False).tolist() == [3, 77, 255]
    assert map_pays(used, 100)
    assert not map_pays(used, 60)
    assert not map_pays(~used, 100)


def test_no_values_are_refused():
    writer = SymbolWriter(LOSSLESS_SYNTAX)
    writer.bit("map", 1 << 15, 1)
    models = BinaryModels("map", (2,))
    for _ in range(256):
        models.code(writer, (0,), 0)
    payload = writer.finish()
    for backend in mmpcodec.backends.decoders():
        with pytest.raises(CorruptStream, match="no value occurs"):
            mmpcodec.backends.get(backend).decode(payload, (3, 3), TOOLS)
