"""Bounds by surrogate relaxation are never too low, and their choices fit; see ``surrogate.h``."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.instances import best_value, knapsack_classes

from mmpcodec import _cpu
from mmpcodec.solvers.knapsack import knapsack

CLASSES = knapsack_classes()
WORK = 1 << 20


def relaxed(profits, weights, capacity, work=WORK):
    """Value and bound of the relaxation, after checks of its choice."""
    taken = np.zeros(len(profits), np.uint8)
    value, bound = _cpu.knapsack_surrogate(profits, weights, capacity, work, taken)
    chosen = taken.astype(bool)
    assert profits[chosen].sum() == value <= bound
    assert weights[chosen].sum() <= capacity
    return value, bound


@settings(max_examples=1000, deadline=None)
@given(
    st.integers(0, 2**32), st.sampled_from([7, 40, 1000, 10**6, 10**15]), st.sampled_from([0, WORK])
)
def test_the_best_value_lies_between(seed, top, work):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, top + 1, int(rng.integers(2, 12)))
    near = rng.integers(0, 2 + top // 50, len(weights))
    profits = [weights + top // 10, np.maximum(1, weights - top // 10), weights][seed % 3] + near
    some = rng.permutation(weights)[: rng.integers(1, len(weights) + 1)]
    capacity = int(some.sum() if seed % 2 else rng.integers(1, weights.sum() + 1))
    value, bound = relaxed(profits, weights, capacity, work)
    assert value <= best_value(profits, weights, capacity) <= bound


def test_one_item_more_fits_exactly():
    profits, weights = np.array([7, 5, 5]), np.array([6, 5, 5])
    value, bound = relaxed(profits, weights, 10)
    assert value <= 10 <= bound


def test_the_larger_bound_of_both_numbers_of_items_holds():
    """The best choice has more items than the break solution; fewer items give 519 at most."""
    profits = np.array([76, 119, 86, 129, 61, 83, 102])
    weights = np.array([60, 87, 83, 35, 52, 71, 46])
    value, bound = relaxed(profits, weights, 347)
    assert value <= 537 <= bound


@pytest.mark.parametrize("seed", range(8))
def test_bound_of_profits_that_are_weights_and_a_fixed_charge(seed):
    """With at most k items, p = w + 100 gains at most the capacity and 100 k."""
    weights = np.random.default_rng(seed).integers(1, 1001, 2000)
    capacity = int(weights.sum()) // 2
    most = int((np.cumsum(np.sort(weights)) <= capacity).sum())
    _, bound = relaxed(weights + 100, weights, capacity)
    assert bound == capacity + 100 * most
    assert knapsack(weights + 100, weights, capacity).value == bound


@pytest.mark.parametrize("top", [1000, 10**6])
@pytest.mark.parametrize("name", ["almost strongly correlated", "similar weights"])
def test_choices_that_meet_their_bounds(name, top):
    """The relaxation alone proves these classes, as published for Combo."""
    for seed in range(5):
        profits, weights = CLASSES[name](np.random.default_rng(seed), 5000, top)
        capacity = int(weights.sum()) // 2
        value, bound = relaxed(profits, weights, capacity)
        assert value == bound == knapsack(profits, weights, capacity).value


@pytest.mark.parametrize("name", CLASSES)
def test_all_classes_give_the_answer_of_the_table(name):
    for seed, count in enumerate((30, 100, 300)):
        profits, weights = CLASSES[name](np.random.default_rng(seed), count, 1000)
        if name == "similar weights":
            weights -= 99_000
        capacity = int(weights.sum()) // 2
        judge = knapsack(profits, weights, capacity, backend="reference")
        value, bound = relaxed(profits, weights, capacity)
        assert value <= judge.value <= bound
        found = knapsack(profits, weights, capacity, backend="cpu")
        assert found.value == judge.value == profits[list(found.items)].sum()
        assert weights[list(found.items)].sum() <= capacity
        assert knapsack(profits, weights, capacity, first_choice=True, backend="cpu") == judge


def test_the_order_of_the_items_does_not_change_the_value():
    """Items are sorted in parts, when the lists reach them."""
    rng = np.random.default_rng(3)
    for name in ("weakly correlated", "circle(2/3)", "spanner(2, 10)"):
        profits, weights = CLASSES[name](rng, 1500, 1000)
        capacity = int(weights.sum()) // 2
        order = rng.permutation(len(weights))
        found = knapsack(profits, weights, capacity)
        again = knapsack(profits[order], weights[order], capacity)
        assert found.optimal
        assert again.optimal
        assert found.value == again.value == profits[order][list(again.items)].sum()
