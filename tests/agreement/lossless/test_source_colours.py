"""Source colours: the search finds them, and the compiled code writes the reference's bytes."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.operations import silent
from support.planes import COLOURS, made_from, outcome

import mmpcodec
from mmpcodec import Cancelled, _cpu
from mmpcodec.reference.lossless import coder
from mmpcodec.reference.lossless.source_colours.colours import JPEG, SourceColours, to_pixels
from mmpcodec.tools import LosslessTools


def facts(source):
    arrays = source.luma, *source.chroma, *(np.stack(each) for each in source.corrections)
    shape = source.kind, tuple(source.halved), tuple(source.phase)
    return *shape, *(each.astype(int).tolist() for each in arrays)


@pytest.mark.parametrize("colours", COLOURS, ids=str)
def test_found_again(colours):
    """Luma and chroma of pixels that are not clipped are found exactly but for few."""
    made = made_from(colours, (90, 120))
    found = _cpu.find_source_planes(made.planes, 1)
    assert (found.kind, tuple(found.halved), tuple(found.phase)) == (
        colours.kind,
        colours.halved,
        colours.phase,
    )
    assert sum(places.size for places, _ in found.corrections) <= 2 * made.luma.size // 50
    assert facts(_cpu.find_source_planes(made.planes, 3)) == facts(found)
    if not any(colours.halved):
        np.testing.assert_array_equal(found.luma, made.luma)
        np.testing.assert_array_equal(found.chroma, made.chroma)


@pytest.mark.parametrize("shape", [(8, 8), (9, 300), (150, 8)], ids=str)
def test_small_and_narrow_pictures(shape):
    made = made_from(SourceColours(JPEG, (True, True)), shape)
    found = _cpu.find_source_planes(made.planes, 1)
    payload, shown, *_ = _cpu.encode_lossless(
        made.planes, 8, LosslessTools(1), 1, None, None, found
    )
    np.testing.assert_array_equal(shown, made.planes)
    decoded, *_ = _cpu.decode_lossless(payload, (3, *shape), 8, LosslessTools(1), 1, None)
    np.testing.assert_array_equal(decoded, made.planes)


def test_clipped_pixels():
    """Chroma far from gray clips most pixels; each has some luma and chroma."""
    made = made_from(SourceColours(JPEG), (40, 50), spread=120)
    assert np.isin(made.planes, (0, 255)).any(axis=0).mean() > 0.3
    found = _cpu.find_source_planes(made.planes, 1)
    _, shown, *_ = _cpu.encode_lossless(made.planes, 8, LosslessTools(2), 1, None, None, found)
    np.testing.assert_array_equal(shown, made.planes)


@pytest.mark.parametrize("seed", range(3))
def test_other_colours_have_none(seed):
    noise = np.random.default_rng(seed).integers(0, 256, (3, 60, 70), np.uint16)
    assert _cpu.find_source_planes(noise, 1) is None


def random_colours(side: int, least_luma: int) -> np.ndarray:
    """Green, red and blue of random luma and chroma; parts that the search looks at are white."""
    rng = np.random.default_rng(1)
    luma = rng.integers(least_luma, 256, (side, side))
    chroma = [
        128 + rng.choice([-1, 1], luma.shape) * rng.integers(22, 24, luma.shape) for _ in "br"
    ]
    planes = to_pixels(luma, chroma, JPEG).astype(np.uint16)
    starts = [(side - 32) * number // 2 & ~1 for number in range(3)]
    for top, left in itertools.product(starts, starts):
        planes[:, top : top + 32, left : left + 32] = 255
    return planes


@pytest.mark.parametrize("threads", [1, 3])
def test_search_of_too_many_steps_finds_none(threads):
    """The nearest chroma of clipped pixels is far from chroma of half the resolution."""
    assert _cpu.find_source_planes(random_colours(112, 200), threads) is None


def test_search_reports_its_passes():
    calls = []
    _cpu.find_source_planes(random_colours(512, 120), 2, lambda *call: calls.append(call))
    assert len(calls) > 1
    assert calls == sorted(calls)
    assert {total for _, total in calls} == {10}


@pytest.mark.parametrize("threads", [1, 3])
def test_search_is_cancelled(threads):
    with pytest.raises(Cancelled):
        _cpu.find_source_planes(random_colours(512, 120), threads, lambda *_: False)


def test_encoding_is_cancelled_in_the_search():
    """The first quarter of the progress belongs to the search."""
    samples = np.moveaxis(random_colours(512, 120)[[1, 0, 2]], 0, 2).astype(np.uint8)
    calls = []

    def stop(done, total):
        calls.append(done / total)
        return len(calls) < 3

    with pytest.raises(Cancelled):
        mmpcodec.encode(samples, preset="lossless", effort=1, progress=stop)
    assert calls == sorted(calls)
    assert max(calls) <= 0.25


@pytest.mark.parametrize("colours", COLOURS, ids=str)
@pytest.mark.parametrize("form", range(1, 4))
def test_equal_bytes(colours, form):
    made = made_from(colours, (13, 18), corrected=11, spread=50)
    planes = np.concatenate([made.planes, made.luma[None] // 3])[: 3 + form % 2]
    source, tools = _cpu.find_source_planes(planes, 2), LosslessTools(form)
    assert source is not None
    expected, *_, cells = coder.encode_planes(planes, 8, tools, silent, None, source)
    payload, shown, _, own = _cpu.encode_lossless(planes, 8, tools, 3, None, None, source)
    assert payload == expected
    np.testing.assert_array_equal(shown, planes)
    np.testing.assert_array_equal(own, cells)
    assert coder.decode_planes(payload, planes.shape, 8, tools, silent)[0].tolist() == (
        _cpu.decode_lossless(payload, planes.shape, 8, tools, 1, None)[0].tolist()
    )


@settings(max_examples=80)
@given(
    st.binary(max_size=70),
    st.integers(8, 20),
    st.integers(8, 20),
    st.sampled_from([1, 2, 3]),
    st.integers(3, 4),
)
def test_random_payloads_decode_alike(payload, height, width, form, planes):
    shape, tools = (planes, height, width), LosslessTools(form)
    expected = outcome(lambda: coder.decode_planes(payload, shape, 8, tools, silent)[0])
    found = outcome(lambda: _cpu.decode_lossless(payload, shape, 8, tools, 1, None)[0])
    assert found == expected
