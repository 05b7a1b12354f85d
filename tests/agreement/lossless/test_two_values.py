"""Planes of two values: the compiled code writes the reference's bytes and reads them back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.operations import OPERATIONS, silent
from support.planes import PIXELS, outcome, plane_of

from mmpcodec import _cpu
from mmpcodec.reference.lossless import coder
from mmpcodec.tools import LOSSLESS_FORMS

FORMS = range(len(LOSSLESS_FORMS))


def check(samples, depth, form):
    *_, bits, cells, decoded, _, _ = OPERATIONS["lossless samples"].check(
        samples, depth, LOSSLESS_FORMS[form]
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
    shape, tools = (1, height, width), LOSSLESS_FORMS[form]
    expected = outcome(lambda: coder.decode_planes(payload, shape, 1, tools, silent)[0])
    found = outcome(lambda: _cpu.decode_lossless(payload, shape, 1, tools, 1, None)[0])
    assert found == expected
