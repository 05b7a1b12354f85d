"""Exact samples: the compiled code writes the reference's bytes and reads them back, or refuses."""

import ctypes
import ctypes.util
import platform

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations import OPERATIONS, silent
from support.planes import DEPTHS, ROUNDING, outcome, planes
from support.strategies import CONTENT

from mmpcodec import _cpu
from mmpcodec.reference.exact import coder


def check(samples, depth):
    _, _, decoded, _ = OPERATIONS["exact samples"].check(samples, depth)
    np.testing.assert_array_equal(decoded, samples)


@given(planes())
def test_any_planes(drawn):
    check(*drawn)


@pytest.mark.parametrize("depth", [1, 8, 10, 16])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_extremes(depth, count):
    most = (1 << depth) - 1
    rows, columns = np.indices((9, 11))
    chequered = ((rows + columns) % 2 * most).astype(np.uint16)
    striped = (columns // 3 % 2 * most).astype(np.uint16)
    check(np.stack([chequered, striped, most - chequered, striped])[:count], depth)


@pytest.mark.parametrize("simulated", ["natural", "text"])
def test_longer_rows(simulated):
    samples = CONTENT[simulated](np.random.default_rng(7), 20, 37).astype(np.uint16)
    check(samples[None], 8)
    check(np.stack([samples, samples + samples.T[0, 0], 511 - samples]) % 512, 9)


@given(st.binary(max_size=60), st.integers(1, 4), st.integers(1, 9), st.sampled_from(DEPTHS))
def test_random_payloads_decode_alike(payload, count, side, depth):
    shape = count, side, 10 - side
    expected = outcome(lambda: coder.decode_planes(payload, shape, depth, silent)[0])
    assert outcome(lambda: _cpu.decode_exact(payload, shape, depth, None)[0]) == expected


@pytest.mark.parametrize("rounding", ["down", "up", "toward zero"])
@pytest.mark.parametrize("depth", [8, 16])
def test_rounding_of_the_host_changes_nothing(rounding, depth):
    numbers = ROUNDING.get(platform.machine())
    if numbers is None:
        pytest.skip(f"the rounding modes of {platform.machine()} have no numbers here")
    most = (1 << depth) - 1
    noise = np.random.default_rng(3).integers(0, most + 1, (40, 40))
    slope = np.add.outer(np.arange(40), np.arange(40)) * most // 78
    samples = np.stack([slope, noise // 64 + slope * 63 // 64, noise]).astype(np.uint16)
    payload = _cpu.encode_exact(samples, depth, None)[0]
    host = ctypes.CDLL(ctypes.util.find_library("m"))
    assert host.fesetround(numbers[rounding]) == 0
    try:
        found = _cpu.encode_exact(samples, depth, None)[0]
        decoded = _cpu.decode_exact(payload, samples.shape, depth, None)[0]
        kept = host.fegetround() == numbers[rounding]
    finally:
        host.fesetround(0)
    assert found == payload
    np.testing.assert_array_equal(decoded, samples)
    assert kept, "the coder left another rounding than the host's"
