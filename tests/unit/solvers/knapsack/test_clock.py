"""Knapsacks of huge tables: few choices need none, and the clock is looked at within a stage."""

import time
from importlib import import_module

import numpy as np
import pytest

from mmpcodec import LimitExceeded
from mmpcodec.solvers.knapsack import choice_curve, knapsack, multiple_choice, value_curve
from mmpcodec.solvers.knapsack.problem import of_items
from mmpcodec.solvers.limits import OutOfTime


def test_few_choices_need_no_table():
    weights = [270_000_000_001, 270_000_000_010, 270_000_000_100, 5, 270_000_001_000]
    found = knapsack([1, 2, 3, -4, 5], weights, sum(weights[1:4]), exact_fill=True)
    assert (found.value, found.items, found.path) == (1, (1, 2, 3), "enumeration")
    both = [[weight, 3 * 10**11 - weight] for weight in weights]
    sums = [sum(both[i][k] for i in (0, 4)) for k in (0, 1)]
    assert knapsack([1, 2, 3, -4, 5], both, sums, exact_fill=True).items == (0, 4)
    heaviest = (1 << 62) - 1
    many = [heaviest - k for k in range(20)]
    found = knapsack([1] * 20, many, heaviest - 7, exact_fill=True)
    assert found.items == (7,)
    # Without time nothing is tried.
    found = knapsack([1] * 20, many, heaviest - 7, exact_fill=True, time_limit=0)
    assert (found.value, found.optimal, found.path) == (None, False, "greedy")
    groups = [
        ([-756, -337], [[2, 441, 0], [33, 2, 2]]),
        ([-667, 168, -39], [[146, 1, 674], [1, 881, 0], [23, 1, 196]]),
        ([-136, -918], [[2, 306, 489], [530, 145, 916]]),
        ([-998], [[637, 789, 848]]),
        ([-874, 296, -741, 382], [[2, 0, 720], [835, 216, 694], [742, 287, 2], [1, 1, 0]]),
    ]
    found = multiple_choice(groups, [1497, 1783, 2567], exact_fill=True, memory_limit=0)
    assert (found.value, found.optimal, found.path) == (None, True, "enumeration")


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_clock_is_looked_at_within_a_stage(backend):
    operation = import_module(f"mmpcodec.solvers.knapsack.{backend}")
    problem = of_items([1], [[3, 5]], [1 << 14, 1 << 14], True)
    with pytest.raises(OutOfTime):
        operation.start_row(problem, time.monotonic() - 1)
    row = np.zeros(problem.states, np.int32 if backend == "cpu" else np.int64)
    with pytest.raises(OutOfTime):
        operation.sweep(problem, 0, 1, row, False, time.monotonic() + 0.02)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_curve_has_all_its_values_or_none(backend):
    weights = np.arange(1, 401)
    says = r"a curve of 16000800000 cells needs more than time_limit = 0.05 s"
    begin = time.monotonic()
    with pytest.raises(LimitExceeded, match=says):
        value_curve(weights, weights, 20_000_999, time_limit=0.05, backend=backend)
    assert time.monotonic() - begin < 2
    groups = [([0, 5], [0, 3])]
    with pytest.raises(LimitExceeded, match="cells needs more than time_limit = 0 s"):
        choice_curve(groups, 9, time_limit=0, backend=backend)
    assert choice_curve(groups, 9, time_limit=60, backend=backend).values[9] == 5


@pytest.mark.parametrize("memory", [None, 90_000])
def test_items_of_a_curve_are_found_after_its_time(memory):
    weights = np.random.default_rng(5).integers(1, 60, 600)
    curve = value_curve(weights, weights, 1501, time_limit=1, memory_limit=memory)
    time.sleep(1)
    assert curve.items(1400) == value_curve(weights, weights, 1501).items(1400)
