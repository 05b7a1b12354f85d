"""Lossless samples: ends of classes, logarithms and weights that no vector reaches."""

from mmpcodec.reference.lossless.blend import logarithm, weight
from mmpcodec.reference.lossless.context import activity_class


def test_the_last_class_of_activity():
    assert [activity_class(activity) for activity in (12, 2**16, 2**20)] == [7, 31, 31]


def test_logarithms_of_costs():
    costs = [64, 71, 72, 127, 128, 1 << 20, (1 << 20) + (1 << 17), 2**50 - 1]
    assert [logarithm(cost) for cost in costs] == [48, 48, 49, 55, 56, 160, 161, 399]


def test_weights_halve_with_four_steps():
    distances = [0, 1, 2, 3, 4, 5, 63, 64, 65]
    expected = [65536, 55109, 46341, 38968, 32768, 27554, 1, 1, 0]
    assert [weight(distance) for distance in distances] == expected
