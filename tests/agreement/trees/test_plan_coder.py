"""The host's part of the cuda backend: trees chosen elsewhere give the bytes of the cpu backend."""

import numpy as np
import pytest
from support.same import assert_same
from support.strategies import CONTENT

from mmpcodec import EncodeParams
from mmpcodec._cpu import TreeCoder
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.cpu import CpuBackend, bits_of
from mmpcodec.reference.entropy.symbols import SymbolReader
from mmpcodec.reference.entropy.syntax import TREE_SYNTAX
from mmpcodec.reference.trees.coder import PictureState
from mmpcodec.reference.trees.dictionary import Dictionary
from mmpcodec.reference.trees.scales import SCALES
from mmpcodec.reference.trees.tree import code_tree


class Telling(Dictionary):
    """Notes the class of each insertion, those without a place among them."""

    def __init__(self, scale, tools):
        super().__init__(scale, tools)
        self.reported = list(self.element_class)

    def insert(self, samples, origin):
        open_ = len(self) < self.limit or self.replacement
        if open_ and not self._redundant(samples):
            self.reported.append(self._first_class(samples, origin))
        return super().insert(samples, origin)


def chosen_trees(payload, shape, tools):
    """What a device would tell of a picture: see ``ChosenTrees`` of the kernels.

    Returns
    -------
    node_counts, nodes, insertions : arrays
    reported : (25,) list of lists
        Class of each insertion.
    """
    state, reader = PictureState(shape, tools), SymbolReader(payload)
    state.dictionaries = {scale: Telling(scale, tools) for scale in state.dictionaries}
    node_counts, nodes, insertions = [], [], []
    reported = [getattr(state.dictionaries.get(scale), "reported", []) for scale in SCALES]
    for neighbours in state.walk(lambda done, total: None):
        insertions.append([len(classes) for classes in reported])
        tree = code_tree(reader, state.models, state.dictionaries, neighbours, None)
        for node in tree:
            context = neighbours.context(node.segment, state.models)
            scale = node.segment.scale.number
            nodes.append((node.index or 0) | scale << 16 | node.flag << 21 | context << 23)
        node_counts.append(len(tree))
        state.finish_fragment(tree)
    return np.uint32(node_counts), np.uint32(nodes), np.uint32(insertions), reported


def room_of(reported, counts, room):
    """The classes as they lie once the counted ones were reported, where the room is used again and
    again."""
    classes = np.zeros((len(SCALES), room), np.uint8)
    for place, each, count in zip(classes, reported, counts, strict=True):
        for number in range(max(count - room, 0), count):
            place[number % room] = each[number]
    return classes


FORMS = {
    "plain": {},
    "classic": {"preset": "classic"},
    "dyadic": {"partition": "dyadic", "dictionary_limit": 300},
    "text": {"preset": "text", "displaced_blocks": 0},
    "full": {"preset": "text", "displaced_blocks": 0, "dictionary_limit": 300},
    "classic full": {"preset": "classic", "replacement": True, "dictionary_limit": 260},
    "nothing to replace": {"replacement": True, "dictionary_limit": 256},
}


@pytest.mark.parametrize(
    ("form", "content", "lam"),
    [
        (form, content, (0, 25)[(i + j) % 2])
        for i, form in enumerate(FORMS)
        for j, content in enumerate(CONTENT)
        if (i + j // 2) % 2
    ],
)
def test_payload_and_tally(form, content, lam):
    picture = CONTENT[content](np.random.default_rng(6), 34, 33)
    params = EncodeParams.from_options(lam, **{"preset": "plain", **FORMS[form]})
    coded = CpuBackend().encode(PlaneTask(picture, params))
    tools = params.coded_tools
    counts, nodes, insertions, reported = chosen_trees(coded.payload, picture.shape, tools)
    coder = TreeCoder(*picture.shape, tools)
    # In two parts, as launches bring them; the second's classes lie over those of the first.
    middle, last = insertions[4].astype(int), insertions[-1].astype(int)
    room = int(max(*middle, *(last - middle)))
    place = int(counts[:5].sum())
    coder.code(counts[:5], nodes[:place], insertions[:5], room_of(reported, middle, room))
    coder.code(counts[5:], nodes[place:], insertions[5:], room_of(reported, last, room))
    assert coder.finish() == coded.payload
    bits = bits_of(coder.tally(), TREE_SYNTAX)
    assert bits == coded.trace.bits
    assert_same(coded.trace.cell_rates, coder.cell_rates())
