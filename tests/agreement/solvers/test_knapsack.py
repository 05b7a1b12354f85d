"""The tables of cpu and cuda are those of the reference: values, and the choices of any state."""

import numpy as np
import pytest

from mmpcodec.solvers import dispatch, knapsack
from mmpcodec.solvers.knapsack import reference
from mmpcodec.solvers.knapsack.bounds import peak
from mmpcodec.solvers.knapsack.problem import of_groups, of_items

BACKENDS = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
every_backend = pytest.mark.parametrize("backend", BACKENDS)
every_budget = pytest.mark.parametrize("budgets", [1, 2, 3])
every_fill = pytest.mark.parametrize("exact_fill", [False, True])
every_kind = pytest.mark.parametrize("kind", ["items", "groups", "wide items", "wide groups"])

SHAPES = {1: (700,), 2: (45, 33), 3: (9, 14, 11)}
"""Capacities up to which problems are made."""
HEAVIEST = {1: 300, 2: 25, 3: 8}
"""Weights are below; with several budgets some are too heavy."""


def operations(backend):
    return dispatch.operations("mmpcodec.solvers.knapsack", backend)


def random_problem(rng, kind, budgets, exact_fill, stages=None):
    """Weights of 0, profits below 0 and, where ``wide``, beyond 32 bits."""
    stages = int(rng.integers(1, 10)) if stages is None else stages
    capacities = [int(rng.integers(0, most + 1)) for most in SHAPES[budgets]]
    # With profits of few values many choices tie.
    most = 1 << 50 if "wide" in kind else int(rng.choice([4, 60]))
    heaviest = HEAVIEST[budgets]
    if "items" in kind:
        profits = rng.integers(-most // 4, most, stages)
        weights = rng.integers(0, heaviest, (stages, budgets))
        return of_items(profits, weights, capacities, exact_fill, False)
    groups = []
    for _ in range(stages):
        options = int(rng.choice([1, 2, 3, 9]))
        weights = rng.integers(0, heaviest, (options, budgets))
        if rng.random() < 0.5:
            weights[0] = 0
        groups.append((rng.integers(-most, most, options), weights))
    return of_groups(groups, capacities, exact_fill)


def assert_same_tables(problem, backend, rng, states=6):
    """Two sweeps and traces through both, beside the reference."""
    operation = operations(backend)
    middle = int(rng.integers(0, problem.stages + 1))
    expected, found = reference.start_row(problem), operation.start_row(problem)
    parts = []
    for first, last in ((0, middle), (middle, problem.stages)):
        before, front = operation.host_row(found), found
        expected, judge = reference.sweep(problem, first, last, expected, True)
        found, decisions = operation.sweep(problem, first, last, found, True)
        for part, again in zip(before, operation.host_row(front), strict=True):
            np.testing.assert_array_equal(part, again)
        parts.append((first, last, judge, decisions))
    values, feasible = reference.host_row(expected)
    np.testing.assert_array_equal(operation.host_row(found)[0], values)
    np.testing.assert_array_equal(operation.host_row(found)[1], feasible)
    plain, nothing = operation.sweep(
        problem, 0, problem.stages, operation.start_row(problem), False
    )
    assert nothing is None
    np.testing.assert_array_equal(operation.host_row(plain)[0], values)
    places = np.flatnonzero(feasible)
    for end in rng.choice(places, min(states, len(places)), replace=False).tolist():
        assert operation.value_at(found, end) == reference.value_at(expected, end)
        wanted, choices = np.full((2, problem.stages), -1)
        place = state = end
        for first, last, judge, decisions in reversed(parts):
            place = reference.trace(problem, first, last, judge, place, wanted)
            state = operation.trace(problem, first, last, decisions, state, choices)
            assert state == place
        np.testing.assert_array_equal(choices, wanted)
    for end in np.flatnonzero(~feasible)[:2].tolist():
        assert operation.value_at(found, end) is None


@every_backend
@every_kind
@every_budget
@every_fill
def test_tables(backend, kind, budgets, exact_fill):
    rng = np.random.default_rng(budgets)
    for _ in range(8):
        assert_same_tables(random_problem(rng, kind, budgets, exact_fill), backend, rng)


@every_backend
@pytest.mark.parametrize("stages", [1, 2, 3, 31, 32, 33, 64, 65, 130])
def test_any_number_of_stages(backend, stages):
    rng = np.random.default_rng(stages)
    for kind in ("items", "groups"):
        assert_same_tables(random_problem(rng, kind, 1, False, stages), backend, rng, 3)


@every_backend
@pytest.mark.parametrize("capacity", [0, 30, 31, 32, 127, 128, 4095, 4096, 140_000])
def test_any_number_of_states(backend, capacity):
    rng = np.random.default_rng(capacity)
    profits, weights = rng.integers(1, 99, 9), rng.integers(0, capacity // 3 + 2, 9)
    assert_same_tables(of_items(profits, weights, capacity, False, False), backend, rng, 3)


@every_backend
@pytest.mark.parametrize("shape", [(700, 300), (3, 20_000), (20_000, 3), (40, 1, 900), (0, 0, 9)])
def test_tables_of_many_blocks(backend, shape):
    rng = np.random.default_rng(shape)
    weights = np.stack([rng.integers(0, most // 2 + 2, 11) for most in shape], axis=1)
    problem = of_items(rng.integers(1, 99, 11), weights, shape, False, False)
    assert_same_tables(problem, backend, rng, 3)


@every_backend
@every_fill
def test_many_options(backend, exact_fill):
    rng = np.random.default_rng(9)
    groups = []
    for options in (300, 1, 2, 257, 256, 2, 2, 1000):
        weights = rng.integers(0, 400, (options, 1))
        groups.append((weights[:, 0] // 3 + rng.integers(0, 40, options), weights))
    assert_same_tables(of_groups(groups, 1500, exact_fill), backend, rng)


@every_backend
def test_options_that_never_fit_and_those_that_tie(backend):
    rng = np.random.default_rng(2)
    profits = [5, 5, -3, 0, 7, 2**40, 2, 2]
    weights = [[3, 0], [3, 0], [0, 0], [1, 1], [0, 0], [2**61, 1], [1, 30], [0, 9]]
    for exact_fill in (False, True):
        problem = of_items(profits, weights, [6, 9], exact_fill, False)
        assert_same_tables(problem, backend, rng, 20)


@every_backend
@pytest.mark.parametrize("budgets", [1, 2])
def test_values_that_just_fit_in_32_bits(backend, budgets):
    rng = np.random.default_rng(budgets)
    weights = rng.integers(0, 500, (30, budgets)) + 100
    profits = weights[:, 0] * 890_000 + rng.integers(0, 1000, 30)
    groups = [([0, p, p // 2], [0 * w, w, w // 2]) for p, w in zip(profits, weights, strict=True)]
    for problem in (
        of_items(profits, weights, [600] * budgets, False, False),
        of_groups(groups, [600] * budgets, False),
    ):
        assert peak(problem) < 1 << 29 < problem.magnitude
        assert peak(problem) > 500_000_000
        assert operations(backend).value_bytes(problem) == 4
        assert_same_tables(problem, backend, rng)


@every_backend
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("magnitude", [(1 << 29) - 1, 1 << 29, 1 << 30])
def test_states_out_of_reach_beside_the_largest_profits(backend, sign, magnitude):
    """What stands for no choice gains as much as any choice and must not be taken for one."""
    profits = sign * (magnitude // 2), sign * (magnitude - magnitude // 2)
    groups = [([profit - sign, profit], [2, 0]) for profit in profits]
    curve = knapsack.choice_curve(groups, 5, exact_fill=True, backend=backend)
    assert curve.feasible.tolist() == [True, False, True, False, True, False]
    largest = sign * magnitude
    assert curve.values.tolist() == [largest, 0, largest - sign, 0, largest - 2 * sign, 0]
    problem = of_groups(groups, 5, True)
    assert_same_tables(problem, backend, np.random.default_rng(magnitude))
    assert (operations(backend).value_bytes(problem) == 4) == (magnitude < 1 << 29)


@every_backend
@every_budget
@every_fill
@pytest.mark.parametrize("memory", [0, 1 << 40])
def test_many_problems_at_once(backend, budgets, exact_fill, memory):
    rng = np.random.default_rng(budgets)
    kinds = ["items", "groups", "wide items"]
    problems = [random_problem(rng, str(rng.choice(kinds)), budgets, exact_fill) for _ in range(70)]
    problems.append(of_items([], np.zeros((0, budgets)), [3] * budgets, exact_fill, False))
    # With next to no memory each is swept by itself.
    expected = reference.solve_many(problems, memory)
    found = operations(backend).solve_many(problems, memory)
    for (value, choices), (other, others) in zip(expected, found, strict=True):
        assert value == other
        np.testing.assert_array_equal(choices, others)
    assert None in [value for value, _ in found]


def pisinger(rng, count):
    """Profits and weights that differ by little, where many choices are as good."""
    weights = rng.integers(1, 200, count)
    return weights + 20, weights


@every_backend
def test_solutions(backend):
    rng = np.random.default_rng(4)
    for count in (5, 40):
        profits, weights = pisinger(rng, count)
        pairs = np.stack([weights, weights[::-1] % 7], axis=1)
        groups = [(part, part // 2) for part in rng.integers(0, 60, (count, 4))]
        calls = [
            (knapsack.knapsack, (profits, weights, int(weights.sum()) // 2)),
            (knapsack.knapsack, (profits, pairs, [400, 60])),
            (knapsack.multiple_choice, (groups, 15 * count)),
            (knapsack.multiple_choice, ([(p, pairs[:4]) for p, _ in groups], [500, 70])),
        ]
        for function, arguments in calls:
            for exact_fill in (False, True):
                judge = function(*arguments, exact_fill=exact_fill, backend="reference")
                first = {"first_choice": True} if function is knapsack.knapsack else {}
                found = function(*arguments, exact_fill=exact_fill, backend=backend, **first)
                assert (found.value, found.items) == (judge.value, judge.items)
                assert found.optimal


@every_backend
def test_batches(backend):
    rng = np.random.default_rng(6)
    instances = []
    for count in rng.integers(0, 30, 40).tolist():
        profits, weights = pisinger(rng, count)
        pairs = np.stack([weights, weights % 5], axis=1)
        instances.append((profits, weights, int(weights.sum()) // 3))
        instances.append((profits, pairs, [count * 20, count]))
    found = knapsack.knapsack_batch(instances, first_choice=True, backend=backend)
    some = knapsack.knapsack_batch(instances, backend=backend)
    others = knapsack.knapsack_batch(instances, backend="cpu")
    for solution, one, other, instance in zip(found, some, others, instances, strict=True):
        judge = knapsack.knapsack(*instance, backend="reference")
        assert (solution.value, solution.items) == (judge.value, judge.items)
        assert (one.value, one.items) == (judge.value, other.items)


@every_backend
@every_fill
def test_curves(backend, exact_fill):
    rng = np.random.default_rng(7)
    weights = rng.integers(0, 9, (14, 2))
    arguments = rng.integers(-3, 30, 14), weights, [40, 31]
    judge = knapsack.value_curve(*arguments, exact_fill=exact_fill, backend="reference")
    found = knapsack.value_curve(*arguments, exact_fill=exact_fill, backend=backend)
    np.testing.assert_array_equal(found.values, judge.values)
    np.testing.assert_array_equal(found.feasible, judge.feasible)
    for place in rng.choice(np.flatnonzero(judge.feasible), 12).tolist():
        point = tuple(int(i) for i in np.unravel_index(place, judge.values.shape))
        assert found.items(point) == judge.items(point)


@every_backend
def test_items_by_halving(backend):
    rng = np.random.default_rng(8)
    weights = rng.integers(1, 40, (200, 2))
    arguments = weights.sum(axis=1), weights, [150, 170]
    judge = knapsack.knapsack(*arguments, exact_fill=True, backend=backend)
    assert judge.path == "dense"
    for memory in (740_000, 690_000):
        found = knapsack.knapsack(*arguments, exact_fill=True, backend=backend, memory_limit=memory)
        assert found.path == "dense, items by halving"
        assert (found.value, found.items) == (judge.value, judge.items)


@every_backend
def test_choices_that_meet_their_bound(monkeypatch, backend):
    monkeypatch.setattr("mmpcodec.solvers.knapsack.counting.LARGE_CELLS", 0)
    monkeypatch.setattr("mmpcodec.solvers.knapsack.core.SHORT_STATES", 4)
    rng = np.random.default_rng(11)
    for count in (20, 90, 400):
        profits, weights = pisinger(rng, count)
        arguments = profits, weights, int(weights.sum()) // 2
        judge = knapsack.knapsack(*arguments, first_choice=True, backend="cpu")
        found = knapsack.knapsack(*arguments, first_choice=True, backend=backend)
        assert (found.path, found.items) == ("bound", judge.items)
        assert found.value == knapsack.knapsack(*arguments, backend="reference").value


@every_backend
def test_runs_are_equal(backend):
    rng = np.random.default_rng(10)
    weights = rng.integers(1, 90, (30, 2))
    arguments = weights.sum(axis=1), weights, [600, 500]
    first = knapsack.knapsack(*arguments, backend=backend)
    for _ in range(30):
        assert knapsack.knapsack(*arguments, backend=backend).items == first.items


@pytest.mark.gpu
@every_budget
def test_64_bits_for_states(monkeypatch, budgets):
    monkeypatch.setattr("mmpcodec.solvers.knapsack.cuda.MAX_INDEX", 1)
    rng = np.random.default_rng(budgets)
    for kind in ("items", "groups", "wide groups"):
        assert_same_tables(random_problem(rng, kind, budgets, False), "cuda", rng)


@pytest.mark.gpu
def test_states_beyond_32_bits():
    operation = operations("cuda")
    capacity = (1 << 31) + 70
    weights = [1 << 31, 64, 1 << 30, (1 << 30) + 3]
    problem = of_items([10, 3, 5, 6], weights, capacity, False, False)
    if operation.free_bytes() < 40 << 30:
        pytest.skip("three rows of 2**31 states need 40 GiB on the device")
    choices = np.zeros(4, np.int64)
    row, decisions = operation.sweep(problem, 0, 4, operation.start_row(problem), True)
    assert operation.value_at(row, capacity) == 14
    assert operation.trace(problem, 0, 4, decisions, capacity, choices) == 3
    assert choices.tolist() == [0, 1, 1, 1]
    assert operation.value_at(row, (1 << 31) + 2) == 10
    operation.trace(problem, 0, 4, decisions, (1 << 31) + 2, choices)
    assert choices.tolist() == [1, 0, 0, 0]
