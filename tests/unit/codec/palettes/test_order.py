"""The order of the colours of a palette."""

import itertools

import numpy as np
import pytest

from mmpcodec.codec.palettes.order import WAYS, Way, beside, order_of


def test_pairs_side_by_side_are_counted_in_both_directions():
    numbers = np.array([[0, 1, 1], [2, 1, 0]])
    drawn = np.array([[True, True, True], [True, True, False]])
    assert beside(numbers, drawn, 3).tolist() == [[0, 1, 1], [1, 4, 1], [1, 1, 0]]


def test_gray_levels_without_neighbours_are_in_ascending_order():
    palette = np.array([[90], [10], [250], [30], [31]])
    order = order_of(palette, np.zeros((5, 5), np.int64), WAYS[0])
    assert palette[order, 0].tolist() == [10, 30, 31, 90, 250]


def test_two_ramps_of_colours_follow_each_other():
    red = [[level, 0, 0] for level in range(40, 250, 30)]
    blue = [[0, 0, level] for level in range(250, 40, -30)]
    palette = np.array([*red, *blue])
    mixed = np.random.default_rng(1).permutation(len(palette))
    order = order_of(palette[mixed], np.zeros((len(mixed),) * 2, np.int64), WAYS[0])
    found = palette[mixed][order]
    # The tour runs through one ramp, then through the other.
    assert (np.diff((found[:, 0] > 0).astype(int)) != 0).sum() == 1


@pytest.mark.parametrize("way", WAYS)
def test_colours_that_lie_side_by_side_are_nearer(way):
    palette = np.array([[0], [100], [200], [103]])
    counts = np.zeros((4, 4), np.int64)
    counts[0, 3] = counts[3, 0] = 1 << 20
    order = order_of(palette, counts, way).tolist()
    assert order[:2] == [0, 3]


def test_tours_of_few_colours_are_the_shortest():
    rng = np.random.default_rng(2)
    shortest = 0
    for _ in range(20):
        palette = rng.integers(0, 256, (6, 3))
        order = order_of(palette, np.zeros((6, 6), np.int64), Way(1, 1)).tolist()

        def length(tour, palette=palette):
            return np.sqrt((np.diff(palette[list(tour)], axis=0) ** 2).sum(axis=1)).sum()

        others = [one for one in range(6) if one != order[0]]
        best = min(length((order[0], *tour)) for tour in itertools.permutations(others))
        assert length(order) < 1.2 * best
        shortest += length(order) < 1.001 * best
    assert shortest >= 15
