"""The border filter in C++ against the reference."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.operations import OPERATIONS
from support.pairs import every_pair

CHECK = OPERATIONS["border filter"].check


@every_pair(
    shape=[(1, 200), (200, 1), (65, 66), (71, 72), (140, 200)],
    planes=[1, 2, 3, 4],
    depth=[1, 7, 8, 9, 16],
    step=[1, 300, 65535],
    place=[(0, 0), (63, 1), (70, 100)],
    extreme=[False, True],
)
def test_shapes_depths_and_steps(shape, planes, depth, step, place, extreme):
    rng = np.random.default_rng(planes)
    most = (1 << depth) - 1
    samples = rng.integers(0, most + 1, (*shape, planes))
    if extreme:
        samples = np.where(2 * samples > most, most, 0)
    samples = samples.astype(np.uint8 if depth <= 8 else np.uint16)
    if planes % 2 == 0:
        samples[..., -1] = np.maximum(samples[..., -1], rng.integers(0, 9, shape) > 0)
    fixed = rng.random(shape) < 0.01
    CHECK(samples if planes > 1 else samples[..., 0], step, depth, 64, place, fixed)


@given(
    arrays(np.uint8, (3, 80, 3)),
    st.integers(1, 65535),
    st.integers(0, 63),
    st.none() | arrays(np.bool_, (3, 80)),
)
def test_any_pixels(samples, step, x, fixed):
    CHECK(samples, step, 8, 64, (x, 0), fixed)


def test_levels():
    rng = np.random.default_rng(0)
    samples = rng.integers(30000, 31024, (90, 100)).astype(np.uint16)
    CHECK(samples, 3000, 10, 64, (0, 0), None, 30000)
