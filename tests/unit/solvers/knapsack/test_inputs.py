"""What profits, weights and capacities may be."""

import math

import numpy as np
import pytest

from mmpcodec import ParameterError
from mmpcodec.solvers.knapsack import (
    choice_curve,
    knapsack,
    knapsack_batch,
    multiple_choice,
    value_curve,
)

PROFITS, WEIGHTS, CAPACITIES = [11, 11, 3, 4], [[4, 8], [4, 1], [1, 2], [6, 3]], [10, 10]


@pytest.mark.parametrize(
    "kind",
    [
        lambda values: values,
        lambda values: np.array(values, float).tolist(),
        lambda values: tuple(map(tuple, values)) if np.ndim(values) == 2 else tuple(values),
        *(lambda values, t=t: np.array(values, t) for t in ("f2", "f4", "f8", ">f8", "u1", ">i2")),
    ],
)
def test_numbers_of_any_type_are_taken_alike(kind):
    profits, weights, capacities = kind(PROFITS), kind(WEIGHTS), kind(CAPACITIES)
    assert knapsack(profits, weights, capacities).items == (0, 1)
    assert value_curve(profits, weights, capacities).items(CAPACITIES) == (0, 1)
    groups = [(kind([0, p]), kind([[0, 0], w])) for p, w in zip(PROFITS, WEIGHTS, strict=True)]
    assert multiple_choice(groups, capacities).items == (1, 1, 0, 0)
    assert choice_curve(groups, capacities).values[10, 10] == 22


def test_tables_of_pandas_are_taken():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(WEIGHTS, columns=["time", "money"]).assign(profit=PROFITS)
    room = pandas.Series(CAPACITIES, ["time", "money"])
    for kind in ("int64", "float64", "uint8"):
        some = table.astype(kind)
        assert knapsack(some["profit"], some[["time", "money"]], room.astype(kind)).value == 22
        assert knapsack(some["profit"], some["time"], float(room["time"])).value == 25


def test_floats_hold_integers_up_to_2_53():
    most = 2.0**53 - 1
    assert knapsack([most], [most], most).value == 2**53 - 1
    assert knapsack(np.array([2**24 - 1], "f4"), [1], 1).value == 2**24 - 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([2, 2.5], [1, 1], 1), r"profits\[1\] = 2.5: must be an integer"),
        (([2, 2], [[1.0, 1.0], [1.0, -0.25]], [1, 1]), r"weights\[1, 1\] = -0.25: must be an int"),
        (([2, math.nan], [1, 1], 1), r"profits\[1\] = nan: must be an integer"),
        (([math.inf], [1], 1), r"profits\[0\] = inf: must be an integer"),
        (([2.0**53], [1], 1), r"profits\[0\] = 9007199254740992.0: .* below 9007199254740992 in"),
        ((np.array([2**24], "f4"), [1], 1), r"profits\[0\] = 16777216.0: .* float32 must be below"),
        (([1], [1], 2.0**53), r"capacity = 9007199254740992.0: .* must be below 90071992547"),
        (([1], [1], np.float32(0.5)), r"capacity = np.float32\(0.5\): must be an integer"),
        (([1], [1], math.inf), "capacity = inf: must be an integer"),
        (([1], [1], "7"), "capacity = '7': must be an integer"),
    ],
)
def test_other_numbers_are_named(arguments, message):
    with pytest.raises(ParameterError, match=message):
        knapsack(*arguments)
    profits, weights, capacities = arguments
    with pytest.raises(ParameterError, match=message.replace(r"s\[", r"s of group 0\[")):
        multiple_choice([(profits, weights)], capacities)


def test_transposed_weights_are_noticed():
    says = (
        r"^weights of shape \(2, 4\): must be \(4, 2\), one row for each item and one column for "
        r"each capacity; it looks transposed, pass weights.T$"
    )
    with pytest.raises(ParameterError, match=says):
        knapsack(PROFITS, np.transpose(WEIGHTS), CAPACITIES)
    with pytest.raises(ParameterError, match=r"weights of group 0 of shape \(2, 4\): .*transposed"):
        multiple_choice([(PROFITS, np.transpose(WEIGHTS))], CAPACITIES)
    with pytest.raises(ParameterError, match=r"of shape \(4, 2\): must be \(4, 3\), .*capacity$"):
        knapsack(PROFITS, WEIGHTS, [1, 1, 1])


def test_batches_of_equal_shapes_are_answered_like_single_problems():
    rng = np.random.default_rng(8)
    for dtype, budgets in (("i8", 1), ("u1", 2), ("i4", 3), ("u8", 2)):
        profits = rng.integers(0, 100, (9, 12)).astype(dtype)
        weights = rng.integers(0, 100, (9, 12, budgets)).astype(dtype)
        limits = [[int(some) for some in row] for row in rng.integers(0, 300, (9, budgets))]
        batch = list(zip(profits, weights, limits, strict=True))
        assert knapsack_batch(batch) == [knapsack(*instance) for instance in batch]


@pytest.mark.parametrize(
    ("place", "bad", "message"),
    [
        (0, np.full(4, 2**60), "add up to"),
        (0, np.array([1.5, 1, 1, 1]), "profits"),
        (0, np.ones((4, 1), int), "profits of shape"),
        (1, np.array([[1, 1], [1, 1], [1, 1], [1, -1]]), "weight -1"),
        (1, np.ones((2, 4), int), "transposed"),
        (2, [3, -1], "capacity = -1"),
        (2, [3, 2**63], "capacity"),
        (2, [3], "must be"),
        (2, [], "capacities"),
    ],
)
def test_a_bad_problem_of_a_batch_of_equal_shapes_is_named(place, bad, message):
    good = [np.arange(4), np.ones((4, 2), int), [3, 3]]
    wrong = list(good)
    wrong[place] = bad
    with pytest.raises(ParameterError, match=message):
        knapsack_batch([tuple(good), tuple(wrong)])
