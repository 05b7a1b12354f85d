"""Pictures in blocks: what is decoded, and that nothing depends on what is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import block_params, pictures

from mmpcodec.codec.block_coder import BlockPicture, decode_blocks
from mmpcodec.codec.block_search import BlockSearch, encode_blocks


def encoded(picture, params):
    return encode_blocks(picture, params.coded_tools, params.lambda_fixed, params.effort)


@given(pictures(max_side=16), block_params())
def test_decoder_shows_what_the_encoder_saw(picture, params):
    payload, samples, bits, known = encoded(picture, params)
    assert samples.shape == picture.shape
    decoded = decode_blocks(payload, picture.shape, params.coded_tools)
    assert np.array_equal(decoded[0], samples)
    assert decoded[1] == bits
    assert np.array_equal(decoded[2], known)
    assert abs(sum(bits.values()) - 8 * len(payload)) <= 9


@given(pictures(max_side=20), block_params(effort=(2,)), st.integers(0, 2**32 - 1))
def test_samples_that_are_not_decoded_change_nothing(picture, params, seed):
    """Before each trial and each block, all that is not decoded is filled with noise."""
    clean = encoded(picture, params)
    rng = np.random.default_rng(seed)

    def poison(state):
        unknown = ~state.units.decoded.repeat(4, axis=0).repeat(4, axis=1)
        state.samples[unknown] = rng.integers(0, 256, unknown.sum())

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
        poisoned = encoded(picture, params)
        assert poisoned[0] == clean[0]
        assert np.array_equal(poisoned[1], clean[1])
        decoded = decode_blocks(clean[0], picture.shape, params.coded_tools)
        assert np.array_equal(decoded[0], clean[1])


@given(pictures(max_side=12), block_params(effort=(3,)))
def test_nothing_is_searched_twice_in_vain(picture, params):
    """What a search remembers is what it would find again."""
    clean = encoded(picture, params)
    with pytest.MonkeyPatch.context() as patch:
        counter = iter(range(1 << 40))
        patch.setattr(BlockSearch, "_surroundings", lambda *_: next(counter).to_bytes(8, "big"))
        assert encoded(picture, params)[0] == clean[0]
