"""Subset sums of the cuda backend are those of the reference or, where it is too slow, of cpu."""

import numpy as np
import pytest
from support.arrays import items_and_sum
from support.instances import hard
from support.same import assert_same, on_both

from mmpcodec.errors import LimitExceeded, ParameterError
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.subset_sum import all_sums, fill_volumes, reachable, subset_sum
from mmpcodec.solvers.subset_sum.passes import plan_passes, span_of

pytestmark = pytest.mark.gpu

METHODS = ["auto", "dense", "balanced", "meet"]


def operations(backend):
    return dispatch.operations("mmpcodec.solvers.subset_sum", backend)


def same_set(weights, target, limit, floor=0, judge="reference", method="dense"):
    """The device's set is the judge's, and its sum as well without items."""
    weights = np.asarray(weights, np.int64)
    more = ((floor, True), (floor, False)) if method == "dense" else ((),)
    for rest in more:
        expected = getattr(operations(judge), method)(weights, target, limit, *rest)
        found = getattr(operations("cuda"), method)(weights, target, limit, *rest)
        assert_same(expected, found, method)
        assert found[1] is None or found[1].dtype == np.int64
    return expected[0]


def same_answer(weights, capacity, **options):
    expected = subset_sum(weights, capacity, backend="cpu", **options)
    found = subset_sum(weights, capacity, backend="cuda", **options)
    assert_same(items_and_sum(expected), items_and_sum(found))
    return found


