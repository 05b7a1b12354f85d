"""The cells that a palette draws."""

import itertools

import numpy as np
import pytest

from mmpcodec.codec.palettes.area import cells_drawn


def cost(cells, drawn, below, edge):
    edges = (cells[1:] != cells[:-1]).sum() + (cells[:, 1:] != cells[:, :-1]).sum()
    return int(np.where(cells, drawn, below).sum() + edge * edges)


def test_without_edges_each_cell_has_its_least_cost():
    rng = np.random.default_rng(1)
    drawn, below = rng.integers(0, 100, (2, 23, 37))
    found = cells_drawn(drawn, below, 0)
    assert cost(found, drawn, below, 0) == np.minimum(drawn, below).sum()


def test_edges_that_cost_much_leave_one_area():
    rng = np.random.default_rng(2)
    drawn, below = rng.integers(0, 100, (2, 20, 20))
    found = cells_drawn(drawn, below, 10**6)
    assert found.all() == (drawn.sum() <= below.sum())
    assert found.all() or not found.any()


@pytest.mark.parametrize("seed", range(12))
def test_small_areas_have_nearly_the_least_cost(seed):
    rng = np.random.default_rng(seed)
    drawn, below = rng.integers(0, 100, (2, 3, 4))
    edge = int(rng.integers(1, 40))
    every = [np.array(bits, bool).reshape(3, 4) for bits in itertools.product((0, 1), repeat=12)]
    least = min(cost(cells, drawn, below, edge) for cells in every)
    found = cost(cells_drawn(drawn, below, edge), drawn, below, edge)
    assert least <= found <= 1.04 * least


def test_a_window_of_a_photograph_stays_below():
    drawn, below = np.full((30, 50), 10), np.full((30, 50), 30)
    drawn[8:20, 11:40] = 200
    noise = np.random.default_rng(3).integers(-15, 16, (30, 50))
    found = cells_drawn(drawn + noise, below, 25)
    expected = np.ones((30, 50), bool)
    expected[8:20, 11:40] = False
    assert np.array_equal(found, expected)
