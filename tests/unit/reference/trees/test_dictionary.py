"""Dictionaries: insertion, redundancy radius, replacement, learning."""

import numpy as np

from mmpcodec.reference.trees.dictionary import (
    CELL_SIZE,
    HAND_STEPS,
    Dictionary,
    learn,
    make_dictionaries,
)
from mmpcodec.reference.trees.scales import COLUMNS, LEAF, SCALES, Scale, rescale, scale_distance
from mmpcodec.reference.trees.segments import Node, Segment
from mmpcodec.tools import TreeTools


def test_starts_with_every_grey_level():
    for scale in SCALES:
        dictionary = Dictionary(scale, TreeTools())
        assert len(dictionary) == 256
        assert (dictionary.samples == np.arange(256)[:, None]).all()


def test_refuses_duplicates_and_more_than_the_limit():
    dictionary = Dictionary(Scale(3, 3), TreeTools(dictionary_limit=257))
    assert not dictionary.insert(np.full(4, 9, np.uint8), Scale(0, 0))
    assert dictionary.insert(np.array([1, 2, 3, 4], np.uint8), Scale(0, 0))
    assert not dictionary.insert(np.array([4, 3, 2, 1], np.uint8), Scale(0, 0))
    assert len(dictionary) == 257
    assert dictionary.block(256).tolist() == [[1, 2], [3, 4]]


def test_learns_split_segments_at_all_scales_within_the_radius():
    tools = TreeTools(copy_radius=3)
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


def random_elements(count, area, seed=4):
    return np.random.default_rng(seed).integers(0, 256, (count, area), dtype=np.uint8)


def test_leaves_out_what_is_within_the_redundancy_radius():
    dictionary = Dictionary(Scale(3, 3), TreeTools(redundancy_radius=18))
    # The constants are 4 apart, squared distance 4 * 2**2 or 4 * 3**2.
    assert dictionary.samples[:3].tolist() == [[0] * 4, [3] * 4, [6] * 4]
    assert [128] * 4 in dictionary.samples.tolist()
    start = len(dictionary)
    assert dictionary.insert(np.array([10, 200, 100, 60], np.uint8), Scale(0, 0))
    assert not dictionary.insert(np.array([13, 203, 100, 60], np.uint8), Scale(0, 0))
    assert dictionary.insert(np.array([13, 203, 101, 60], np.uint8), Scale(0, 0))
    assert len(dictionary) == start + 2


def test_the_radius_looks_at_the_last_elements_of_a_cell():
    dictionary = Dictionary(Scale(3, 3), TreeTools(redundancy_radius=1))
    first = np.array([64, 0, 0, 0], np.uint8)
    assert dictionary.insert(first, Scale(0, 0))
    for i in range(1, CELL_SIZE):
        assert dictionary.insert(first + np.uint8([0, 2 * i, 0, 0]), Scale(0, 0))
    assert not dictionary.insert(first + np.uint8([0, 0, 1, 0]), Scale(0, 0))
    assert dictionary.insert(first - np.uint8([1, 0, 0, 0]), Scale(0, 0)), "of another cell"
    assert dictionary.insert(first + np.uint8([0, 0, 9, 0]), Scale(0, 0))
    assert dictionary.insert(first + np.uint8([0, 0, 1, 0]), Scale(0, 0))
    assert not dictionary.insert(first, Scale(0, 0)), "equal ones are always found"


def test_single_samples_are_all_there_whatever_the_radius():
    assert len(Dictionary(SCALES[-1], TreeTools(redundancy_radius=65535))) == 256


def test_replacement_takes_the_place_of_the_oldest_that_was_never_used():
    dictionary = Dictionary(Scale(3, 3), TreeTools(dictionary_limit=259, replacement=True))
    elements = random_elements(6, 4)
    for samples in elements[:3]:
        assert dictionary.insert(samples, Scale(0, 0))
    dictionary.use(257)
    for samples in elements[3:]:
        assert dictionary.insert(samples, Scale(0, 1))
    kept = elements[[5, 1, 4]]
    assert np.array_equal(dictionary.samples[256:], kept)
    assert dictionary.element_class[256:].tolist() == [1, 25, 1]
    assert dictionary.insert(elements[0], Scale(0, 0)), "forgotten, so it may come again"
    for index in (256, 258):
        dictionary.use(index)
    assert not dictionary.insert(elements[3], Scale(0, 0))
    assert len(dictionary) == 259


def test_the_hand_makes_so_many_steps_and_waits_there():
    limit = 256 + HAND_STEPS + 2
    dictionary = Dictionary(Scale(2, 2), TreeTools(dictionary_limit=limit, replacement=True))
    elements = random_elements(limit, 16)
    for samples in elements[: HAND_STEPS + 2]:
        dictionary.insert(samples, Scale(0, 0))
    for index in range(256, 256 + HAND_STEPS):
        dictionary.use(index)
    assert not dictionary.insert(elements[-1], Scale(0, 0))
    assert dictionary.insert(elements[-1], Scale(0, 0))
    assert np.array_equal(dictionary.samples[-2], elements[-1])
