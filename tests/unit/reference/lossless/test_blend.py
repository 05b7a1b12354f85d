"""Fitted prediction 2: sums of strips, near sums, and the blend of predictors."""

import numpy as np
import pytest

from mmpcodec.reference.lossless import blend
from mmpcodec.reference.lossless.blend import (
    PREDICTORS,
    Blend,
    StripSums,
    blended,
    logarithm,
)
from mmpcodec.reference.lossless.plane import ABOVE, Plane


def test_sums_of_strips():
    """Three strips of 8, 8 and 4 columns, with a 1 as the regressor and the target."""
    sums = StripSums(20, 1, 8)
    sums.begin_row()
    for column in range(20):
        assert (sums.at(column) == 0).all()
        sums.add(column, np.array([1]), 1)
    sums.begin_row()
    # The strips hold 2048, 2048 and 1024; 3/16 of them go to the strips beside.
    expected = [2048 + 420, 2048 + 384 + 192, 1024 + 456]
    assert [sums.at(column).tolist() for column in (0, 7, 8, 19)] == [
        [[expected[k]] * 2] for k in (0, 0, 1, 2)
    ]
    for column in range(8):
        sums.add(column, np.array([-1]), 2)
    sums.begin_row()
    # The strips keep 1664, 1664 and 832 of the first row.
    assert sums.at(0).tolist() == [[1664 + 2048 + 340, 1664 - 4096 + 340]]


def test_one_strip_has_no_other_beside():
    sums = StripSums(5, 2, 16)
    sums.begin_row()
    sums.add(4, np.array([2, -3]), 7)
    sums.begin_row()
    assert sums.at(0).tolist() == [[1024, -1536, 3584], [-1536, 2304, -5376]]


def test_logarithms_of_costs():
    costs = [64, 71, 72, 127, 128, 1 << 20, (1 << 20) + (1 << 17), 2**50 - 1]
    assert [logarithm(cost) for cost in costs] == [48, 48, 49, 55, 56, 160, 161, 399]


def test_weights_halve_with_four_steps():
    distances = [0, 1, 2, 3, 4, 5, 63, 64, 65]
    expected = [65536, 55109, 46341, 38968, 32768, 27554, 1, 1, 0]
    assert [blend.weight(distance) for distance in distances] == expected


@pytest.mark.parametrize(
    ("fits", "costs", "expected"),
    [
        ([77], [1000], 77),
        ([10, 21], [1000, 1000], 16),
        ([10, 20, 30], [64, 64, 64], 20),
        ([100, 200], [256, 512], 120),
        ([100, 200, 300], [64, 1 << 14, 1 << 40], 100),
        ([640, 0], [1 << 40, 64], 0),
    ],
)
def test_blend_favours_low_costs(fits, costs, expected):
    assert blended(fits, costs) == expected


def test_errors_nearby_make_the_cost(monkeypatch):
    """The factors add up to 24; the errors at (-2, -2) and right of the sample do not count."""
    noted = []
    monkeypatch.setattr(blend, "blended", lambda fits, costs: noted.append(costs) or 0)
    plane = Plane(5, 16, 255)
    found = Blend(plane, [], PREDICTORS[:2])
    found.begin_row()
    found.squares[0] = 1
    found.squares[1, ABOVE + 1, 3 + 6] = 100  # two rows above and two columns to the left
    found.squares[1, ABOVE + 3, 3 + 9] = 100
    found.squares[1, ABOVE + 3, 3 + 5] = 1000  # three columns to the left
    found.fit(3, 8)
    assert noted == [[64 + 24, 64 + 1000]]


@pytest.mark.parametrize("predictors", [1, 2, 3])
def test_predictors_learn_a_slope(predictors):
    """Samples that rise evenly are predicted to 1/4 of a sample after a few rows."""
    plane = Plane(8, 24, 255)
    found = Blend(plane, [], PREDICTORS[:predictors])
    errors = np.zeros((8, 24))
    for row in range(8):
        plane.begin_row(row)
        found.begin_row()
        for column in range(24):
            sample = 5 * column + 7 * row + 40
            errors[row, column] = found.fit(row, column) / 64 - sample
            plane.inner[row, column] = sample
            found.learn(sample)
        plane.end_row(row)
    assert abs(errors[5:, 4:-4]).max() < 1 / 4


@pytest.mark.parametrize(
    ("before", "counts"),
    [
        (0, [(10, 0), (6, 0), (18, 0)]),
        (1, [(8, 6), (4, 3), (14, 6)]),
        (2, [(6, 4), (4, 2), (10, 6)]),
    ],
)
def test_numbers_of_regressors(before, counts):
    planes = [Plane(2, 20, 15) for _ in range(before)]
    found = Blend(Plane(2, 20, 15), planes, PREDICTORS)
    assert [predictor.counts for predictor in found.predictors] == counts
    found.begin_row()
    shapes = [predictor.sums.at(0).shape for predictor in found.predictors]
    assert shapes == [(own + before * other, own + before * other + 1) for own, other in counts]
