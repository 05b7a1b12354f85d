"""Intra prediction: angles, planar, least squares."""

import numpy as np
import pytest

from mmpcodec.reference.blocks import prediction
from mmpcodec.reference.blocks.partition import FIRST_ANGLE, LEAST_SQUARES, Block, BlockPlace, Units
from mmpcodec.reference.blocks.prediction import equations_of, predict, solved, training_sums

SIDE = 64
HORIZONTAL, VERTICAL = FIRST_ANGLE + 8, FIRST_ANGLE + 24


def decoded_around(place, shape=(SIDE, SIDE)):
    """Units of a picture of which all is decoded but the block and what comes after it."""
    units = Units(shape)
    units.known[:] = 2, 2, 0, 0
    rows, columns = place.units
    units.known[rows.stop :] = 0
    units.known[rows, columns.start :] = 0
    return units


@pytest.mark.parametrize("content", ["noise", "black and white", "flat", "stripes"])
def test_weights_are_limited_and_predictions_are_samples(content):
    rng = np.random.default_rng(3)
    samples = {
        "noise": rng.integers(0, 256, (SIDE, SIDE)),
        "black and white": 255 * rng.integers(0, 2, (SIDE, SIDE)),
        "flat": np.full((SIDE, SIDE), 255),
        "stripes": np.broadcast_to(255 * (np.arange(SIDE) % 2), (SIDE, SIDE)),
    }[content].astype(np.uint8)
    for a, b in ((2, 2), (3, 5), (4, 3)):
        place = BlockPlace(16, 24, a, b)
        weights = solved(equations_of(training_sums(samples, decoded_around(place), place)))
        assert max(map(abs, weights)) <= 16384
        predicted = predict(LEAST_SQUARES, samples, decoded_around(place), place)
        assert predicted.shape == (place.height, place.width)
        assert predicted.min() >= 0
        assert predicted.max() <= 255


def test_marking_the_block_itself_changes_no_training():
    """A rough search takes all for decoded; samples of the block stay out all the same."""
    place = BlockPlace(16, 16, 3, 3)
    samples = np.random.default_rng(5).integers(0, 256, (SIDE, SIDE), dtype=np.uint8)
    units = decoded_around(place)
    without = training_sums(samples, units, place)
    units.mark(place, Block(0))
    assert (training_sums(samples, units, place) == without).all()


@pytest.mark.parametrize("limit", ["MOST_VALUE", "MOST_FACTOR"])
def test_weights_are_limited_where_the_equations_have_no_solution(monkeypatch, limit):
    """Sums that no samples give: without limits the weights are others, and C++ overflows."""
    sums = np.random.default_rng(3600).integers(-(2**23), 2**23, (6, 7))
    sums[:, :6] = np.triu(sums[:, :6]) + np.triu(sums[:, :6], 1).T
    assert solved(equations_of(sums)) == [16384, 16384, -16384, 0, 0, 4096]
    monkeypatch.setattr(prediction, limit, 1 << 400)
    assert solved(equations_of(sums)) == [16384, 16384, -16384, -16384, 16384, 16384]
