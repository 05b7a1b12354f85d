"""Copies of items and limits of their number: brute force over all counts as the judge."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from mmpcodec import ParameterError
from mmpcodec.solvers.knapsack import Status, knapsack, knapsack_batch

BACKENDS = ["cpu", "reference"]
every_backend = pytest.mark.parametrize("backend", BACKENDS)
TOP = 9
"""Largest capacity of the problems that are drawn, so the most copies of an item that weighs."""


@st.composite
def problems(draw):
    """A problem and its options; every item without a limit of copies weighs."""
    budgets, count = draw(st.integers(1, 2)), draw(st.integers(0, 4))
    profits = [draw(st.integers(-3, 9)) for _ in range(count)]
    weights = [[draw(st.integers(0, 5)) for _ in range(budgets)] for _ in range(count)]
    capacities = [draw(st.integers(0, TOP)) for _ in range(budgets)]
    number = st.integers(0, 4)
    copies = draw(
        st.none() | number | st.lists(number | st.just(math.inf), min_size=count, max_size=count)
    )
    if isinstance(copies, list):
        copies = [4 if c == math.inf and not any(w) else c
                  for c, w in zip(copies, weights, strict=True)]  # fmt: skip
    options = {
        "copies": copies,
        "least_items": draw(st.none() | st.integers(0, 7)),
        "most_items": draw(st.none() | st.integers(0, 7)),
        "exact_fill": draw(st.booleans()),
    }
    return (profits, np.reshape(weights, (count, budgets)).astype(int), capacities), options


def best(profits, weights, capacities, copies, least_items, most_items, exact_fill):
    """The largest value, by trying all counts of all items; None if no choice is feasible."""
    copies = np.broadcast_to(1 if copies is None else copies, len(profits))
    ranges = [range(int(min(c, TOP)) + 1) for c in copies]
    every = list(itertools.product(*ranges))
    counts = np.array(every, int).reshape(len(every), len(profits))
    loads = counts @ weights
    good = (loads == capacities if exact_fill else loads <= capacities).all(axis=1)
    good &= counts.sum(axis=1) >= (least_items or 0)
    good &= counts.sum(axis=1) <= (math.inf if most_items is None else most_items)
    return max((counts @ np.array(profits, int))[good].tolist(), default=None)


def check(found, problem, options):
    """The value is the best one, and the choice has it and keeps all limits."""
    profits, weights, capacities = problem
    value = best(*problem, **options)
    assert (found.value, found.bound, found.optimal) == (value, value, True)
    assert found.status == (Status.INFEASIBLE if value is None else Status.OPTIMAL)
    assert list(found.items) == sorted(set(found.items))
    assert len(found.counts) == len(found.items)
    if value is None:
        assert found.items == ()
        return
    counts = np.zeros(len(profits), int)
    counts[list(found.items)] = found.counts
    assert all(count > 0 for count in found.counts)
    assert counts @ np.array(profits, int) == value
    load = counts @ weights
    assert (load == capacities if options["exact_fill"] else load <= capacities).all()
    copies = 1 if options["copies"] is None else options["copies"]
    assert (counts <= copies).all()
    assert (options["least_items"] or 0) <= counts.sum()
    assert options["most_items"] is None or counts.sum() <= options["most_items"]


@every_backend
@settings(max_examples=300, deadline=None)
@given(problems())
def test_value_of_all_counts(backend, drawn):
    problem, options = drawn
    check(knapsack(*problem, **options, backend=backend), problem, options)


@settings(max_examples=50, deadline=None)
@given(st.lists(problems(), max_size=5), st.booleans())
def test_batch_is_as_single_ones(drawn, exact_fill):
    instances = [problem for problem, _ in drawn]
    some = [options | {"exact_fill": exact_fill} for _, options in drawn]
    each = {
        name: [options[name] for options in some]
        for name in ("copies", "least_items", "most_items")
    }
    for backend in BACKENDS:
        found = knapsack_batch(instances, **each, exact_fill=exact_fill, backend=backend)
        alone = [
            knapsack(*problem, **options, backend=backend)
            for problem, options in zip(instances, some, strict=True)
        ]
        assert found == alone


@every_backend
def test_known_answers(backend):
    # Coins of 50, 20 and 10: 90 in the fewest coins is 50 + 20 + 20.
    coins = [50, 20, 10]
    found = knapsack([-1] * 3, coins, 90, copies=math.inf, exact_fill=True, backend=backend)
    assert (found.value, found.items, found.counts) == (-3, (0, 1), (1, 2))
    assert knapsack([7, 5, 5], [6, 5, 5], 10, backend=backend).counts == (1, 1)
    assert knapsack([4, 3], [3, 2], 7, copies=np.inf, backend=backend).value == 10
    found = knapsack([4, 3], [3, 2], 7, copies=[math.inf, 1], backend=backend)
    assert (found.value, found.items, found.counts) == (8, (0,), (2,))
    assert knapsack([5, 6], [1, 1], 9, copies=3.0, backend=backend).counts == (3, 3)
    assert knapsack([5, 6], [0, 0], 9, copies=math.inf, most_items=4, backend=backend).value == 24
    found = knapsack([-5, -6], [0, 9], 3, copies=math.inf, least_items=2, backend=backend)
    assert (found.value, found.items, found.counts) == (-10, (0,), (2,))


@every_backend
def test_numbers_of_units_that_cannot_be(backend):
    for options in ({"least_items": 3}, {"least_items": 2, "most_items": 1}):
        found = knapsack([5, 6], [1, 1], 9, **options, backend=backend)
        assert (found.status, found.items, found.bound) == ("infeasible", (), None)
    assert knapsack([5, 6], [5, 6], 9, least_items=2, backend=backend).status == "infeasible"
    assert knapsack([5], [1], 9, least_items=1, copies=0, backend=backend).status == "infeasible"
    found = knapsack_batch([([5], [1], 9), ([5], [1], 9)], least_items=[2, 1], backend=backend)
    assert [one.value for one in found] == [None, 5]


@pytest.mark.parametrize("limits", [(0, 12), (45, 100), (30, 30)])
@pytest.mark.parametrize("top", [1, 3])
def test_values_are_those_of_highs(limits, top):
    rng = np.random.default_rng(top)
    weights = rng.integers(1, 1000, 100)
    profits = weights + rng.integers(0, 200, 100)
    capacity = int(weights.sum()) // 4
    judge = milp(
        -profits,
        integrality=np.ones(100),
        bounds=Bounds(0, top),
        constraints=[
            LinearConstraint(weights, ub=capacity),
            LinearConstraint(np.ones(100), *limits),
        ],
        options={"mip_rel_gap": 0},
    )
    found = knapsack(
        profits, weights, capacity, copies=top, least_items=limits[0], most_items=limits[1]
    )
    assert (found.value, found.optimal) == (round(-judge.fun), True)
    assert limits[0] <= sum(found.counts) <= limits[1]


def test_unbounded_knapsack_of_a_plain_loop():
    rng = np.random.default_rng(5)
    weights, capacity = rng.integers(20, 60, 15), 700
    profits = weights + rng.integers(0, 9, 15)
    values = [0] * (capacity + 1)
    for room in range(1, capacity + 1):
        values[room] = max(
            [values[room - 1]]
            + [values[room - w] + p for p, w in zip(profits, weights, strict=True) if w <= room]
        )
    found = knapsack(profits, weights, capacity, copies=math.inf)
    assert found.value == values[-1]
    assert np.dot(weights[list(found.items)], found.counts) <= capacity


def test_large_capacities_take_few_pieces():
    found = knapsack([3, 5], [2, 3], 10**17, copies=math.inf)
    assert (found.value, found.optimal) == (166666666666666666, True)
    assert found.items == (0, 1)
    # Copies that lose do not count among the profits, which add up to less than 2**61.
    assert knapsack([-(2**40), 5], [1, 1], 2**40, copies=math.inf).value == 5 * 2**40
    assert np.dot([2, 3], found.counts) <= 10**17


def test_time_limit_keeps_the_limits():
    rng = np.random.default_rng(3)
    weights = rng.integers(1, 50, (30, 2))
    profits = weights.sum(axis=1) + 10
    more = {"copies": 3, "most_items": 9}
    whole = knapsack(profits, weights, [300, 300], **more)
    found = knapsack(profits, weights, [300, 300], **more, time_limit=0)
    assert found.value <= whole.value <= found.bound
    assert sum(found.counts) <= 9
    assert np.dot(found.counts, profits[list(found.items)]) == found.value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"copies": -1}, "copies = -1: must be from 0 to 4611686018427387903, or inf for as many"),
        ({"copies": [1, -1]}, r"copies\[1\] = -1: must be from 0 to .*, or inf for as many as fit"),
        ({"copies": [1, 0.5]}, r"copies\[1\] = 0.5: must be an integer"),
        ({"copies": [1, math.nan]}, r"copies\[1\] = nan: must be an integer"),
        ({"copies": 1.5}, "copies = 1.5: must be an integer"),
        ({"copies": [1]}, r"copies of shape \(1,\): must be one number, or 2"),
        ({"copies": [True, False]}, "copies of type bool: must be integers"),
        ({"copies": "many"}, "copies = 'many': must be an integer"),
        ({"least_items": -1}, "least_items = -1: must be from 0 to"),
        ({"most_items": 1.5}, "most_items = 1.5: must be an integer"),
        ({"copies": math.inf}, "item 1 of profit 6 and weight 0 without a limit of copies"),
        ({"copies": 2**61}, "times the copies that fit, add up to 13835058055282163747: must be"),
        ({"most_items": 2**62}, "most_items = 4611686018427387904: must be from 0 to"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ParameterError, match=message):
        knapsack([5, 6], [1, 0], 7, **options)


def test_more_units_than_numbers_hold():
    with pytest.raises(ParameterError, match="least_items = 1 of 6917529027641081856 units that"):
        knapsack([0] * 3, [0] * 3, 7, copies=2**61, least_items=1)
    assert knapsack([0] * 3, [0] * 3, 7, copies=2**61, most_items=1).value == 0


def test_options_of_a_batch_are_one_or_one_each():
    two = [([5], [1], 3)] * 2
    assert [one.value for one in knapsack_batch(two, copies=2)] == [10, 10]
    assert [one.value for one in knapsack_batch(two, copies=[[3], None])] == [15, 5]
    with pytest.raises(ParameterError, match="most_items for 3 instances: must be one for all or"):
        knapsack_batch(two, most_items=[1, 2, 3])
