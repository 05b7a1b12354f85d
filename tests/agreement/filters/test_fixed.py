"""The fixed filters and the choice of its scales in C++ against the reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.operations import OPERATIONS
from support.pairs import every_pair
from support.strategies import CONTENT, deep_pictures, deepened, pictures

from mmpcodec.reference.blocks.steps import fragments_across, steps_of
from mmpcodec.tools import BLOCK_TOOLS, BlockTools

SHAPES = [(1, 1), (1, 2), (1, 40), (40, 1), (2, 3), (3, 2), (5, 7), (33, 50)]
VALUES = st.integers(0, BLOCK_TOOLS["fixed_filters"].high)
STEPS = st.one_of(st.integers(1, 1200), st.integers(1, BLOCK_TOOLS["step"].high))


def extremes(rng, height, width):
    """Black and white at random."""
    return (255 * rng.integers(0, 2, (height, width))).astype(np.uint8)


CONTENTS = {**CONTENT, "extremes": extremes}


def check(source, samples, value, step, depth=8):
    _, shown_type, *_ = OPERATIONS["fixed filters"].check(source, samples, value, step, depth)
    assert shown_type == str(samples.dtype)


@every_pair(shape=SHAPES, content=CONTENTS, step=[1, 278, 832, 65535], depth=[8, 9, 16])
def test_contents_and_shapes(shape, content, step, depth):
    rng = np.random.default_rng(len(content))
    samples = CONTENTS[content](rng, *shape)
    source = np.clip(samples + rng.normal(0, 9, shape), 0, 255).astype(np.uint8)
    source, samples = (deepened(rng, picture, depth) for picture in (source, samples))
    check(source, samples, 0b11_10_01_11_10_01_11, step, depth)


@pytest.mark.parametrize("content", ["extremes", "natural"])
@pytest.mark.parametrize("depth", [10, 12, 13, 14])
def test_depths_of_both_widths_of_lanes(depth, content):
    """Samples of up to 13 bits are held in 16 bits, deeper ones in 32."""
    rng = np.random.default_rng(depth)
    samples = deepened(rng, CONTENTS[content](rng, 33, 50), depth)
    most = (1 << depth) - 1
    samples = np.where(samples >= 255 << (depth - 8), most, samples).astype(samples.dtype)
    check(most - samples, samples, 0b11_10_01_11_10_01_11, 832, depth)


@given(pictures(), VALUES, STEPS, st.data())
def test_any_picture_and_scales(samples, value, step, data):
    check(data.draw(arrays(np.uint8, samples.shape)), samples, value, step)


@given(pictures(), VALUES, st.integers(1, 400), st.sampled_from([16, 32, 64]), st.data())
def test_any_steps_of_fragments(samples, value, step, size, data):
    changes = arrays(np.int8, fragments_across(samples.shape, size), elements=st.integers(-24, 24))
    tools = BlockTools(step=step, delta_step=True, fragment_size=size)
    check(samples[::-1].copy(), samples, value, steps_of(tools, data.draw(changes)))


@given(deep_pictures(), VALUES, STEPS)
def test_any_depth(picture, value, step):
    samples, depth = picture
    check(samples[::-1].copy(), samples, value, step, depth)
