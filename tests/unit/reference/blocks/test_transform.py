"""The integer transforms and dequantisation."""

import zlib
from math import cos, pi, sin, sqrt

import numpy as np
import pytest

from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.transform import (
    basis,
    coefficient_shape,
    dequantised,
    forward,
    inverse,
    sine_sides,
)

SIDES = (4, 8, 16, 32, 64)


@pytest.mark.parametrize(
    ("row", "column", "sides"),
    [(0, 0, (True, True)), (0, 8, (False, True)), (4, 0, (True, False)), (4, 8, (True, True))],
)
def test_border_sines_are_along_the_sides_that_have_samples_before_them(row, column, sides):
    place = BlockPlace(row, column, 2, 3)
    assert sine_sides(place, True) == sides
    assert sine_sides(place, False) == (True, True)
    residual = np.random.default_rng(row).integers(-200, 200, (4, 8))
    coefficients = forward(residual, True, sides=sides)
    exact = basis(4, sides[0]) @ residual @ basis(8, sides[1]).T / 2**21
    assert np.abs(coefficients - exact).max() < 1.5
    assert np.abs(inverse(coefficients, 4, 8, True, sides=sides) - residual).max() <= 2
    assert (forward(residual, False, sides=sides) == forward(residual, False)).all()


@pytest.mark.parametrize("sine", [False, True])
@pytest.mark.parametrize("side", SIDES)
def test_bases_are_nearly_orthonormal(side, sine):
    gram = basis(side, sine) @ basis(side, sine).T / 4096**2
    assert np.abs(gram - np.eye(side)).max() < 2e-3


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


@pytest.mark.parametrize("sine", [False, True])
@pytest.mark.parametrize("height", [4, 8, 16, 32])
@pytest.mark.parametrize("width", [4, 8, 16, 32])
def test_inverse_undoes_forward(height, width, sine):
    if sine and max(height, width) > 16:
        return
    residual = np.random.default_rng(height + width).integers(-60, 61, (height, width))
    coefficients = forward(residual, sine)
    assert np.abs(inverse(coefficients, height, width, sine) - residual).max() <= 1


@pytest.mark.parametrize("shape", [(4, 4), (64, 8), (16, 64), (64, 64)])
def test_a_flat_residual_has_one_coefficient(shape):
    coefficients = forward(np.full(shape, 5), False)
    assert coefficients.shape == coefficient_shape(*shape)
    assert coefficients[0, 0] == pytest.approx(8 * 5 * np.sqrt(shape[0] * shape[1]), abs=1)
    coefficients[0, 0] = 0
    assert not coefficients.any()
    assert (inverse(forward(np.full(shape, 5), False), *shape, False) == 5).all()


def test_one_coefficient_gives_its_wave():
    coefficients = np.zeros((8, 16), int)
    coefficients[2, 3] = 8 * 100
    wave = np.outer(basis(8, False)[2], basis(16, False)[3]) / 4096**2
    assert np.abs(inverse(coefficients, 8, 16, False) - 100 * wave).max() < 0.6


def test_dequantisation_rounds_and_is_limited():
    levels = np.array([0, 1, -1, 3, 32767, -32767])
    assert dequantised(levels, 1).tolist() == [0, 1, -1, 2, 16384, -16384]
    assert dequantised(levels, 236).tolist() == [0, 118, -118, 354, 32767, -32767]
    assert dequantised(levels, 65535).tolist() == [0, 32767, -32767, 32767, 32767, -32767]


def test_the_largest_coefficients_are_no_error():
    for sign in (np.ones((32, 32)), np.random.default_rng(0).choice([-1, 1], (32, 32))):
        residual = inverse((32767 * sign).astype(int), 64, 64, False)
        assert np.abs(residual).max() <= 32767


DEPTHS = (9, 10, 12, 16)


@pytest.mark.parametrize("depth", [8, *DEPTHS])
def test_inverse_undoes_forward_at_every_depth(depth):
    rng = np.random.default_rng(depth)
    limit = 60 << (depth - 8)
    residual = rng.integers(-limit, limit + 1, (16, 32))
    coefficients = forward(residual, False, depth)
    left = np.abs(inverse(coefficients, 16, 32, False, depth) - residual).max()
    # Coefficients are in 1/8 of an 8-bit sample's unit.
    assert left <= max(1, 1 << (depth - 8) >> 1)


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
