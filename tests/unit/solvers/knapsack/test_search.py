"""The search for any best choice: lists of equal and of many items, subset sums, time limits."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.instances import best_value

from mmpcodec.solvers.knapsack import knapsack


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([6, 40, 10**6, 10**12]))
def test_any_best_choice_of_equal_and_proportional_items(seed, top):
    """Equal items join lists once for each, and proportional ones may go to subset sums."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(1, top, (int(rng.integers(1, 6)), 2))
    if seed % 3 == 0:
        kinds[:, 0] = 3 * kinds[:, 1]
    profits, weights = kinds[rng.integers(0, len(kinds), 12)].T * rng.integers(1, 3, 12)
    capacity = int(rng.integers(0, weights.sum() + 1))
    found = knapsack(profits, weights, capacity)
    taken = list(found.items)
    assert found.value == profits[taken].sum() == best_value(profits, weights, capacity)
    assert weights[taken].sum() <= capacity
    assert found.optimal


def test_more_items_than_one_part_of_the_changes_holds():
    """Choices are traced through the log of the changes; see ``lists.h``."""
    rng = np.random.default_rng(5)
    for count in (40, 70, 200, 400):
        profits, weights = rng.integers(50, 80, (2, count))
        capacity = int(weights.sum()) // 3
        found = knapsack(profits, weights, capacity)
        judge = knapsack(profits, weights, capacity, backend="reference")
        assert found.value == judge.value == profits[list(found.items)].sum()
        assert weights[list(found.items)].sum() <= capacity


def test_proportional_items_stop_at_their_bound():
    weights = np.random.default_rng(0).integers(1, 1001, 10_000)
    capacity = int(weights.sum()) // 2
    found = knapsack(3 * weights, 2 * weights, 2 * capacity + 1)
    assert (found.value, found.bound, found.optimal) == (3 * capacity, 3 * capacity, True)
    # No sum reaches the capacity, so that short lists do not suffice.
    even = 2 * np.random.default_rng(1).integers(10**8, 10**9, 40) + 1
    found = knapsack(even, even, int(even.sum()) // 2)
    assert (found.path, found.optimal) in [("subset sum", True), ("core", True), ("bound", True)]


def test_time_limit_of_a_million_items():
    rng = np.random.default_rng(6)
    profits, weights = rng.integers(1, 10**6, (2, 10**6))
    found = knapsack(profits, weights, int(weights.sum()) // 2, time_limit=0)
    assert found.path == "greedy"
    assert found.value == profits[list(found.items)].sum() < found.bound
