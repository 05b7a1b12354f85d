"""Pictures in blocks: what is decoded, and that nothing depends on what is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import (
    BASIC,
    block_params,
    deep_pictures,
    earlier_planes,
    pictures,
    predicted_params,
    woven,
)

from mmpcodec import EncodeParams
from mmpcodec.reference.blocks.coder import BlockPicture, decode_blocks
from mmpcodec.reference.blocks.partition import TEMPLATES, TREE
from mmpcodec.reference.blocks.search.search import BlockSearch, encode_blocks
from mmpcodec.reference.entropy.syntax import block_syntax
from mmpcodec.reference.trees.models import OUTSIDE


def encoded(picture, params, depth=8):
    return encode_blocks(
        picture,
        params.coded_tools,
        params.lambda_fixed,
        params.effort,
        rate_model=params.rate_model,
        depth=depth,
        earlier=earlier_planes(picture.shape, params.tools, depth),
    )


def decoded(payload, picture, params, depth=8):
    earlier = earlier_planes(picture.shape, params.tools, depth)
    return decode_blocks(payload, picture.shape, params.coded_tools, depth=depth, earlier=earlier)


@given(pictures(max_side=10), block_params())
def test_decoder_shows_what_the_encoder_saw(picture, params):
    payload, samples, bits, cell_rates, coded = encoded(picture, params)
    assert samples.shape == picture.shape
    found = decoded(payload, picture, params)
    assert np.array_equal(found[0], samples)
    assert found[1] == bits
    assert np.array_equal(found[2], cell_rates)
    assert cell_rates.sum() == 4096 * sum(bits.values())
    assert np.array_equal(found[3].units.known, coded.units.known)
    assert (coded.trees is None) == (params.tools.trees is None)
    if coded.trees:
        assert np.array_equal(found[3].trees.leaf_scales, coded.trees.leaf_scales)
        trees = (coded.units.kind == TREE).repeat(4, axis=0).repeat(4, axis=1)
        assert np.array_equal(coded.trees.leaf_scales != OUTSIDE, trees)
    assert set(bits) == set(block_syntax(params.tools.dictionary))
    assert abs(sum(bits.values()) - 8 * len(payload)) <= 9


@given(pictures(max_side=8), block_params(effort=(2,)), st.integers(0, 2**32 - 1))
def test_samples_that_are_not_decoded_change_nothing(picture, params, seed):
    """Before each trial and each block, all that is not decoded is filled with noise."""
    check_poisoned(picture, params, seed)


@given(deep_pictures(max_side=8), predicted_params(effort=(2,)), st.integers(0, 2**32 - 1))
def test_deep_samples_that_are_not_decoded_change_nothing(drawn, params, seed):
    picture, depth = drawn
    check_poisoned(picture, params, seed, depth)


def check_poisoned(picture, params, seed, depth=8):
    clean = encoded(picture, params, depth)
    rng = np.random.default_rng(seed)

    def poison(state):
        unknown = ~state.units.decoded.repeat(4, axis=0).repeat(4, axis=1)
        state.samples[unknown] = rng.integers(0, 1 << depth, unknown.sum())

    search, rebuild = BlockSearch._search, BlockPicture.rebuild

    def poisoned_search(self, place, bound):
        poison(self.picture)
        return search(self, place, bound)

    def poisoned_rebuild(self, place, block):
        poison(self)
        rebuild(self, place, block)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BlockSearch, "_search", poisoned_search)
        patch.setattr(BlockPicture, "rebuild", poisoned_rebuild)
        poisoned = encoded(picture, params, depth)
        assert poisoned[0] == clean[0]
        assert np.array_equal(poisoned[1], clean[1])
        assert np.array_equal(decoded(clean[0], picture, params, depth)[0], clean[1])


@given(pictures(max_side=14), block_params(effort=(1,)))
def test_what_is_decoded_of_a_row_is_never_more_than_of_the_row_above(picture, params):
    """So an area is decoded if its last sample is; templates rest on that."""
    rebuild = BlockPicture.rebuild

    def checked_rebuild(self, place, block):
        rebuild(self, place, block)
        decoded = self.units.decoded
        assert (decoded[1:] <= decoded[:-1]).all()
        assert (decoded[:, 1:] <= decoded[:, :-1]).all()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BlockPicture, "rebuild", checked_rebuild)
        encoded(picture, params)


def test_templates_do_not_see_what_is_not_decoded():
    """As above, in a picture that surely uses them."""
    picture = woven(np.random.default_rng(3), 26, 45)
    options = {"fragment_size": 32, "effort": 1, **BASIC}
    params = EncodeParams.from_options(60, preset="photo", **options)
    assert (encoded(picture, params)[-1].units.mode == TEMPLATES).sum() > 1
    check_poisoned(picture, params, 4)


@settings(max_examples=15)
@given(pictures(max_side=8), block_params(effort=(3,)))
def test_nothing_is_searched_twice_in_vain(picture, params):
    check_searched_once(picture, params)


@settings(max_examples=15)
@given(deep_pictures(max_side=8), predicted_params(effort=(3,)))
def test_nothing_of_deep_samples_is_searched_twice_in_vain(drawn, params):
    picture, depth = drawn
    check_searched_once(picture, params, depth)


def check_searched_once(picture, params, depth=8):
    """What a search remembers is what it would find again."""
    clean = encoded(picture, params, depth)
    with pytest.MonkeyPatch.context() as patch:
        counter = iter(range(1 << 40))
        patch.setattr(BlockSearch, "_surroundings", lambda *_: next(counter).to_bytes(8, "big"))
        assert encoded(picture, params, depth)[0] == clean[0]


def test_a_search_remembers_all_that_templates_see():
    picture = woven(np.random.default_rng(8), 20, 24)
    options = {"fragment_size": 32, "effort": 2, **BASIC}
    params = EncodeParams.from_options(40, preset="photo", **options)
    clean = encoded(picture, params)
    assert (clean[-1].units.mode == TEMPLATES).any()
    with pytest.MonkeyPatch.context() as patch:
        counter = iter(range(1 << 40))
        patch.setattr(BlockSearch, "_surroundings", lambda *_: next(counter).to_bytes(8, "big"))
        assert encoded(picture, params)[0] == clean[0]
