"""The search for predicted blocks: effort, lambda, progress."""

import numpy as np
import pytest
from support.strategies import BASIC, CONTENT

from mmpcodec import EncodeParams
from mmpcodec.reference.blocks.coder import BlockPicture, decode_blocks
from mmpcodec.reference.blocks.partition import BlockPlace, forced_flag, is_outside, pad
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.search.effort import EFFORTS
from mmpcodec.reference.blocks.search.rough_search import RoughSearch, coarsened
from mmpcodec.reference.blocks.search.search import encode_blocks


def params(lam, **options):
    return EncodeParams.from_options(lam, preset="photo", **(BASIC | options))


def encoded(picture, params):
    return encode_blocks(picture, params.coded_tools, params.lambda_fixed, params.effort)


@pytest.mark.parametrize(
    ("lam", "effort", "height", "width", "log2_size"),
    [
        (3.5, 5, 22, 30, 5),
        *((lam, effort, 11, 15, 4) for lam in (1e-5, 2.0**20) for effort in (1, 9)),
    ],
)
def test_something_is_always_worthwhile(lam, effort, height, width, log2_size):
    picture = pad(CONTENT["noise"](np.random.default_rng(0), height, width)).astype(int)
    options = params(lam, fragment_size=1 << log2_size, effort=effort)
    state = BlockPicture(picture.shape, options.coded_tools)
    rough_search = RoughSearch(picture, state, EFFORTS[effort])
    fragment = BlockPlace(0, 0, log2_size, log2_size)
    rough_search.look(fragment, BlockCosts(state.models, options.lambda_fixed))
    for place in rough_search.seen:
        worth = [flag for flag in place.flags() if rough_search.worthwhile(place, flag)]
        assert worth
        forced = forced_flag(place, picture.shape)
        assert forced is None or worth == [forced]
        assert not is_outside(place, picture.shape)
        seen = rough_search.seen[place]
        assert 0 <= seen.least <= seen.whole
        assert len(seen.modes) == (EFFORTS[effort].kept if forced is None else 0)


def test_the_coarse_source_is_close_to_the_source():
    picture = pad(CONTENT["natural"](np.random.default_rng(1), 37, 50)).astype(int)
    for step, most in ((1, 1), (100, 15)):
        coarse = coarsened(picture, step)
        assert np.abs(coarse - picture).max() <= most
        assert (coarse[32:] == picture[32:]).all()
        assert (coarse[:, 48:] == picture[:, 48:]).all()


def test_more_effort_costs_less():
    picture = CONTENT["natural"](np.random.default_rng(3), 18, 20)
    costs = []
    for effort in (1, 9):
        payload, samples, *_ = encoded(picture, params(20, fragment_size=32, effort=effort))
        costs.append(((picture.astype(int) - samples) ** 2).sum() + 20 * 8 * len(payload))
    assert costs[1] < costs[0]


def test_larger_lambdas_take_fewer_bytes():
    picture = CONTENT["natural"](np.random.default_rng(3), 24, 20)
    sizes = [len(encoded(picture, params(lam, effort=2))[0]) for lam in (1e-5, 8, 200, 2.0**20)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 10


def test_the_smallest_step_leaves_no_error():
    for content in ("natural", "text"):
        picture = CONTENT[content](np.random.default_rng(4), 20, 24)
        assert (encoded(picture, params(1e-5, effort=2))[1] == picture).all()


def test_progress_counts_16x16_fragments():
    picture = CONTENT["flat"](np.random.default_rng(5), 36, 40)
    options = params(32, fragment_size=32, effort=1)
    reported = [[], []]
    payload, *_ = encode_blocks(
        picture,
        options.coded_tools,
        options.lambda_fixed,
        1,
        lambda *state: reported[0].append(state),
    )
    decode_blocks(payload, (36, 40), options.coded_tools, lambda *state: reported[1].append(state))
    assert reported[0] == reported[1] == [(0, 9), (4, 9), (6, 9), (8, 9), (9, 9)]


def test_what_progress_raises_passes_through():
    picture = np.zeros((4, 4), np.uint8)
    with pytest.raises(KeyError):
        encode_blocks(picture, params(9).coded_tools, 9 << 16, 1, lambda *_: {}["stop"])


def test_units_tell_the_blocks():
    picture = CONTENT["text"](np.random.default_rng(6), 25, 22)
    _, _, bits, _, coded = encoded(picture, params(30, effort=2))
    known = coded.units.known
    assert known.shape == (7, 6, 4)
    blocks = (16 / 2.0 ** known[..., :2].sum(axis=2)).sum()
    assert blocks == round(blocks)
    assert known[..., :2].min() >= 2
    assert known[..., 2].max() <= 37
    assert set(known[..., 3].ravel()) <= {0, 1}
    assert set(bits) == {"split", "mode", "kind", "level"}
