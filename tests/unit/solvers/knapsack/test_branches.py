"""Branch and bound beside the reference's table and published optima."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmpcodec.solvers.knapsack import branches, knapsack, multiple_choice
from mmpcodec.solvers.knapsack.problem import checked, of_groups
from mmpcodec.solvers.knapsack.reduction import reduce
from mmpcodec.solvers.knapsack.units import split

# pb2 of the OR-Library: 34 items, 4 budgets, published optimum 3186.
PB2 = (
    "560 620 68 328 47 122 196 41 25 115 82 22 631 132 420 86 42 103 215 81 91 26 49 316 72 71 49 "
    "108 116 90 215 58 47 81",
    "40 30 3 12 3 18 25 1 1 8 1 1 49 8 21 6 1 5 10 8 2 1 0 42 6 4 8 0 10 1 8 3 2 4",
    "16 16 4 18 6 0 8 2 1 6 2 1 70 9 22 4 1 5 10 6 4 0 4 8 4 3 0 10 0 6 22 0 2 2",
    "38 71 5 40 8 12 15 0 1 20 3 0 40 6 8 0 6 4 22 4 6 1 5 8 2 8 0 20 0 0 13 6 1 2",
    "38 42 7 20 0 3 4 1 2 4 6 1 18 15 38 10 4 8 6 0 0 3 0 6 1 3 0 3 5 4 18 3 4 0",
)


def drawn(items, budgets, tightness, seed):
    """Chu and Beasley's recipe: profits follow the weights."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 1001, (items, budgets))
    profits = weights.sum(axis=1) // budgets + rng.integers(0, 501, items)
    return profits, weights, (weights.sum(axis=0) * tightness).astype(int)


def test_published_optimum():
    profits, *columns = [np.array(line.split(), int) for line in PB2]
    weights = np.stack(columns, axis=1)
    found = knapsack(profits, weights, [163, 165, 239, 168])
    assert (found.value, found.bound, found.optimal, found.path) == (3186, 3186, True, "branches")
    assert profits[list(found.items)].sum() == 3186
    assert (weights[list(found.items)].sum(axis=0) <= [163, 165, 239, 168]).all()


@st.composite
def problems(draw):
    budgets = draw(st.integers(1, 3))
    scale = draw(st.sampled_from([1, 6, 1 << 20, 1 << 52]))
    option = st.tuples(st.integers(-20, 20), *[st.integers(0, 6)] * budgets)
    groups = [
        (np.array([o[0] for o in group]) * scale, np.array([o[1:] for o in group]))
        for group in draw(st.lists(st.lists(option, min_size=1, max_size=5), max_size=6))
    ]
    return groups, draw(st.lists(st.integers(0, 14), min_size=budgets, max_size=budgets))


@given(problems(), st.booleans(), st.sampled_from([1, 1 << 40, 1 << 57]), st.booleans())
def test_value_of_the_table(problem, exact, factor, is_known):
    groups, capacities = problem
    judge = multiple_choice(groups, capacities, exact_fill=exact, backend="reference")
    larger = [(profits, weights * factor) for profits, weights in groups]
    whole = of_groups(larger, [capacity * factor for capacity in capacities], exact)
    reduced = reduce(whole)
    if reduced is None or not reduced.problem.stages:
        return
    rest = reduced.problem
    first = np.zeros(rest.stages, np.int64)
    settled = whole.value(reduced.choices(first)) - rest.value(first)
    known = judge.value - settled if is_known and judge.value is not None else None
    found = branches.solve(rest, known)
    assert found.proven
    assert found.bound == (None if judge.value is None else judge.value - settled)
    assert (found.choices is None) == (judge.value is None or known is not None)
    if found.choices is not None:
        choices = reduced.choices(found.choices)
        assert whole.value(choices) == judge.value
        sums = whole.weights[whole.starts[:-1] + choices].sum(axis=0)
        assert (sums == whole.capacities if exact else sums <= whole.capacities).all()


def test_time_limit_gives_choice_and_bound():
    profits, weights, capacities = drawn(500, 10, 0.5, 3)
    begin = time.monotonic()
    found = knapsack(profits, weights, capacities, time_limit=0.3)
    assert time.monotonic() - begin < 5
    chosen = list(found.items)
    assert profits[chosen].sum() == found.value
    assert not found.optimal
    assert (weights[chosen].sum(axis=0) <= capacities).all()
    assert found.value < found.bound < 1.01 * found.value


@pytest.mark.parametrize("tightness", [0.25, 0.5, 0.75])
def test_choices_do_not_depend_on_the_limit(tightness):
    problem = drawn(40, 5, tightness, 1)
    found = knapsack(*problem)
    assert (found.path, found.optimal) == ("branches", True)
    assert knapsack(*problem, time_limit=1e6, memory_limit=0).items == found.items


def test_groups_and_budgets_without_memory():
    rng = np.random.default_rng(5)
    groups = [(rng.integers(0, 99, 6), rng.integers(0, 40, (6, 3))) for _ in range(12)]
    judge = multiple_choice(groups, [110, 120, 130], memory_limit=1 << 32)
    found = multiple_choice(groups, [110, 120, 130], memory_limit=0)
    assert (found.value, found.optimal, found.path) == (judge.value, True, "branches")


def test_many_small_problems_have_the_value_of_the_table():
    rng = np.random.default_rng(7)
    for _ in range(150):
        weights = rng.integers(1, 12, (14, 2))
        profits = weights.sum(axis=1) * 3 + rng.integers(0, 9, 14)
        problem = profits, weights, weights.sum(axis=0) // 2
        judge = knapsack(*problem, backend="reference")
        found = knapsack(*problem, memory_limit=0)
        assert (found.value, found.path) == (judge.value, "branches")


def test_a_known_choice_that_the_root_excludes():
    # The rest of the root has profits with a common divisor that the known profit does not share.
    groups = [
        ([2, 4], [0, 3]),
        ([-3, 0, -7], [1, 3, 0]),
        ([16, -28, 8, -28], [3, 0, 0, 0]),
    ]
    assert branches.solve(of_groups(groups, 3, True), None).bound == 11


@pytest.mark.parametrize("budgets", [1, 2])
def test_bounds_are_near_where_few_of_many_items_fit(budgets):
    """The prices of all weights together are worth far more than the profits."""
    rng = np.random.default_rng(7)
    weights = rng.integers(1, 200_000, (300, 1))
    weights = np.hstack([weights, np.ones_like(weights)])[:, :budgets]
    profits = rng.integers(1, 200_000, 300)
    groups = [([0, p], [w * 0, w]) for p, w in zip(profits, weights, strict=True)]
    problem = of_groups(groups, [10**6, 38][:budgets], False)
    answer = branches.solve(reduce(problem).problem, None, work=1)
    # At most two options of the linear programme are not whole.
    assert answer.bound <= problem.value(answer.choices) + 2 * profits.max()
    assert branches.solve(reduce(problem).problem, None, work=10**7).proven


def test_exchanges_fill_the_capacity_of_many_items():
    """All choices of 496 items that fill the capacity are the best; most pairs are not tried."""
    rng = np.random.default_rng(1000)
    weights = rng.integers(1, 10_001, 1000)
    items = checked(weights + 1000, weights, int(weights.sum()) // 4)
    whole = split(items, None, 496, 496, False).items.stages(False)
    reduced = reduce(whole)
    answer = branches.solve(reduced.problem, None, work=10**7)
    assert answer.proven
    choices = reduced.choices(answer.choices)
    assert choices.sum() == 496
    assert whole.value(choices) == 496 * 1000 + items.capacities[0]
