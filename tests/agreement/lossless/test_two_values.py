"""Planes of two values: the compiled code writes the reference's bytes and reads them back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.operations import OPERATIONS, silent
from support.planes import PIXELS, outcome, plane_of

from mmpcodec import _cpu
from mmpcodec.errors import FormatError
from mmpcodec.reference.lossless import coder
from mmpcodec.reference.lossless.two_values.plane import TwoValuesChain
from mmpcodec.tools import LosslessTools

FORMS = range(1, 4)


def check(samples, depth, form):
    *_, bits, cells, decoded, _, _ = OPERATIONS["lossless samples"].check(
        samples, depth, LosslessTools(form)
    )
    np.testing.assert_array_equal(decoded, samples)
    assert cells.sum() == 4096 * bits[1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PIXELS)
def test_planes_of_two_values(name, form):
    check(plane_of(name), 1, form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("depth", "values"), [(8, (255, 0)), (10, (3, 1023))])
def test_values_of_deeper_samples(depth, values, form):
    check(plane_of("noise", values), depth, form)


@settings(max_examples=25)
@given(st.data(), st.integers(1, 30), st.integers(1, 40), st.sampled_from(FORMS))
def test_any_planes(data, height, width, form):
    """Rows of few kinds, so that groups are whole and places alike in some of the planes."""
    seed, kinds = data.draw(st.integers(0, 2**32 - 1)), data.draw(st.integers(1, 8))
    rng = np.random.default_rng(seed)
    rows = rng.random((kinds, width)) < rng.choice([0.01, 0.1, 0.5, 0.95])
    samples = rows[rng.integers(0, kinds, height)]
    check(samples[None].astype(np.uint16), 1, form)


@settings(max_examples=60)
@given(st.binary(max_size=60), st.integers(1, 30), st.integers(1, 40), st.sampled_from(FORMS))
def test_random_payloads_decode_alike(payload, height, width, form):
    shape, tools = (1, height, width), LosslessTools(form)
    expected = outcome(lambda: coder.decode_planes(payload, shape, 1, tools, silent)[0])
    found = outcome(lambda: _cpu.decode_lossless(payload, shape, 1, tools, 1, None)[0])
    assert found == expected


def chain_of(sizes, seed):
    """Return planes in which the same glyphs come again, of these heights and widths."""
    rng = np.random.default_rng(seed)
    glyphs = rng.random((3, 6, 5)) < 0.5
    planes = []
    for height, width in sizes:
        plane = np.zeros((height, width), np.uint16)
        for row in range(2, height - 6, 9):
            for column in range(2, width - 5, 7):
                plane[row : row + 6, column : column + 5] = glyphs[rng.integers(3)]
        plane[0, 0], plane[-1, -1] = 1, 0
        planes.append(plane[None])
    return planes


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "sizes", [[(30, 40)] * 3, [(20, 40), (30, 17), (25, 61)], [(1, 1), (40, 40), (3, 9)]]
)
def test_planes_that_continue_one_another(sizes, form):
    tools, planes = LosslessTools(form), chain_of(sizes, 5)
    if sizes[0] == (1, 1):
        planes[0] = np.array([[[0, 1]]], np.uint16)  # a plane of a chain has two values
    most = max(plane.shape[2] for plane in planes)
    written, read = _cpu.LosslessChain(most, 1), _cpu.LosslessChain(most, 200)
    reference, slow = TwoValuesChain(), TwoValuesChain()
    for number, plane in enumerate(planes):
        payload, *_ = _cpu.encode_lossless(plane, 1, tools, 1, None, written)
        assert coder.encode_planes(plane, 1, tools, silent, reference)[0] == payload
        decoded = _cpu.decode_lossless(payload, plane.shape, 1, tools, 1, None, read)[0]
        np.testing.assert_array_equal(decoded, plane)
        decoded = coder.decode_planes(payload, plane.shape, 1, tools, silent, slow)[0]
        np.testing.assert_array_equal(decoded, plane)
        alone, *_ = _cpu.encode_lossless(plane, 1, tools, 1, None)
        assert (alone == payload) == (number == 0)
    assert len(payload) < len(alone)  # the glyphs are known


DECODERS = {
    "reference": (TwoValuesChain, coder.decode_planes, (silent,)),
    "cpu": (lambda: _cpu.LosslessChain(40, 60), _cpu.decode_lossless, (1, None)),
}


@pytest.mark.parametrize("name", DECODERS)
def test_planes_that_do_not_belong_together(name):
    new_chain, decode, more = DECODERS[name]
    tools = LosslessTools(2)
    first, second = chain_of([(30, 40)] * 2, 5)
    chain = _cpu.LosslessChain(40, 60)
    one, two = (
        _cpu.encode_lossless(plane, 1, tools, 1, None, chain)[0] for plane in (first, second)
    )

    def decoded(payload, chain=None):
        return decode(payload, first.shape, 1, tools, *more, chain)

    with pytest.raises(FormatError, match="continues another one, which is not given"):
        decoded(two)
    with pytest.raises(FormatError, match="continues another one, which is not given"):
        decoded(two, new_chain())
    chain = new_chain()
    decoded(one, chain)
    with pytest.raises(FormatError, match="begins anew, but continues another one"):
        decoded(one, chain)
    flat = _cpu.encode_lossless(np.zeros_like(first), 1, tools, 1, None)[0]
    with pytest.raises(FormatError, match="has 1 values, those of a chain have 2"):
        decoded(flat, new_chain())
