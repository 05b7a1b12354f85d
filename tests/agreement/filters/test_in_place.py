"""A filter in C++ finds equal samples if it replaces those that it reads."""

import numpy as np
from support.pairs import every_pair

from mmpcodec import _cpu

STEPS = (16, np.arange(16, dtype=np.uint8).reshape(4, 4) % 3, [40, 300, 900])
SCALES = (3, 2, 1, 0, 1, 2, 3)


def fixed(samples, depth, out):
    _cpu.fixed_filters(samples, depth, STEPS, SCALES, (0, len(samples)), out)


def post(samples, depth, out):
    table = np.array([[9, -4, 3, 20, -7, 2], [0] * 6, [-64] * 6, [63] * 6], np.int16)
    _cpu.post_filter(samples, depth, table, (0, len(samples)), out)


def cross_component(samples, depth, out):
    planes = [samples[::-1].copy(), samples[:, ::-1].copy()]
    weights = (np.arange(24, dtype=np.int16) * 5 % 19 - 9).reshape(2, 12)
    _cpu.cross_component_filter(samples, depth, planes, weights, (0, len(samples)), out)


@every_pair(
    apply=[fixed, post, cross_component],
    shape=[(1, 1), (3, 5), (4, 33), (9, 40), (33, 50), (64, 64)],
    depth=[8, 10, 12, 16],
)
def test_in_place(apply, shape, depth):
    rng = np.random.default_rng(shape[1])
    kind = np.uint8 if depth == 8 else np.uint16
    samples = rng.integers(0, 1 << depth, shape).astype(kind)
    expected = np.empty_like(samples)
    apply(samples, depth, expected)
    assert shape == (1, 1) or not np.array_equal(expected, samples)
    apply(samples, depth, samples)
    np.testing.assert_array_equal(samples, expected)
