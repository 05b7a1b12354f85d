"""What a solution says of itself, and when two are equal."""

import numpy as np
import pytest

from mmpcodec.solvers.knapsack import (
    Solution,
    Status,
    knapsack,
    knapsack_batch,
    multiple_choice,
)


def test_status_follows_from_value_and_proof():
    assert knapsack([7, 5, 5], [6, 5, 5], 10).status is Status.OPTIMAL
    assert knapsack([], [], 1).status == "optimal"
    assert multiple_choice([([1], [9])], 8).status is Status.INFEASIBLE
    weights = np.random.default_rng(3).integers(1, 50, (30, 2))
    stopped = knapsack(weights.sum(axis=1) + 10, weights, [300, 300], time_limit=0)
    assert (stopped.status, stopped.optimal) == (Status.FEASIBLE, False)
    nothing = knapsack([1] * 30, list(range(9, 39)), 100, exact_fill=True, time_limit=0)
    assert (nothing.status, nothing.value) == (Status.UNKNOWN, None)


def test_solutions_are_equal_by_what_they_say():
    problem = [11, 11, 3, 4], [[4, 8], [4, 1], [1, 2], [6, 3]], [10, 10]
    found = [knapsack(*problem, backend=name) for name in ("cpu", "reference")]
    assert found[0] == found[1] == knapsack_batch([problem])[0]
    assert found[0].backend != found[1].backend
    assert len(set(found)) == 1
    assert found[0] != knapsack(*problem[:2], [10, 8])


@pytest.mark.parametrize(
    "other",
    [
        {"value": 9},
        {"items": (1,)},
        {"optimal": False},
        {"bound": 11},
    ],
)
def test_each_field_of_the_answer_counts(other):
    fields = {"value": 10, "items": (1, 2), "optimal": True, "bound": 10, "seconds": 0.1}
    one = Solution(**fields, path="core")
    assert one == Solution(**{**fields, "seconds": 2.0}, path="dense", backend="cpu")
    assert one != Solution(**{**fields, **other}, path="core")
