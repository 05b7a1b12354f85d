"""The host's part of the cuda backend: trees chosen elsewhere give the bytes of the cpu backend."""

import numpy as np
import pytest
from strategies import CONTENT

from mmpcodec import EncodeParams
from mmpcodec._cpu import TreeCoder
from mmpcodec.backends.cpu import CpuBackend, bits_of, native_tools
from mmpcodec.backends.reference import PictureState
from mmpcodec.codec.fragments import predict
from mmpcodec.codec.scales import SCALES
from mmpcodec.codec.symbols import TREE_SYNTAX, SymbolReader
from mmpcodec.codec.tree import code_tree


def chosen_trees(payload, shape, tools):
    """What a device would tell of a picture: see ``ChosenTrees`` of the kernels."""
    state, reader = PictureState(shape, tools), SymbolReader(payload)
    node_counts, nodes, sizes = [], [], []
    first_class = np.zeros((len(SCALES), tools.dictionary_limit), np.uint8)
    known = dict.fromkeys(state.dictionaries, 0)
    for neighbours in state.walk(None):
        for scale, dictionary in state.dictionaries.items():
            new = slice(known[scale], len(dictionary))
            first_class[scale.number, new] = dictionary.element_class[new]
            known[scale] = len(dictionary)
        sizes.append([known.get(scale, 0) for scale in SCALES])
        tree = code_tree(reader, state.models, state.dictionaries, neighbours, None)
        for node in tree:
            context = neighbours.context(node.segment, state.models)
            scale = node.segment.scale.number
            nodes.append((node.index or 0) | scale << 16 | node.flag << 21 | context << 23)
        node_counts.append(len(tree))
        state.finish_fragment(tree, predict())
    return np.uint32(node_counts), np.uint32(nodes), np.uint32(sizes), first_class


@pytest.mark.parametrize("content", CONTENT)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"preset": "classic"},
        {"partition": "dyadic", "dictionary_limit": 300},
        {"displaced_blocks": 2},
    ],
    ids=["default", "classic", "dyadic", "displaced"],
)
def test_payload_and_tally(content, options):
    picture = CONTENT[content](np.random.default_rng(6), 60, 50)
    for lam in (0, 25):
        params = EncodeParams.from_options(lam, **options)
        coded = CpuBackend().encode(picture, params)
        counts, nodes, sizes, first_class = chosen_trees(coded.payload, picture.shape, params.tools)
        coder = TreeCoder(native_tools(params.tools))
        # In two parts, as launches bring them.
        place = int(counts[:5].sum())
        coder.code(counts[:5], nodes[:place], sizes[:5], first_class)
        coder.code(counts[5:], nodes[place:], sizes[5:], first_class)
        assert coder.finish() == coded.payload
        bits = bits_of(coder.tally(), TREE_SYNTAX)
        assert bits == coded.trace.bits
