"""Knapsacks: brute force as the judge of values and items, on every backend and path."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from support.instances import best_value, random_1

from mmpcodec import LimitExceeded, ParameterError, backends
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.knapsack import (
    choice_curve,
    core,
    cpu,
    enumeration,
    knapsack,
    knapsack_batch,
    multiple_choice,
    multiple_choice_batch,
    table,
    value_curve,
)
from mmpcodec.solvers.knapsack.bounds import greedy, relax
from mmpcodec.solvers.knapsack.problem import of_groups, of_items

BACKENDS = ["cpu", "reference"]
every_backend = pytest.mark.parametrize("backend", BACKENDS)


def brute_force(groups, capacities, exact_fill=False):
    """Value and choices by trying everything, the choice that the package names."""
    best = None
    ranges = [range(len(profits)) for profits, _ in groups]
    # The last group counts most in the order.
    for backwards in itertools.product(*reversed(ranges)):
        choice = backwards[::-1]
        weight = np.zeros(len(capacities), np.int64)
        for (_, weights), option in zip(groups, choice, strict=True):
            weight += np.reshape(weights, (-1, len(capacities)))[option]
        fits = (weight == capacities).all() if exact_fill else (weight <= capacities).all()
        value = sum(int(p[option]) for (p, _), option in zip(groups, choice, strict=True))
        if fits and (best is None or value > best[0]):
            best = value, choice
    return best


def as_groups(profits, weights):
    return [
        ([0, p], np.stack([np.zeros_like(w), w])) for p, w in zip(profits, weights, strict=True)
    ]


def around_break(profits, weights, capacity):
    """The order of the decisions of one budget."""
    plain = [
        i for i, (p, w) in enumerate(zip(profits, weights, strict=True)) if p > 0 < w <= capacity
    ]
    order = sorted(
        plain, key=lambda i: (-Fraction(int(profits[i]), int(weights[i])), weights[i], i)
    )
    middle = next(
        (k for k in range(len(order)) if weights[order[: k + 1]].sum() > capacity), len(order)
    )
    # Before the one at the same distance behind.
    outwards = sorted(range(len(order)), key=lambda k: (abs(k - middle), k))
    return [i for i in range(len(profits)) if i not in plain] + [order[k] for k in outwards]


def check(found, expected, items):
    assert found.optimal
    if expected is None:
        assert (found.value, found.bound, found.items) == (None, None, ())
        return
    value, choice = expected
    chosen = tuple(np.flatnonzero(choice).tolist()) if items else choice
    assert (found.value, found.bound, found.items) == (value, value, chosen)


@st.composite
def knapsacks(draw, least_profit=-2):
    budgets = draw(st.integers(1, 3))
    count = draw(st.integers(0, 8))
    top = draw(st.sampled_from([3, 12]))
    numbers = st.integers(0, top)
    profits = draw(st.lists(st.integers(least_profit, top), min_size=count, max_size=count))
    weights = [[draw(numbers) for _ in range(budgets)] for _ in range(count)]
    capacities = [draw(st.integers(0, 2 * top)) for _ in range(budgets)]
    factor = draw(st.sampled_from([1, 1, 3]))
    weights = factor * np.array(weights, np.int64).reshape(count, budgets)
    return np.array(profits, np.int64), weights, factor * np.array(capacities)


@st.composite
def choices(draw):
    budgets = draw(st.integers(1, 2))
    groups = []
    for _ in range(draw(st.integers(0, 4))):
        options = draw(st.integers(1, 5))
        profits = [draw(st.integers(-6, 6)) for _ in range(options)]
        weights = [[draw(st.integers(0, 6)) for _ in range(budgets)] for _ in range(options)]
        groups.append((profits, np.array(weights)))
    return groups, [draw(st.integers(0, 16)) for _ in range(budgets)]


@every_backend
@settings(max_examples=150, deadline=None)
@given(knapsacks(), st.booleans())
def test_items_are_those_of_brute_force(backend, instance, exact_fill):
    profits, weights, capacities = instance
    order = list(range(len(profits)))
    if len(capacities) == 1 and not exact_fill:
        order = around_break(profits, weights[:, 0], capacities[0])
    expected = brute_force(as_groups(profits[order], weights[order]), capacities, exact_fill)
    if expected is not None:
        expected = expected[0], np.array(expected[1], np.int64)[np.argsort(order)]
    options = {"exact_fill": exact_fill, "backend": backend}
    first = knapsack(profits, weights, capacities, first_choice=True, **options)
    check(first, expected, True)
    found = knapsack(profits, weights, capacities, **options)
    assert (found.value, found.bound, found.optimal) == (first.value, first.bound, True)
    if found.value is not None:
        taken = list(found.items)
        assert profits[taken].sum() == found.value
        assert (weights[taken].sum(axis=0) <= capacities).all()
    if len(capacities) > 1 or exact_fill:
        assert found.items == first.items


@every_backend
@settings(max_examples=150, deadline=None)
@given(choices(), st.booleans())
def test_options_are_those_of_brute_force(backend, instance, exact_fill):
    groups, capacities = instance
    expected = brute_force(groups, capacities, exact_fill)
    found = multiple_choice(groups, capacities, exact_fill=exact_fill, backend=backend)
    check(found, expected, False)


@every_backend
@settings(max_examples=30, deadline=None)
@given(knapsacks(), st.booleans())
def test_curve_holds_the_answer_for_all_capacities(backend, instance, exact_fill):
    profits, weights, capacities = instance
    curve = value_curve(profits, weights, capacities, exact_fill=exact_fill, backend=backend)
    points = list(np.ndindex(curve.values.shape))
    for point in points[:: max(1, len(points) // 7)]:
        expected = brute_force(as_groups(profits, weights), point, exact_fill)
        assert curve.feasible[point] == (expected is not None)
        if expected is not None:
            items = tuple(np.flatnonzero(expected[1]).tolist())
            assert (curve.values[point], curve.items(point)) == (expected[0], items)


@settings(max_examples=60, deadline=None)
@given(st.lists(knapsacks(), max_size=6), st.booleans())
def test_batch_is_as_single_ones(instances, exact_fill):
    for backend in BACKENDS:
        found = knapsack_batch(instances, exact_fill=exact_fill, backend=backend)
        for solution, instance in zip(found, instances, strict=True):
            for judge in BACKENDS:
                alone = knapsack(*instance, exact_fill=exact_fill, backend=judge)
                assert solution.value == alone.value
                assert solution.items == alone.items or judge != backend


@settings(max_examples=30, deadline=None)
@given(st.lists(choices(), max_size=5))
def test_batch_of_choices_is_as_single_ones(instances):
    found = multiple_choice_batch(instances)
    for solution, instance in zip(found, instances, strict=True):
        alone = multiple_choice(*instance, backend="reference")
        assert (solution.value, solution.items) == (alone.value, alone.items)


@pytest.mark.parametrize("options", [3, 7, 300])
def test_large_groups_agree_with_the_reference(options):
    rng = np.random.default_rng(options)
    groups = []
    for _ in range(6):
        weights = rng.integers(0, 400, options)
        groups.append((weights // 3 + rng.integers(0, 40, options), weights))
    for exact_fill in (False, True):
        found = multiple_choice(groups, 900, exact_fill=exact_fill, backend="cpu")
        judge = multiple_choice(groups, 900, exact_fill=exact_fill, backend="reference")
        assert (found.value, found.items) == (judge.value, judge.items)


@pytest.mark.parametrize("budgets", [1, 2])
def test_values_are_those_of_highs(budgets):
    rng = np.random.default_rng(budgets)
    weights = rng.integers(1, 41, (30, 4, budgets))
    profits = weights.sum(axis=2) + rng.integers(0, 21, (30, 4))
    capacities = weights.sum(axis=(0, 1)) // 5
    one_each = np.repeat(np.eye(30), 4, axis=1)
    columns = weights.reshape(120, budgets).T
    judge = milp(
        -profits.ravel(),
        integrality=np.ones(120),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(one_each, 1, 1), LinearConstraint(columns, ub=capacities)],
        options={"mip_rel_gap": 0},
    )
    found = multiple_choice(list(zip(profits, weights, strict=True)), capacities)
    assert found.value == round(-judge.fun)


def test_auto_starts_a_device_for_large_tables_only(monkeypatch):
    real = dispatch.module
    monkeypatch.setattr(dispatch, "module", lambda package, name: real(package, "cpu"))
    monkeypatch.setattr(backends, "unavailable", lambda name: None)
    monkeypatch.setattr(backends.Row, "is_installed", lambda row: True)
    rng = np.random.default_rng(0)
    arguments = rng.integers(1, 90, 20), rng.integers(1, 9, (20, 2)), [30, 20]
    small = knapsack(*arguments)
    assert small.backend == "cpu"
    monkeypatch.setattr(table, "AUTO_CELLS", 1)
    large = knapsack(*arguments)
    assert (large.backend, large.items) == ("cuda", small.items)
    assert knapsack(*arguments, backend="cpu").backend == "cpu"
    asked = []
    monkeypatch.setattr(dispatch, "operations", lambda _, name: asked.append(name) or cpu)
    value_curve(*arguments)
    monkeypatch.setattr(backends, "unavailable", lambda name: {"cuda": "there is none"}.get(name))
    value_curve(*arguments)
    assert asked == ["cuda", "cpu"]
    assert knapsack(*arguments).backend == "cpu"


@every_backend
def test_published_cases(backend):
    found = knapsack([3, 5, 8, 10], [3, 5, 8, 10], 12, backend=backend)
    assert (found.value, found.items) == (11, (0, 2))
    copies = {1850000: 2, 120000: 12, 30000: 10, 1800: 6, 1250: 4, 400: 2}
    volumes = np.repeat(list(copies), list(copies.values()))
    unit = 1 if backend == "cpu" else 50
    found = knapsack(volumes // unit, volumes // unit, 3690000 // unit, backend=backend)
    assert found.value * unit == 3606600
    volumes = random_1()
    assert knapsack(volumes, volumes, 10**9).value == 530621875
    # Adding the profit to the state itself, not to the one in front of the item, gives 2.
    assert knapsack([1, 1], [[1, 1], [1, 1]], [1, 1], backend=backend).value == 1
    # Taking an item where leaving it is as good gives the second one.
    assert knapsack([4, 4], [[2, 2], [2, 2]], [3, 3], backend=backend).items == (0,)
    items = [11, 11, 3, 4], [[4, 8], [4, 1], [1, 2], [6, 3]], [10, 10]
    assert knapsack(*items, backend=backend).items == (0, 1)
    groups = [
        ([-13, -17, 0], [[3, 7], [2, 2], [8, 2]]),
        ([-15, -7, -1], [[3, 5], [2, 7], [4, 1]]),
    ]
    found = multiple_choice(groups, [10, 10], backend=backend)
    assert (found.value, found.items) == (-7, (2, 1))


@every_backend
def test_halving_gives_the_same_items(backend):
    weights = np.random.default_rng(5).integers(1, 60, 600)
    target = 1501
    limit = {"cpu": 90_000, "reference": 300_000}[backend]
    judge = knapsack(weights, weights, target, exact_fill=True, backend=backend)
    assert (judge.path, judge.value) == ("dense", target)
    found = knapsack(weights, weights, target, exact_fill=True, backend=backend, memory_limit=limit)
    assert (found.path, found.items) == ("dense, items by halving", judge.items)
    curve = value_curve(weights, weights, target, backend=backend, memory_limit=limit)
    whole = value_curve(weights, weights, target, backend=backend)
    assert curve.items(1400) == whole.items(1400)


def test_memory_is_refused_with_numbers():
    with pytest.raises(LimitExceeded, match=r"table of 1000000000001 states needs \d+ bytes"):
        value_curve([1], [1], 10**12)
    with pytest.raises(LimitExceeded, match="the limit is 10"):
        knapsack([2, 3], [2, 3], 4, exact_fill=True, memory_limit=10, backend="reference")


def test_without_time_a_table_need_not_fit():
    weights = np.array([3, 5, 7]) * 10**15
    problem = [2, 4, 6], np.stack([weights, weights[::-1] + 1], axis=1), [10**16, 2 * 10**16]
    with pytest.raises(LimitExceeded):
        knapsack(*problem, backend="reference")
    found = knapsack(*problem, backend="reference", time_limit=0)
    assert found.value <= found.bound


def test_capacity_beyond_memory_is_no_matter_where_lists_do():
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 10**12, 60)
    profits = rng.integers(1, 10**12, 60)
    found = knapsack(profits, weights, int(weights.sum()) // 2, backend="cpu")
    assert (found.path, found.optimal) == ("core", True)
    assert weights[list(found.items)].sum() <= weights.sum() // 2


@pytest.mark.parametrize("seed", range(5))
def test_products_beyond_64_bits(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1 << 40, 1 << 55, 12)
    profits = weights + rng.integers(1, 1 << 42, 12)
    capacity = int(weights.sum()) // 2
    order = around_break(profits, weights, capacity)
    value, choice = brute_force(as_groups(profits[order], weights[order]), [capacity])
    found = knapsack(profits, weights, capacity)
    assert (found.path, found.value) == ("core", value)
    assert found.items == tuple(sorted(np.array(order)[np.flatnonzero(choice)].tolist()))


@pytest.mark.parametrize("kind", ["subset sum", "strongly"])
def test_lists_that_grow_too_long_give_way_to_a_table(kind):
    rng = np.random.default_rng(8)
    weights = rng.integers(1, 201, 300)
    profits = weights + (100 if kind == "strongly" else 0)
    capacity = int(weights.sum()) // 2
    whole = knapsack(profits, weights, capacity, first_choice=True)
    found = knapsack(profits, weights, capacity, first_choice=True, memory_limit=2_000_000)
    assert (found.value, found.items) == (whole.value, whole.items)
    assert found.path != whole.path or kind == "strongly"


@every_backend
def test_time_limit_gives_a_choice_and_a_bound(backend):
    rng = np.random.default_rng(3)
    weights = rng.integers(1, 50, (30, 2))
    profits = weights.sum(axis=1) + 10
    best = knapsack(profits, weights, [300, 300], backend=backend)
    found = knapsack(profits, weights, [300, 300], backend=backend, time_limit=0)
    assert found.path == "greedy"
    assert found.value <= best.value <= found.bound < profits.sum()
    assert (weights[list(found.items)].sum(axis=0) <= 300).all()
    assert profits[list(found.items)].sum() == found.value


@settings(max_examples=300, deadline=None)
@given(choices(), st.booleans())
def test_enumeration_is_brute_force(instance, exact_fill):
    groups, capacities = instance
    problem = of_groups(groups, capacities, exact_fill)
    if not problem.stages:
        return
    found = enumeration.solve(problem)
    expected = brute_force(groups, capacities, exact_fill)
    assert (None if found is None else tuple(found.tolist())) == (expected and expected[1])


def test_lists_that_grow_too_long_leave_a_good_choice():
    rng = np.random.default_rng(4)
    improved = 0
    for count in (20, 60, 400):
        weights = rng.integers(1, 10**6, count)
        profits, capacity = weights + 10**5, int(weights.sum()) // 2
        problem = of_items(profits, weights, capacity, False)
        relaxation = relax(problem)
        simple = problem.value(greedy(problem, relaxation))
        for memory in (1000, 30_000, 1_000_000):
            answer = core.solve([problem], memory, cpu, 1 << 40, None)[0]
            weight = int(problem.weights[problem.starts[:-1] + answer.choices].sum())
            assert weight <= capacity
            assert problem.value(answer.choices) == answer.value <= relaxation.bound
            improved += answer.value > simple
    assert improved > 3


@every_backend
def test_edges(backend):
    assert knapsack([], [], 5, backend=backend).value == 0
    assert knapsack([], [], 5, exact_fill=True, backend=backend).value is None
    assert knapsack([5, 6], [1, 2], 0, backend=backend).value == 0
    assert knapsack([5, 6], [0, 2], 0, backend=backend).items == (0,)
    assert knapsack([5, 6], [9, 2**62 - 1], 4, backend=backend).items == ()
    assert multiple_choice([([1], [5])], 4, backend=backend).value is None
    assert multiple_choice([], [4, 4], backend=backend).value == 0
    assert knapsack_batch([], backend=backend) == []
    assert choice_curve([([0, 2], [1, 2])], 2, backend=backend).feasible.tolist() == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1], [-1], 1), "weight -1: must be from 0 up"),
        (([1], [1], -1), "capacity = -1"),
        (([1], [1], 2**62), "capacity = 4611686018427387904"),
        (([1], [1], []), "must be one or more"),
        (([1, 2], [1], 1), r"weights of shape \(1,\)"),
        (([1], [[1, 2]], 1), r"weights of shape \(1, 2\)"),
        (([1], [[]], 1), r"weights of shape \(1, 0\)"),
        (([2**60, 2**60], [1, 1], 1), "add up to 2305843009213693952"),
        (([2**70], [1], 1), "of type object"),
        (([[1]], [1], 1), "must have 1 dimension$"),
        (([1], [True], 1), "weights of type bool"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ParameterError, match=message):
        knapsack(*arguments)


def test_bad_options_are_named():
    with pytest.raises(ParameterError, match="instance 0: must be profits, weights and capacities"):
        knapsack_batch([([1], [1])])
    with pytest.raises(ParameterError, match="instance 0: must be groups and capacities"):
        multiple_choice_batch([3])
    with pytest.raises(ParameterError, match="groups = 7"):
        multiple_choice(7, 3)
    for seconds in (-1, "1", 10**400, math.nan):
        with pytest.raises(ParameterError, match=f"time_limit = {seconds!r}: must be seconds from"):
            knapsack([1], [1], 1, time_limit=seconds)
    for memory in (-1, 1.5e6, 1 << 70):
        with pytest.raises(ParameterError, match=f"memory_limit = {memory}: must be"):
            knapsack([1], [1], 1, memory_limit=memory)
    with pytest.raises(ParameterError, match="group 1 with 0 options"):
        multiple_choice([([1], [1]), ([], [])], 1)
    with pytest.raises(ParameterError, match="must be a pair"):
        multiple_choice([([1], [1], [1])], 1)
    with pytest.raises(ParameterError, match="backend = 'gpu'"):
        knapsack([1], [1], 1, backend="gpu")
    curve = value_curve([1], [1], 1)
    with pytest.raises(ParameterError, match="capacities = 2"):
        curve.items(2)
    with pytest.raises(ParameterError, match="no choice is feasible"):
        value_curve([1], [2], 1, exact_fill=True).items(1)


def test_quick_choices_fit_and_come_near_the_bound():
    rng = np.random.default_rng(11)
    for capacities in (1, 2):
        for _ in range(20):
            groups = []
            for _ in range(30):
                weights = np.sort(rng.integers(1, 10_000, (10, capacities)), axis=0)
                profits = (weights.sum(axis=1) ** 0.7 * rng.uniform(50, 500)).astype(np.int64)
                groups.append((profits, weights))
            limits = [int(rng.uniform(0.3, 0.7) * 30 * 10_000) for _ in range(capacities)]
            problem = of_groups(groups, limits, False)
            relaxation = relax(problem)
            choices = greedy(problem, relaxation)
            chosen = problem.starts[:-1] + choices
            assert (problem.weights[chosen].sum(axis=0) <= limits).all()
            if capacities == 1:
                assert problem.value(choices) >= 0.998 * relaxation.bound


def test_batches_come_from_any_iterable():
    one, two = ([3, 4], [1, 2], 2), ([5], [1], 1)
    assert [s.value for s in knapsack_batch(iter([one, two]))] == [4, 5]
    groups = [([1, 6], [0, 2]), ([2, 3], [1, 1])]
    assert [s.value for s in multiple_choice_batch(iter([(groups, 3), (groups, 1)]))] == [9, 4]
    for batch in (knapsack_batch, multiple_choice_batch):
        with pytest.raises(ParameterError, match="instances = 5: must be a sequence"):
            batch(5)


def test_arrays_without_dimensions_and_with_masks():
    assert knapsack([1, 2], [1, 1], np.array(1)).items == (1,)
    masked = np.ma.array([5, 9], mask=[False, True])
    with pytest.raises(ParameterError, match="profits: masked arrays are not supported"):
        knapsack(masked, [1, 1], 5)
    with pytest.raises(ParameterError, match="weights: masked arrays are not supported"):
        knapsack([5, 9], masked, 5)


@pytest.mark.parametrize("bits", range(28, 36))
def test_products_around_64_bits(bits):
    """The lists compare profits by weights, in whole or shifted so that they fit."""
    rng = np.random.default_rng(bits)
    for _ in range(30):
        weights = rng.integers(1, 1 << bits, 10)
        profits = weights + rng.integers(0, 1 << (bits // 2), 10)
        capacity = int(weights.sum()) // 2
        assert knapsack(profits, weights, capacity).value == best_value(profits, weights, capacity)


def test_bounds_count_what_the_reduction_settles():
    rng = np.random.default_rng(3)
    groups = [(rng.integers(1, 50, 6), rng.integers(1, 30, 6)) for _ in range(12)]
    groups.append(([1000], [0]))
    best = multiple_choice(groups, 150)
    cut = multiple_choice(groups, 150, time_limit=0)
    assert best.optimal
    assert cut.value <= best.value <= cut.bound
