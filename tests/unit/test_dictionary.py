import numpy as np

from mmpcodec.codec.dictionary import Dictionary, learn, make_dictionaries
from mmpcodec.codec.scales import COLUMNS, LEAF, SCALES, Scale, rescale, scale_distance
from mmpcodec.codec.tree import Node, Segment
from mmpcodec.params import Tools


def test_starts_with_every_grey_level():
    for scale in SCALES:
        dictionary = Dictionary(scale, Tools())
        assert len(dictionary) == 256
        assert (dictionary.samples == np.arange(256)[:, None]).all()


def test_refuses_duplicates_and_more_than_the_limit():
    dictionary = Dictionary(Scale(3, 3), Tools(dictionary_limit=257))
    assert not dictionary.insert(np.full(4, 9, np.uint8), Scale(0, 0))
    assert dictionary.insert(np.array([1, 2, 3, 4], np.uint8), Scale(0, 0))
    assert not dictionary.insert(np.array([4, 3, 2, 1], np.uint8), Scale(0, 0))
    assert len(dictionary) == 257
    assert dictionary.block(256).tolist() == [[1, 2], [3, 4]]


def test_learns_split_segments_at_all_scales_within_the_radius():
    tools = Tools(copy_radius=3)
    dictionaries = make_dictionaries(tools)
    coded = np.random.default_rng(3).integers(0, 256, (16, 16), dtype=np.uint8)
    right = Segment(Scale(0, 1), 0, 1)
    nodes = [
        Node(Segment(Scale(0, 0)), COLUMNS),
        Node(Segment(Scale(0, 1), 0, 0), LEAF, 0),
        Node(right, COLUMNS),
        Node(Segment(Scale(0, 2), 0, 2), LEAF, 0),
        Node(Segment(Scale(0, 2), 0, 3), LEAF, 0),
    ]
    learn(dictionaries, nodes, coded, tools)
    for scale, dictionary in dictionaries.items():
        expected = [
            rescale(block, scale)
            for origin, block in ((Scale(0, 0), coded), (right.scale, coded[:, 8:]))
            if scale_distance(origin, scale) <= 3
        ]
        learnt = [dictionary.block(i) for i in range(256, len(dictionary))]
        assert np.array_equal(learnt, expected), scale
    assert dictionaries[Scale(0, 0)].element_class[256:].tolist() == [0, 1]
