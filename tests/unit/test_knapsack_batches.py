"""Batches of knapsacks: read at once as one by one, and cut into shares for a device."""

from dataclasses import fields
from itertools import chain

import numpy as np
import pytest

from mmpcodec import ParameterError
from mmpcodec.solvers.knapsack import cuda, knapsack, knapsack_batch
from mmpcodec.solvers.knapsack.problem import Problem, of_items, of_many_items

PROPERTIES = "options", "most_options", "shape", "states", "bits", "magnitude", "peak", "cells"


def instances_of(rng, budgets, number):
    """Weights of 0 and above capacities, profits below 0."""
    instances = []
    for count in rng.integers(0, 9, number).tolist():
        profits = rng.integers(-9, 40, count)
        weights = rng.integers(0, 30, (count, budgets))
        instances.append((profits, weights, rng.integers(0, 25, budgets).tolist()))
    return instances


def assert_as_one_by_one(instances, exact_fill):
    found = of_many_items(instances, exact_fill)
    for problem, instance in zip(found, instances, strict=True):
        alone = of_items(*instance, exact_fill)
        names = [field.name for field in fields(Problem)]
        for name in (*names, *PROPERTIES):
            one, other = getattr(problem, name), getattr(alone, name)
            assert type(one) is type(other)
            np.testing.assert_array_equal(one, other, strict=isinstance(other, np.ndarray))


def types_of(rng):
    """Of all types that are taken, with and without a column for the only capacity."""
    instances = []
    for kind in ("int8", "uint16", "int32", "uint32", "int64", "uint64"):
        profits, weights = rng.integers(0, 40, 6).astype(kind), rng.integers(0, 30, 6).astype(kind)
        instances += [(profits, weights, 40), (profits.tolist(), weights[:, None], np.array([30]))]
    return instances


@pytest.mark.parametrize("exact_fill", [False, True])
@pytest.mark.parametrize("budgets", [1, 2, 3])
def test_read_at_once_is_as_one_by_one(monkeypatch, budgets, exact_fill):
    rng = np.random.default_rng(budgets)
    instances = instances_of(rng, budgets, 40)
    assert_as_one_by_one(instances, exact_fill)
    mixed = instances + instances_of(rng, 1, 5) + instances_of(rng, 2, 5)
    assert_as_one_by_one([mixed[i] for i in rng.permutation(len(mixed))], exact_fill)
    empty = np.zeros(0, np.int64), np.zeros((0, budgets), np.int64), [3] * budgets
    assert_as_one_by_one([empty] * 3, exact_fill)
    # All of these are plain.
    monkeypatch.setattr("mmpcodec.solvers.knapsack.problem.of_items", None)
    assert len(of_many_items(mixed, exact_fill)) == 50


def test_types_and_sums_that_are_not_plain():
    rng = np.random.default_rng(1)
    plain = instances_of(rng, 1, 3)
    for instance in types_of(rng):
        assert_as_one_by_one([*plain, instance], False)
    for instance in (([], [], 5), ([2**60], [1], 1), ([-(2**60), 2**60 - 1], [1, 2**61], 2**61)):
        assert_as_one_by_one([*plain, instance, *plain], False)
    # No sum of one problem is too large, only that of all.
    assert_as_one_by_one([([2**60], [1], 1)] * 4, True)
    assert of_many_items([], False) == []


WRONG = [
    ([1.5], [1], 1),
    ([True], [1], 1),
    ([1], [True], 1),
    ([1], [0.5], 1),
    ([1], [-1], 1),
    ([1], [2**62], 1),
    ([2**62], [1], 1),
    ([1], [1], -1),
    ([1], [1], 1.0),
    ([1], [1], []),
    ([1, 2], [1], 1),
    ([1], [[1, 2]], 1),
    ([1], [[]], 1),
    ([2**60, 2**60], [1, 1], 1),
    ([2**70], [1], 1),
    ([[1]], [1], 1),
    (1, 1, 1),
    (np.ma.array([5], mask=[True]), [1], 5),
]


@pytest.mark.parametrize("instance", WRONG)
def test_the_first_wrong_instance_is_named(instance):
    with pytest.raises(ParameterError) as alone:
        knapsack(*instance)
    batch = [([3, 4], [1, 2], 2)] * 99
    for behind in ([], *([other] for other in WRONG)):
        with pytest.raises(ParameterError) as found:
            knapsack_batch([*batch, instance, *batch, *behind])
        assert str(found.value) == str(alone.value)


def shares(monkeypatch, problems, cells, memory=1 << 40, rounds=1, teams=1):
    monkeypatch.setattr(cuda, "SHARE_CELLS", cells)
    monkeypatch.setattr(cuda, "ROUNDS", rounds)
    monkeypatch.setattr(cuda, "_teams", lambda *_: (teams, 1))
    return list(cuda._shares(problems, memory))


def problem_of(count, capacity):
    return of_items(np.ones(count, int), np.ones((count, 2), int), [capacity, 3], False)


def test_shares_of_one_size(monkeypatch):
    problems = [problem_of(5, 9) for _ in range(12)]
    cells = problems[0].cells
    for limit, sizes in (
        (12 * cells, [12]),
        (12 * cells - 1, [11, 1]),
        (4 * cells, [4, 4, 4]),
        (5 * cells + 1, [5, 5, 2]),
        (0, [1] * 12),
    ):
        found = shares(monkeypatch, problems, limit)
        assert [len(some) for some in found] == sizes
        assert list(chain(*found)) == list(range(12))
    # Each team has so many problems, and memory sets a limit nevertheless.
    found = shares(monkeypatch, problems, 0, rounds=2, teams=3)
    assert [len(some) for some in found] == [6, 6]
    table = 3 * 4 * problems[0].states + 5 * cuda.plane_bytes(problems[0])
    found = shares(monkeypatch, problems, 0, memory=table, rounds=2, teams=3)
    assert [len(some) for some in found] == [1] * 12


def test_shares_of_mixed_sizes(monkeypatch):
    rng = np.random.default_rng(3)
    problems = [
        problem_of(int(count), int(capacity))
        for count, capacity in zip(rng.integers(0, 20, 90), rng.integers(0, 400, 90), strict=True)
    ]
    for limit in (0, 5000, 1 << 30):
        found = shares(monkeypatch, problems, limit, rounds=2)
        assert sorted(chain(*found)) == list(range(90))
        for some in found:
            states = [problems[place].states for place in some]
            assert states == sorted(states, reverse=True)
            assert states[-1] * cuda.SIMILAR >= states[0]
            assert len(some) <= 2 or sum(problems[place].cells for place in some) <= limit
