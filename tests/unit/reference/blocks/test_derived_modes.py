"""Weights of the angles, derived from the gradients around a block."""

import numpy as np
import pytest

from mmpcodec.reference.blocks.derived_modes import angle_weights, gradients_by_angle, weighted
from mmpcodec.reference.blocks.partition import Block, BlockPlace, Units
from mmpcodec.reference.blocks.prediction import SLOPES

PLACE = BlockPlace(8, 8, 2, 2)


def around(samples, *decoded):
    """Units of a picture in which these blocks are decoded."""
    units = Units(samples.shape)
    for row, column, a, b in decoded:
        units.mark(BlockPlace(row, column, a, b), Block(0))
    return units


ABOVE = (0, 0, 3, 5)
LEFT = (8, 0, 3, 3)


def test_one_edge_has_one_angle():
    samples = np.zeros((16, 32), np.uint8)
    samples[:, 10:] = 10
    # Gradients of size 40, in row 6, at both columns beside the edge; the edge is vertical.
    found = gradients_by_angle(samples, around(samples, ABOVE), PLACE)
    assert dict(enumerate(found)) == {**dict.fromkeys(range(33), 0), 24: 80}
    weights = angle_weights(samples, around(samples, ABOVE), PLACE)
    assert weights[20:29].tolist() == [2, 2, 12, 23, 34, 23, 12, 2, 2]


@pytest.mark.parametrize("angle", range(33))
def test_lines_along_an_angle_weigh_it_most(angle):
    slope = SLOPES[angle]
    i, j = np.indices((40, 40))
    # What is constant along the angle: it moves by the slope for each row, or for each column.
    place = 32 * j + slope * i if angle >= 16 else 32 * i + slope * j
    samples = (2 * place + 8192).astype(np.uint16)
    units = around(samples, (0, 0, 4, 6), (16, 0, 6, 4))
    weights = angle_weights(samples, units, BlockPlace(16, 16, 2, 2))
    # Angles 0 and 32 have one direction, and gradients of it count for the last one.
    assert weights.argmax() == (32 if angle == 0 else angle)
    assert weights.max() == 34


def test_places_end_with_the_decoded_samples():
    samples = np.full((16, 32), 50, np.uint8)
    # Rows 0 to 7 are decoded up to column 15: row 6 counts up to column 14.
    units = around(samples, (0, 0, 3, 4), LEFT)
    samples[6, 16:] = 200
    assert gradients_by_angle(samples, units, PLACE).sum() == 0
    assert angle_weights(samples, units, PLACE).tolist() == [2] * 33
    samples[6, 15] = 60
    assert gradients_by_angle(samples, units, PLACE)[24] == 20
    # The corner counts if both sides are decoded.
    samples[6, 15], samples[5, 5] = 50, 51
    assert gradients_by_angle(samples, units, PLACE).sum() == 2
    assert gradients_by_angle(samples, around(samples, LEFT), PLACE).sum() == 0


def test_no_frequency_becomes_zero():
    frequencies = np.zeros(38, np.int64)
    frequencies[[0, 3, 4, 37]] = 16, 1, 16, 8
    weights = weighted(frequencies, np.arange(2, 35))
    assert weights[[0, 3, 4, 37]].tolist() == [20, 1, 6, 10]
    assert weights.sum() == 37


def test_weights_keep_the_total_within_the_table_of_rates():
    # All frequency is at one angle that both neighbours are next to.
    frequencies = np.ones(38, np.int64)
    frequencies[20] = 14 * 4000
    assert weighted(frequencies, np.full(33, 34)).sum() < 2**18
