"""Displaced blocks: their places, and what they teach."""

import numpy as np
import pytest

from mmpcodec.reference.trees.dictionary import (
    DISPLACED_CLASS,
    ZERO_CLASS,
    make_dictionaries,
)
from mmpcodec.reference.trees.displaced import displaced_places, learn_displaced, takes_displaced
from mmpcodec.reference.trees.scales import SCALES, Scale
from mmpcodec.tools import TreeTools


@pytest.mark.parametrize("displaced_blocks", [1, 2, 3, 4])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (0, 32), (16, 0), (32, 16)])
def test_displaced_places(row, column, displaced_blocks):
    """Against all places of the picture, each asked whether it is one."""
    for scale in SCALES:
        height, width = scale.height, scale.width
        found = displaced_places(scale, row, column, displaced_blocks)
        expected = [
            (top, left)
            for top in range(row + 16)
            for left in range(column + 16)
            if row < top + height <= row + 16
            and column < left + width <= column + 16
            and (top % height or left % width)
            and top % max(1, height // 2**displaced_blocks) == 0
            and left % max(1, width // 2**displaced_blocks) == 0
        ]
        assert list(found) == expected, scale


def test_scales_that_take_displaced_blocks():
    sizes = {(scale.height, scale.width) for scale in SCALES if takes_displaced(scale)}
    assert sizes == {(4, 4), (4, 8), (8, 4), (4, 16), (16, 4), (8, 8), (8, 16), (16, 8)}


def test_learns_displaced_blocks():
    tools = TreeTools(displaced_blocks=4)
    dictionaries = make_dictionaries(tools)
    samples = np.random.default_rng(3).integers(0, 256, (32, 32), dtype=np.uint8)
    samples[16:20, 17:21] = 128
    learn_displaced(dictionaries, samples, 16, 16, tools)
    dictionary = dictionaries[Scale(2, 2)]
    assert len(dictionary) == 256 + 16 * 16 - 16 - 1
    assert np.array_equal(dictionary.block(256), samples[13:17, 13:17])
    assert (dictionary.element_class[256:] == DISPLACED_CLASS).all()
    assert dictionary.element_class[128] == ZERO_CLASS
    dictionary.use(256)
    dictionary.use(256)
    assert dictionary.element_class[256] == DISPLACED_CLASS + 1
