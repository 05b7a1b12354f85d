"""The post filter and its fit in C++ against the reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.operations import OPERATIONS
from support.pairs import every_pair
from support.strategies import CONTENT, deepened, pictures

from mmpcodec.reference.filters.post import CLASSES, LEAST, MOST, TAPS

SHAPES = [(1, 1), (1, 2), (1, 40), (40, 1), (2, 3), (3, 2), (5, 7), (33, 50)]


def extremes(rng, height, width):
    """Black and white at random."""
    return (255 * rng.integers(0, 2, (height, width))).astype(np.uint8)


CONTENTS = {**CONTENT, "extremes": extremes}


def coefficients():
    own = st.lists(st.integers(LEAST, MOST), min_size=len(TAPS), max_size=len(TAPS)).map(tuple)
    return st.tuples(*[st.just(()) | own] * CLASSES)


def check(source, samples, chosen, lambda_fixed, depth=8):
    _, shown_type, *_ = OPERATIONS["post filter"].check(
        source, samples, chosen, lambda_fixed, depth
    )
    assert shown_type == str(samples.dtype)


@every_pair(shape=SHAPES, content=CONTENTS, value=[LEAST, MOST, 7], depth=[8, 9, 13, 16])
def test_contents_and_shapes(shape, content, value, depth):
    rng = np.random.default_rng(len(content))
    samples = CONTENTS[content](rng, *shape)
    noisy = samples + rng.normal(0, 9, shape)
    source = np.clip(noisy, 0, 255).astype(np.uint8)
    source, samples = (deepened(rng, picture, depth) for picture in (source, samples))
    check(source, samples, ((value,) * len(TAPS),) * CLASSES, 1, depth)


@given(pictures(), coefficients(), st.integers(0, 1 << 36), st.data())
def test_any_picture_and_coefficients(samples, chosen, lambda_fixed, data):
    source = data.draw(arrays(np.uint8, samples.shape))
    check(source, samples, chosen, lambda_fixed)


@pytest.mark.parametrize("depth", [8, 13, 14, 16])
def test_blocks_of_one_class_fill_up(depth):
    """More samples of each class than are summed at once, at the largest products."""
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:90, :80]
    most = (1 << depth) - 1
    checks = (most * ((rows + columns) % 2)).astype(np.uint8 if depth == 8 else np.uint16)
    samples = np.vstack([checks, deepened(rng, CONTENT["natural"](rng, 90, 80), depth)])
    check(most - samples, samples, ((3, -2, 5, 0, 1, -64),) * CLASSES, 1, depth)