@pytest.mark.parametrize("limit", [0, 1, 62, 63, 64, 65, 127, 128, 129, 4095, 4096])
def test_tails_of_words(limit):
    rng = np.random.default_rng(limit)
    for heaviest in (2, 9, 63, 64, 65, 300):
        weights = rng.integers(1, heaviest, 12, endpoint=True)
        for target in {0, limit // 2, limit}:
            same_set(weights, target, limit)
        expected = operations("reference").sums(weights, limit)
        assert_same(expected, operations("cuda").sums(weights, limit))


@pytest.mark.parametrize("heaviest", [1, 5, 64, 1000, 20_000, 100_000])
@pytest.mark.parametrize("count", [1, 2, 3, 31, 257, 600])
def test_random_weights(count, heaviest):
    """Light items go by tiles, heavy ones by two; some are heavier than the limit."""
    rng = np.random.default_rng(count + heaviest)
    weights = rng.integers(1, heaviest, count, endpoint=True)
    total = int(weights.sum())
    for part in (0.01, 0.5, 0.9):
        limit = min(int(total * part), 500_000)
        target = limit - int(rng.integers(0, limit + 1)) // 20
        judge = "reference" if count * limit < 10**6 else "cpu"
        best = same_set(weights, target, limit, judge=judge)
        same_set(weights, target, limit, floor=best, judge=judge)
        same_set(weights, target, limit, floor=best // 2, judge=judge)


def test_items_of_all_sizes_in_turn():
    rng = np.random.default_rng(8)
    weights = np.exp2(rng.random(300) * 18).astype(np.int64)
    limit = int(weights.sum()) // 3
    plan = plan_passes(weights, limit, 0, span_of(limit, 132, 16))
    assert (plan["halo"] > 0).any()
    assert (plan["halo"] == 0).any()
    same_set(weights, limit, limit)
    same_set(7 * weights, 7 * limit + 3, 7 * limit + 6)


@pytest.mark.parametrize(
    ("count", "heaviest"), [(2000, 40), (3000, 5000), (40, 1 << 20), (200, 400_000), (500, 60_000)]
)
def test_long_rows(count, heaviest):
    """Tiles of all blocks, in turns, and nothing that ends early."""
    weights, capacity = hard(count, heaviest, count)
    found = same_answer(weights, capacity, method="dense")
    assert found.sum < capacity
    same_answer(weights, capacity, method="dense", items=False)
    same_answer(weights, int(weights.sum()) // 100 * 10 + 5, method="dense")
    same_answer(weights, int(weights.sum()) // 100 * 90 + 5, method="dense")


def test_a_target_that_is_reached_early():
    weights = np.random.default_rng(2).integers(1, 3000, 4000)
    for target in (1, 64, 100_000, 3_000_000):
        assert same_set(weights, target, target, judge="cpu") == target
        assert same_set(weights, target, target + 3000, floor=target, judge="cpu") == target


def test_equal_weights():
    for weight in (1, 2, 63, 64, 65, 5000):
        weights = np.full(500, weight)
        limit = 333 * weight + weight // 2
        assert same_set(weights, limit, limit) == 333 * weight


def test_more_items_than_16_bits_count():
    weights = np.full(70_000, 2)
    weights[-1] = 3
    found = same_answer(weights, 139_999, method="dense")
    assert found.items[-1] == 69_999
    same_answer(weights, 69_999, method="dense")


def test_rows_beyond_32_bits_of_sums():
    weights = np.random.default_rng(4).integers(1 << 28, 1 << 30, 16) * 4
    weights[3] += 1
    limit = (1 << 32) + 1234 * 64 + 2
    expected = operations("cpu").dense(weights, limit, limit, 0, False)
    assert operations("cuda").dense(weights, limit, limit, 0, False) == expected


@pytest.mark.parametrize("heaviest", [3, 40, 10**4, 2**57])
@pytest.mark.parametrize("count", [1, 2, 5, 16, 21])
def test_halves_that_meet(count, heaviest):
    rng = np.random.default_rng(count)
    weights = rng.integers(1, heaviest, count, endpoint=True)
    total = int(weights.sum())
    for limit in (0, 1, total // 3, total // 2, total):
        for target in {limit, limit - limit // 9, 0}:
            same_set(weights, target, limit, method="meet")


def test_long_halves_that_meet():
    weights = np.array([10**12 + 17 * i * i for i in range(40)])
    half = int(weights.sum()) // 2
    same_set(weights, half, half, judge="cpu", method="meet")
    same_set(weights, half - 10**9, half, judge="cpu", method="meet")


@pytest.mark.parametrize("method", METHODS)
def test_answers(method):
    rng = np.random.default_rng(6)
    for _ in range(40):
        weights = rng.integers(0, int(rng.choice([3, 50, 4000])), int(rng.integers(1, 24)))
        capacity = int(rng.integers(0, weights.sum() + 5))
        found = same_answer(weights, capacity, method=method)
        assert found.backend == ("cpu" if found.method == "balanced" else "cuda")
        expected = reachable(weights, capacity, method=method, backend="reference")
        assert reachable(weights, capacity, method=method, backend="cuda") == expected
        same_answer(weights, capacity, method=method, items=False)


@pytest.mark.parametrize(
    ("weights", "capacity", "best"),
    [
        ([3, 5, 8, 10], 12, 11),
        (
            [1850000] * 2 + [120000] * 12 + [30000] * 10 + [1800] * 6 + [1250] * 4 + [400] * 2,
            3690000,
            3606600,
        ),
        ([7, 9, 11], 26, 20),
        ([2, 3, 31, 32, 33], 66, 66),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_cases_of_the_literature(weights, capacity, best, method):
    assert same_answer(weights, capacity, method=method).sum == best


def test_all_sums():
    rng = np.random.default_rng(3)
    for count, heaviest in ((10, 4), (200, 5000), (40, 100_000)):
        weights = rng.integers(0, heaviest, count)
        for capacity in (None, 0, 64, int(weights.sum()) // 2, int(weights.sum()) + 70):
            on_both(all_sums, weights, capacity)


def test_volumes():
    weights = np.random.default_rng(5).integers(1, 900, 60)
    volumes = [4000, 7001, 0, 3999]
    expected = fill_volumes(weights, volumes, backend="cpu")
    for one, other in zip(fill_volumes(weights, volumes, backend="cuda"), expected, strict=True):
        assert (one.sum, one.items.tolist()) == (other.sum, other.items.tolist())


def test_weights_on_the_device():
    import cupy

    weights, capacity = hard(100, 3000, 1)
    there = cupy.asarray(weights)
    found = subset_sum(there, capacity, method="dense")
    assert found.backend == "cuda"
    expected = subset_sum(weights, capacity, method="dense", backend="cpu")
    np.testing.assert_array_equal(found.items, expected.items)
    with pytest.raises(ParameterError, match="the values lie on a CUDA device"):
        subset_sum(there, capacity, backend="cpu")


def test_another_stream():
    import cupy

    weights, capacity = hard(300, 9000, 2)
    with cupy.cuda.Stream(non_blocking=True):
        same_answer(weights, capacity, method="dense")
        same_set(weights[:20], capacity, capacity, method="meet")


def test_too_little_memory(monkeypatch):
    monkeypatch.setattr("mmpcodec.solvers.subset_sum.cuda.free_bytes", lambda: 10**6)
    weights, capacity = hard(1000, 100_000, 3)
    with pytest.raises(LimitExceeded, match=r"sums up to \d+ need \d+ bytes, 1000000 are free"):
        subset_sum(weights, capacity, method="dense", backend="cuda")
    big = [10**12 + 17 * i * i for i in range(40)]
    with pytest.raises(LimitExceeded, match="need 50331648 bytes, 1000000 are free"):
        subset_sum(big, sum(big) // 2, method="meet", backend="cuda")
    with pytest.raises(LimitExceeded, match="Device memory"):
        all_sums(weights, backend="cuda")
