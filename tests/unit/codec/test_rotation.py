"""Red, green and blue turned to the axes of a tile."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import natural

from mmpcodec.codec.layers import rotation as rotations
from mmpcodec.codec.layers.rotation import chosen_rotation
from mmpcodec.reference.colour import (
    AXES,
    BITS,
    NO_ROTATION,
    from_fine_luma,
    inverse_of,
    matrix_of,
    to_fine_luma,
)

TURNS = st.tuples(*[st.integers(-128, 127)] * 3)
UNIT = 1 << BITS


def turned(axis, degrees):
    """Rodrigues' formula."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.deg2rad(degrees)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def test_axes_without_a_turn():
    assert matrix_of(NO_ROTATION) == [
        [UNIT, UNIT * 5 // 4, -187246],
        [UNIT, 0, 374491],
        [UNIT, -UNIT * 5 // 4, -187246],
    ]


@given(TURNS)
def test_the_matrix_is_the_rotation_of_the_axes(rotation):
    angle = 2 * np.rad2deg(np.arctan2(np.linalg.norm(rotation), 128))
    expected = turned(rotation if any(rotation) else (1, 0, 0), angle) @ AXES / 28
    np.testing.assert_allclose(np.array(matrix_of(rotation)) / UNIT, expected, atol=0.6 / UNIT)


@given(TURNS)
def test_the_inverse_is_that_of_the_matrix(rotation):
    product = np.array(inverse_of(rotation), float) @ matrix_of(rotation) / UNIT**2
    np.testing.assert_allclose(product, np.eye(3), atol=4 / UNIT)


@given(TURNS, st.sampled_from([(8, 10), (9, 11), (10, 12), (14, 16)]), st.integers(0, 1 << 30))
def test_no_colour_is_lost(rotation, depths, seed):
    """Planes of two bits more hold every colour, with the corners of the cube among them."""
    depth, fine = depths
    colours = np.random.default_rng(seed).integers(0, 1 << depth, (3, 40)).astype(np.uint16)
    colours[:, :8] = ((1 << depth) - 1) * (np.arange(8) >> np.arange(3)[:, None] & 1)
    planes = to_fine_luma(colours, depth, fine, rotation)
    assert max(int(plane.max()) for plane in planes) < 1 << fine
    np.testing.assert_array_equal(from_fine_luma(planes, fine, depth, rotation), colours)


@given(TURNS, st.sampled_from([(8, 10), (9, 11), (10, 12), (14, 16)]), st.integers(0, 1 << 30))
def test_sums_do_not_overflow(rotation, depths, seed):
    depth, fine = depths
    planes = np.random.default_rng(seed).integers(0, 1 << fine, (3, 1, 40)).astype(np.uint16)
    planes[:, 0, :8] = ((1 << fine) - 1) * (np.arange(8) >> np.arange(3)[:, None] & 1)
    mid = 1 << fine - 1
    sums = np.array(matrix_of(rotation), object) @ (planes[:, 0].astype(object) - mid)
    expected = [[((mid << BITS) + total + (UNIT * 2)) >> BITS + 2 for total in row] for row in sums]
    found = from_fine_luma(planes, fine, depth, rotation)
    np.testing.assert_array_equal(
        np.array(found)[:, 0], np.clip(np.array(expected, int), 0, (1 << depth) - 1)
    )


def coloured(axes, seed=1):
    """A picture whose planes along three axes, in columns, have unrelated noise."""
    planes = np.random.default_rng(seed).normal(size=(64, 80, 3)) * (28, 12, 6)
    return (128 + planes @ np.array(axes).T).clip(0, 255).round().astype(np.uint8)


def relations(planes):
    """How the differences of planes between means of 2x2 pixels are related: correlations."""
    means = np.array(planes, float).reshape(3, 32, 2, 40, 2).mean((2, 4))
    parts = [np.diff(means, axis=axis).reshape(3, -1) for axis in (1, 2)]
    sums = sum(part @ part.T for part in parts)
    scale = np.sqrt(np.diag(sums))
    return np.abs((sums / scale / scale[:, None])[np.triu_indices(3, 1)])


@pytest.mark.parametrize("seed", range(8))
def test_differences_of_turned_planes_are_unrelated(seed):
    axes = np.array(matrix_of(tuple(np.random.default_rng(seed).integers(-60, 60, 3))), float)
    samples = coloured(axes / np.linalg.norm(axes, axis=0), seed)
    colours, rotation = np.moveaxis(samples, 2, 0), chosen_rotation(samples, 8)
    assert relations(to_fine_luma(colours, 8, 10, NO_ROTATION)).max() > 0.15
    assert relations(to_fine_luma(colours, 8, 10, rotation)).max() < 0.06
    assert sum(matrix_of(rotation)[colour][0] for colour in range(3)) > UNIT  # luma stays luma


def test_gray_pictures_and_tiny_ones_have_no_turn():
    gray = natural(np.random.default_rng(2), 40, 50)
    assert chosen_rotation(np.dstack([gray] * 3), 8) == NO_ROTATION
    assert chosen_rotation(np.dstack([gray * 0] * 3), 8) == NO_ROTATION
    speck = np.full((40, 50, 3), 128, np.uint8)
    speck[20, 20, 0] = 131
    assert chosen_rotation(speck, 8) == NO_ROTATION
    coloured_line = coloured(np.eye(3))[:1]
    assert chosen_rotation(coloured_line, 8) == NO_ROTATION
    planes = to_fine_luma([gray] * 3, 8, 10, NO_ROTATION)
    np.testing.assert_array_equal(planes[0], gray.astype(int) * 4)
    assert [int(plane.min()) for plane in planes[1:]] == [512, 512]
    assert [int(plane.max()) for plane in planes[1:]] == [512, 512]


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 9), (64, 80), (63, 79)])
def test_bands_alpha_and_more_bits_change_nothing(monkeypatch, shape):
    samples = coloured(np.eye(3))[: shape[0], : shape[1]]
    rotation = chosen_rotation(samples, 8)
    found = []
    with monkeypatch.context() as patch:
        patch.setattr(rotations, "_turn_of", lambda *sums: found.append(sums))
        chosen_rotation(samples, 8)
        patch.setattr(rotations, "BAND_SAMPLES", 90)
        chosen_rotation(samples, 8)
    assert found[0] == found[1]
    assert chosen_rotation(np.dstack([samples, samples[..., :1]]), 8) == rotation
    assert chosen_rotation(samples.astype(np.uint16) << 4, 12) == rotation


def test_the_turn_of_a_picture_is_the_same_everywhere():
    """Numbers of one machine, so that another machine with other arithmetic is seen."""
    i, j = np.indices((40, 60))
    colours = np.stack([(7 * i + j * j) % 256, (3 * i * j) % 251, (i * i + 5 * j) % 241], axis=2)
    assert chosen_rotation(colours.astype(np.uint8), 8) == (21, 31, -33)
