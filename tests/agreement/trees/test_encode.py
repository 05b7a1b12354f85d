"""Every backend writes the reference's bytes and reads them back."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations import OPERATIONS, check_decoding, check_picture
from support.same import assert_same
from support.strategies import CONTENT, LAMBDAS, encode_params, pictures

from mmpcodec import PRESETS, EncodeParams, _cpu
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.reference import ReferenceBackend
from mmpcodec.reference.entropy.rates import MAX_TOTAL
from mmpcodec.tools import TreeTools

REFERENCE = ReferenceBackend()
TREE_PRESETS = [name for name, tools in PRESETS.items() if isinstance(tools, TreeTools)]


check = partial(check_picture, "trees")


SMALL = list(zip(CONTENT.values(), [(1, 1), (1, 40), (17, 12), (17, 33)], strict=True))


@pytest.mark.parametrize(
    ("preset", "lam", "partition", "rate_model", "small"),
    [
        (
            *(preset, lam),
            ("flexible", "dyadic")[(i + j) % 2],
            ("adaptive", "log2")[(i + j // 2) % 2],
            SMALL[(i + j // 3) % 2 :: 2],
        )
        for i, preset in enumerate(TREE_PRESETS)
        for j, lam in enumerate(LAMBDAS)
    ],
)
def test_grid(preset, lam, partition, rate_model, small):
    """Each pair of values occurs, in one case or another."""
    params = EncodeParams.from_options(
        lam, preset=preset, partition=partition, rate_model=rate_model
    )
    rng = np.random.default_rng(int(lam))
    for content, shape in small:
        check(content(rng, *shape), params)


@pytest.mark.parametrize("content", CONTENT)
def test_larger_pictures(content):
    picture = CONTENT[content](np.random.default_rng(1), 33, 40)
    check(picture, EncodeParams.from_options(32, preset="plain"))


@pytest.mark.parametrize("limit", [256, 300, 65536])
def test_dictionary_limits(limit):
    picture = CONTENT["natural"](np.random.default_rng(2), 33, 48)
    check(picture, EncodeParams.from_options(8, dictionary_limit=limit, preset="plain"))


@pytest.mark.parametrize(
    ("limit", "redundancy_radius", "displaced_blocks"),
    [
        *((256, 0, 4), (256, 1, 0), (256, 400, 4)),
        *((1000, 0, 0), (1000, 1, 4), (1000, 400, 0)),
        *((300, 1, displaced_blocks) for displaced_blocks in (1, 2, 3)),
    ],
)
def test_replacement(limit, redundancy_radius, displaced_blocks):
    """The hand goes round dictionaries of few elements, whose places are taken again and again."""
    picture = CONTENT["natural"](np.random.default_rng(limit), 33, 48 if limit > 300 else 33)
    options = {"displaced_blocks": displaced_blocks, "redundancy_radius": redundancy_radius}
    params = EncodeParams.from_options(
        8, preset="plain", dictionary_limit=limit, replacement=True, **options
    )
    check(picture, params)


@pytest.mark.slow
def test_the_hand_gives_up_alike():
    """In the end most elements were used, so the hand goes far and often in vain."""
    picture = CONTENT["natural"](np.random.default_rng(7), 112, 112)
    params = EncodeParams.from_options(
        0.5, copy_radius=8, dictionary_limit=512, replacement=True, preset="plain"
    )
    coded = CpuBackend().encode(PlaneTask(picture, params))
    decoded = REFERENCE.decode(coded.payload, picture.shape, params.coded_tools)
    assert_same(coded, decoded, "decode, reference")


ENCODERS = [name for name in OPERATIONS["encode trees"].backends if name != "cuda"]


@given(pictures(max_side=24), encode_params(), st.sampled_from(ENCODERS))
def test_any_picture_and_parameters(picture, params, encoder):
    expected = OPERATIONS["encode trees"].check(picture, params, backends=[encoder])
    decoded = CpuBackend().decode(expected.payload, picture.shape, params.coded_tools)
    assert_same(expected, decoded, "decode, cpu")


@pytest.mark.parametrize("preset", TREE_PRESETS)
def test_pruned_search_is_the_brute_force_search(preset):
    """On a picture too large for the reference; the brute force is plain C++, without copies."""
    rng = np.random.default_rng(4)
    picture = np.hstack([CONTENT["text"](rng, 96, 80), CONTENT["natural"](rng, 96, 80)])
    for lam in (2, 40):
        params = EncodeParams.from_options(lam, preset=preset, displaced_blocks=0)
        expected = CpuBackend("brute-force").encode(PlaneTask(picture, params))
        for level in CpuBackend.levels():
            assert_same(
                expected, CpuBackend(level).encode(PlaneTask(picture, params), threads=2), level
            )


@pytest.mark.slow
def test_counts_are_halved_alike():
    """One class of single samples is used more than 2**16 times, so its counts are halved."""
    picture = CONTENT["noise"](np.random.default_rng(0), 256, 272)
    params = EncodeParams.from_options(0, partition="dyadic", dictionary_limit=256, preset="plain")
    coded = CpuBackend().encode(PlaneTask(picture, params), threads=2)
    assert 2 * coded.trace.leaves()[-1] > MAX_TOTAL
    check_decoding("trees", coded, params)
    assert np.array_equal(coded.samples, picture)


@pytest.mark.parametrize("level", CpuBackend.levels())
def test_search_sees_halved_counts(level):
    picture = CONTENT["noise"](np.random.default_rng(0), 256, 272)
    params = EncodeParams.from_options(2, partition="dyadic", dictionary_limit=256, preset="plain")
    expected = CpuBackend("brute-force").encode(PlaneTask(picture, params))
    assert 2 * expected.trace.leaves()[-1] > MAX_TOTAL
    assert_same(expected, CpuBackend(level).encode(PlaneTask(picture, params)), level)


@pytest.mark.slow
def test_frequencies_of_flags_and_classes_are_halved_alike():
    """A flat picture of more than 2**17 fragments: one flag and one class each."""
    picture = CONTENT["flat"](np.random.default_rng(0), 1, 16 * (MAX_TOTAL + 500))
    params = EncodeParams.from_options(32, preset="plain")
    coded = CpuBackend().encode(PlaneTask(picture, params))
    assert coded.trace.leaves()[0] > MAX_TOTAL
    decoded = REFERENCE.decode(coded.payload, picture.shape, params.coded_tools)
    assert_same(coded, decoded, "decode, reference")


def test_search_gives_the_lowest_of_equal_elements():
    samples = np.repeat(np.array([[9, 9], [7, 7]], np.uint8), 40, axis=0)
    fragment = np.full((16, 16), 8, np.uint8)
    for level in CpuBackend.levels():
        cost, index = _cpu.search_scale(fragment, 23, samples, np.zeros(80, np.int32), level)
        assert (cost == 2 << 4).all()
        assert (index == 0).all()
