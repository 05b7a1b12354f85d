"""The integer transforms and dequantisation."""

import zlib
from math import cos, pi, sin, sqrt

import numpy as np
import pytest

from mmpcodec.reference.blocks.transform import (
    basis,
    dequantised,
    forward,
    inverse,
    skip_forward,
    skip_inverse,
)

SIDES = (4, 8, 16, 32, 64)


def exact(side, sine, k, i):
    if sine:
        return 8192 / sqrt(2 * side + 1) * sin(pi * (2 * k + 1) * (i + 1) / (2 * side + 1))
    return 4096 * sqrt((2 if k else 1) / side) * cos(pi * k * (2 * i + 1) / (2 * side))


@pytest.mark.parametrize("sine", [False, True])
def test_no_weight_is_so_close_to_a_half_that_machines_could_round_it_apart(sine):
    for side in SIDES:
        for k in range(side):
            row = np.array([exact(side, sine, k, i) for i in range(side)])
            assert np.abs(row % 1 - 0.5).min() > 1e-6
            assert (basis(side, sine)[k] == np.round(row)).all()


def test_bases_are_the_format_s():
    data = b"".join(basis(n, sine).astype(">i2").tobytes() for sine in (False, True) for n in SIDES)
    assert f"{zlib.crc32(data):08x}" == "8e5399bb"


def test_sums_stay_within_32_bits():
    for side in SIDES:
        for sine in (False, True):
            weights = np.abs(basis(side, sine)[:32]).sum(axis=0).max() * 32767
            assert weights + (1 << 14) < 1 << 31
            assert (weights + (1 << 14)) >> 15 <= 32767


def test_the_largest_coefficients_are_no_error():
    for sign in (np.ones((32, 32)), np.random.default_rng(0).choice([-1, 1], (32, 32))):
        residual = inverse((32767 * sign).astype(int), 64, 64, False)
        assert np.abs(residual).max() <= 32767


def test_sums_of_the_largest_residuals_stay_within_32_bits():
    for side in (4, 8, 16, 32, 64):
        for sine in (False, True):
            weights = int(np.abs(basis(side, sine)).sum(axis=1).max())
            # 15 bits and 1 of sign: what the forward transform sees of samples of 16 bits.
            assert weights * 32768 + (1 << 15) < 1 << 31
            assert weights * 32767 + (1 << 14) < 1 << 31
    black_to_white = np.full((64, 64), 65535)
    assert forward(black_to_white, False, 16)[0, 0] == 32767
    assert forward(-black_to_white, False, 16)[0, 0] == -32767


def test_dequantisation_rounds_and_is_limited():
    levels = np.array([0, 1, -1, 3, 32767, -32767])
    assert dequantised(levels, 1).tolist() == [0, 1, -1, 2, 16384, -16384]
    assert dequantised(levels, 236).tolist() == [0, 118, -118, 354, 32767, -32767]
    assert dequantised(levels, 65535).tolist() == [0, 32767, -32767, 32767, 32767, -32767]


def test_a_residual_without_a_transform_comes_back_with_its_last_sample_first():
    residual = np.array([[-255, 0, 3, 255], [1, -2, 7, -9]])
    coefficients = skip_forward(residual)
    assert coefficients.tolist() == [[-72, 56, -16, 8], [2040, 24, 0, -2040]]
    assert (skip_inverse(coefficients) == residual).all()
    # Coefficients of deeper samples are in units of 8-bit samples too, and limited.
    deep = np.array([[65535, -65535, 37, -37]])
    assert skip_forward(deep, 16).tolist() == [[-1, 1, -2048, 2048]]
    assert skip_inverse(skip_forward(deep, 16), 16).tolist() == [[65536, -65536, 32, -32]]
    assert skip_forward(np.array([[65535 << 4]]), 8).tolist() == [[32767]]
