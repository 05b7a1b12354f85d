"""Subset sum: brute force as the judge, on every backend, and what is refused."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.instances import generated, hard, random_1, todd

from mmpcodec.errors import LimitExceeded, ParameterError
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.status import Status
from mmpcodec.solvers.subset_sum import all_sums, fill_volumes, reachable, subset_sum
from mmpcodec.solvers.subset_sum.methods import choose, needs
from mmpcodec.solvers.subset_sum.quick import core, greedy
from mmpcodec.solvers.subset_sum.reduction import lighter_side, reduce

BACKENDS = ["cpu", "reference"]
every_backend = pytest.mark.parametrize("backend", BACKENDS)
METHODS = ["auto", "dense", "balanced", "meet"]
every_method = pytest.mark.parametrize("method", METHODS)

some_weights = st.one_of(
    st.lists(st.integers(0, 20), max_size=9),
    st.lists(st.integers(1, 400), max_size=9),
    st.lists(st.integers(1, 60).map(lambda one: 6 * one), max_size=9),
)
more_weights = st.lists(st.integers(1, 3000), min_size=1, max_size=60)


def operations(backend):
    return dispatch.operations("mmpcodec.solvers.subset_sum", backend)


def sets_in_order(weights):
    """Sums with their sets, the first set (see the package) first."""
    for mask in range(1 << len(weights)):
        items = [i for i in range(len(weights)) if mask >> i & 1]
        yield sum(weights[i] for i in items), items


def first_set(weights, wanted):
    return next(items for total, items in sets_in_order(weights) if total == wanted)


def wanted_sum(weights, target, limit):
    sums = {total for total, _ in sets_in_order(weights)}
    above = [total for total in sums if target <= total <= limit]
    return min(above) if above else max(total for total in sums if total < target)


def odd_target(count=4000):
    """Items whose sums miss a target, which takes minutes to prove."""
    weights = 10 * np.random.default_rng(0).integers(1, 10**6, count)
    weights[0] += 1
    return weights, int(weights.sum()) // 20 * 10 + 5


def check(found, weights, capacity):
    """That an answer is a set of items with its sum."""
    assert found.items.dtype == np.int64
    assert (np.diff(found.items) > 0).all()
    assert sum(weights[i] for i in found.items) == found.sum <= capacity
    assert all(weights[i] > 0 for i in found.items)
    assert found.exact == (found.sum == capacity)
    assert found.proven


@every_method
@every_backend
@given(weights=some_weights, data=st.data())
def test_the_largest_sum(backend, method, weights, data):
    capacity = data.draw(st.integers(0, sum(weights) + 3))
    found = subset_sum(weights, capacity, method=method, backend=backend)
    check(found, weights, capacity)
    best = max(total for total, _ in sets_in_order(weights) if total <= capacity)
    assert found.sum == best
    alone = subset_sum(weights, capacity, method=method, backend=backend, items=False)
    assert (alone.sum, alone.items) == (best, None)
    assert reachable(weights, capacity, method=method, backend=backend) == (best == capacity)


@pytest.mark.parametrize("method", ["dense", "meet"])
@every_backend
@given(weights=st.lists(st.integers(1, 30), min_size=1, max_size=9), data=st.data())
def test_the_first_set(backend, method, weights, data):
    """Of equal sums, on the side that is looked at."""
    capacity = data.draw(st.integers(1, sum(weights)))
    found = subset_sum(weights, capacity, method=method, backend=backend)
    reduced = reduce(np.array(weights), capacity)
    if reduced.fits:
        assert found.items.tolist() == reduced.indices.tolist()
        return
    kept = [weights[i] for i in reduced.indices]
    if lighter_side(reduced, 0).leaves_out:
        out = reduced.indices[first_set(kept, sum(kept) - found.sum)]
        expected = sorted(set(reduced.indices.tolist()) - set(out.tolist()))
    else:
        expected = reduced.indices[first_set(kept, found.sum)].tolist()
    assert found.items.tolist() == expected


@every_backend
@given(weights=st.lists(st.integers(1, 300), min_size=1, max_size=8), data=st.data())
def test_dense_and_meet_find_the_sum_wanted(backend, weights, data):
    limit = data.draw(st.integers(1, sum(weights)))
    target = data.draw(st.integers(1, limit))
    best = wanted_sum(weights, target, limit)
    array = np.array(weights, np.int64)
    for items in (True, False):
        floor = data.draw(st.integers(0, best))
        found, chosen = operations(backend).dense(array, target, limit, floor, items)
        assert found == best
        assert not items or chosen.tolist() == first_set(weights, best)
    found, chosen = operations(backend).meet(array, target, limit)
    assert (found, chosen.tolist()) == (best, first_set(weights, best))


@every_method
@given(weights=more_weights, data=st.data())
def test_backends_agree(method, weights, data):
    weights = weights[:24] if method == "meet" else weights
    capacity = data.draw(st.integers(0, sum(weights)))
    expected = subset_sum(weights, capacity, method=method, backend="reference")
    check(expected, weights, capacity)
    found = subset_sum(weights, capacity, method=method, backend="cpu")
    assert (found.sum, found.method) == (expected.sum, expected.method)
    assert found.items.tolist() == expected.items.tolist()


@pytest.mark.parametrize("part", [0.1, 0.3, 0.9])
@pytest.mark.parametrize(
    ("count", "heaviest"), [(40, 1 << 18), (300, 4000), (2000, 40), (90, 90000)]
)
def test_long_bitsets_agree(count, heaviest, part):
    """Several tiles and groups, on several threads."""
    weights, _ = hard(count, max(heaviest, 30), 5)
    capacity = int(weights.sum() * part) // 10 * 10 + 5
    expected = subset_sum(weights, capacity, method="dense", backend="reference")
    found = subset_sum(weights, capacity, method="dense", backend="cpu")
    assert found.sum == expected.sum
    assert found.items.tolist() == expected.items.tolist()
    assert subset_sum(weights, capacity, method="dense", items=False).sum == expected.sum


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_any_number_of_threads(threads):
    from mmpcodec import _cpu

    weights, capacity = hard(500, 30000, 9)
    expected = _cpu.dense_subset(weights, capacity, capacity, 0, True, -1.0, 1)
    assert _cpu.dense_subset(weights, capacity, capacity, 0, True, -1.0, threads) == expected
    reached = _cpu.dense_subset(weights, expected[0], expected[0], 0, True, -1.0, threads)
    assert reached == expected
    big = [10**12 + 17 * i * i for i in range(26)]
    half = sum(big) // 2
    expected = _cpu.meet_subset(np.array(big), half, half, -1.0, 1)
    assert _cpu.meet_subset(np.array(big), half, half, -1.0, threads) == expected


def test_more_items_than_16_bits_count():
    weights = np.full(70000, 2)
    weights[-1] = 3
    found = subset_sum(weights, 139999, method="dense")
    assert found.sum == 139999
    assert found.items[-1] == 69999
    assert subset_sum(weights, 69999, method="dense").items.tolist()[-2:] == [34997, 69999]


@every_backend
@given(weights=some_weights, data=st.data())
def test_all_sums(backend, weights, data):
    capacity = data.draw(st.one_of(st.none(), st.integers(0, sum(weights) + 70)))
    found = all_sums(weights, capacity, backend=backend)
    top = sum(weights) if capacity is None else capacity
    sums = {total for total, _ in sets_in_order(weights) if total <= top}
    assert found.shape == (top + 1,)
    assert set(np.flatnonzero(found).tolist()) == sums


@every_backend
def test_all_sums_of_many_items(backend):
    weights = np.random.default_rng(3).integers(1, 5000, 200)
    bits = 1
    for weight in weights.tolist():
        bits |= bits << weight
    found = all_sums(weights, backend=backend)
    assert int.from_bytes(np.packbits(found, bitorder="little").tobytes(), "little") == bits


@every_backend
@given(weights=st.lists(st.integers(0, 40), max_size=8), data=st.data())
def test_volumes(backend, weights, data):
    volumes = data.draw(st.lists(st.integers(0, 60), max_size=4))
    left = set(range(len(weights)))
    answers = fill_volumes(weights, volumes, backend=backend)
    assert len(answers) == len(volumes)
    for volume, found in zip(volumes, answers, strict=True):
        check(found, weights, volume)
        assert found.backend == backend
        assert set(found.items.tolist()) <= left
        rest = [weights[i] for i in sorted(left)]
        assert found.sum == max(total for total, _ in sets_in_order(rest) if total <= volume)
        left -= set(found.items.tolist())


# Cases on which printed listings of the literature go wrong or run forever.
REGRESSIONS = [
    ([3, 5, 8, 10], 12, 11),
    ([1850000] * 2 + [120000] * 12 + [30000] * 10 + [1800] * 6 + [1250] * 4 + [400] * 2, 3690000,
     3606600),
    ([7, 7, 7], 20, 14),  # the part left out is lighter than any item
    ([7, 9, 11], 26, 20),  # nothing weighs exactly what has to go
    ([10, 4, 4], 14, 14),  # one item and what has to go tie
    ([6, 6, 6, 6], 12, 12),
    ([2, 3, 31, 32, 33], 66, 66),
    ([5], 4, 0),
    ([5], 5, 5),
]  # fmt: skip


@every_method
@every_backend
@pytest.mark.parametrize(("weights", "capacity", "best"), REGRESSIONS)
def test_regressions(backend, method, weights, capacity, best):
    found = subset_sum(weights, capacity, method=method, backend=backend)
    check(found, weights, capacity)
    assert found.sum == best


@every_backend
def test_the_random_volumes_of_the_literature(backend):
    weights = random_1()
    found = subset_sum(weights, 10**9, backend=backend)
    assert (found.sum, found.method) == (530621875, "all")
    check(found, weights, 10**9)


@pytest.mark.parametrize("count", [9, 14, 20])
@pytest.mark.parametrize("name", ["P3", "P6", "even-odd", "half", "disturbed", "Todd", "Avis"])
def test_classes_by_all_sets(name, count):
    weights, capacity = generated(name, count)
    sums = np.zeros(1, np.int64)
    for weight in weights:
        sums = np.concatenate([sums, sums + weight])
    best = sums[sums <= capacity].max()
    for method in METHODS:
        if name == "Todd" and (method == "dense" or (method, count) == ("balanced", 20)):
            continue
        found = subset_sum(weights, capacity, method=method)
        check(found, weights, capacity)
        assert found.sum == best


@every_backend
def test_todd_by_meeting(backend):
    weights, capacity = todd(17)
    found = subset_sum(weights, capacity, backend=backend)
    check(found, weights, capacity)
    assert found.method == "meet"
    assert found.sum == subset_sum(weights, capacity, method="meet", items=False).sum < capacity


@pytest.mark.parametrize("name", ["half", "even-odd"])
def test_even_weights_and_an_odd_capacity(name):
    """The common divisor takes away what makes these hard."""
    weights, capacity = generated(name, 1000)
    found = subset_sum(weights, capacity)
    check(found, weights, capacity)
    assert found.sum == capacity - (5 if name == "half" else 1)
    assert found.method in ("greedy", "core", "dense")


def test_quick_methods():
    assert greedy(np.array([3, 9, 4, 4, 1]), 9).tolist() == [False, True, False, False, False]
    assert greedy(np.array([3, 4, 4, 1]), 9).tolist() == [False, True, True, True]
    weights = np.random.default_rng(0).integers(1, 1000, 500)
    for capacity in (1000, int(weights.sum()) // 3, int(weights.sum()) - 7):
        taken = core(operations("cpu"), weights, capacity)
        assert taken is None or weights[taken].sum() == capacity
    assert core(operations("cpu"), np.array([4, 6]), 9) is None


@given(weights=st.lists(st.integers(1, 50), min_size=1, max_size=30), capacity=st.integers(0, 500))
def test_greedy_is_that_of_a_loop(weights, capacity):
    left, taken = capacity, set()
    for i in sorted(range(len(weights)), key=lambda i: (-weights[i], i)):
        if weights[i] <= left:
            left -= weights[i]
            taken.add(i)
    assert set(np.flatnonzero(greedy(np.array(weights), capacity)).tolist()) == taken


@every_backend
def test_nothing_to_take(backend):
    for weights, capacity in [([], 0), ([], 9), ([0, 0], 5), ([5, 9], 4), ([1, 2], 0)]:
        found = subset_sum(weights, capacity, backend=backend)
        assert (found.sum, found.items.tolist(), found.method) == (0, [], "all")
    assert subset_sum([], 0).exact
    assert subset_sum([1, 2, 0], 10**30, backend=backend).items.tolist() == [0, 1]
    assert all_sums([], backend=backend).tolist() == [True]
    assert fill_volumes([1, 2], [], backend=backend) == []


def test_types_of_weights():
    for dtype in ("u1", "i2", "u4", "i8", "u8"):
        assert subset_sum(np.array([3, 5, 8, 10], dtype), 12).sum == 11
    huge = 2**61
    assert subset_sum([huge, huge - 1], huge).items.tolist() == [0]
    assert subset_sum(np.array([5, huge - 1, huge]), 2 * huge - 1).sum == 2 * huge - 1


@pytest.mark.parametrize(
    ("weights", "capacity", "options", "message"),
    [
        ([1, -2], 3, {}, r"weights\[1\] = -2: must be from 0 to 9223372036854775807"),
        (np.array([1, -2]), 3, {}, r"weights\[1\] = -2: must be"),
        ([1, 2.5], 3, {}, r"weights\[1\] = 2.5: must be"),
        ([1, True], 3, {}, r"weights\[1\] = True: must be"),
        (["1"], 3, {}, r"weights\[0\] = '1': must be"),
        (np.array([1.0, 2.5]), 3, {}, r"weights\[1\] = 2.5: must be an integer"),
        (np.array([1.0, 2e16]), 3, {}, r"weights\[1\] = 2e\+16: must be an integer; floats of"),
        (np.array([True]), 3, {}, "weights is of type bool: must be integers"),
        ([[1, 2]], 3, {}, "weights has 2 dimensions: must have 1"),
        (4, 3, {}, "weights has 0 dimensions: must have 1"),
        ([2**63], 3, {}, r"weights\[0\] = 9223372036854775808: must be"),
        ([2**62, 2**62], 3, {}, "weights add up to 9223372036854775808: must be at most"),
        (np.full(4, 2**62), 3, {}, "weights add up to 18446744073709551616: must be at most"),
        ([1], -1, {}, "capacity = -1: must be from 0 up"),
        ([1], 1.5, {}, "capacity = 1.5: must be an integer"),
        ([1], None, {}, "capacity = None: must be"),
        ([1], 1, {"memory_limit": -1}, "memory_limit = -1: must be"),
        ([1], 1, {"method": "fast"}, "method = 'fast': must be one of auto, dense, balanced, meet"),
        ([1], 1, {"backend": "fast"}, "backend = 'fast': must be one of"),
        ([2, 3] * 40, 99, {"method": "meet"}, "method = 'meet': takes at most 62 items"),
    ],
)
def test_bad_arguments(weights, capacity, options, message):
    with pytest.raises(ParameterError, match=message):
        subset_sum(weights, capacity, **options)


def test_floats_that_are_integers():
    same = subset_sum([3, 5, 8, 10], 12)
    assert subset_sum(np.array([3.0, 5.0, 8.0, 10.0]), 12.0) == same
    assert subset_sum([3, 5.0, np.float32(8), 10], np.float64(12)) == same
    assert all_sums([2.0, 3.0], 4.0).tolist() == all_sums([2, 3], 4).tolist()
    assert fill_volumes([3.0, 5.0], [4.0])[0].sum == 3


def test_options_of_decisions_and_volumes():
    with pytest.raises(TypeError, match="unexpected keyword argument 'items'"):
        reachable([1], 1, items=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'items'"):
        fill_volumes([1], [1], items=False)


def test_what_does_not_fit_into_memory():
    weights = [2**50 + i * i for i in range(100)]
    with pytest.raises(LimitExceeded, match=r"needs dense .*, balanced .* bytes: must be at most"):
        subset_sum(weights, 2**55)
    with pytest.raises(
        LimitExceeded, match=r"needs meet 201326592 bytes: .* memory_limit = 1000000"
    ):
        subset_sum(weights[:44], 2**54, method="meet", memory_limit=10**6)
    with pytest.raises(LimitExceeded, match=r"Memory of all_sums: needs .* bytes"):
        all_sums([2**40, 1])
    with pytest.raises(ParameterError, match=r"volumes\[1\] = -4: must be"):
        fill_volumes([1, 2], [1, -4])


@every_backend
def test_balanced_out_of_memory(backend):
    weights, capacity = hard(60, 500, 7)
    named = {"method": "balanced", "memory_limit": 20000, "backend": backend}
    with pytest.raises(LimitExceeded, match=r"needs balanced .* memory_limit = 20000"):
        subset_sum(weights, capacity, **named)
    found = subset_sum(weights, capacity, backend=backend)
    assert subset_sum(weights, capacity, **named, items=False).sum == found.sum


def test_balanced_keeps_equally_many_sets():
    weights, capacity = hard(60, 500, 7)
    enough = {}
    for backend in BACKENDS:
        balanced = operations(backend).balanced
        sums = [balanced(weights, capacity, True, most)[0] for most in range(0, 1200, 10)]
        enough[backend] = sums.index(max(sums))
        assert set(sums) == {-1, max(sums)}
        assert sums == sorted(sums)
    assert len(set(enough.values())) == 1


def test_auto_goes_on_where_balanced_runs_out_of_memory(monkeypatch):
    weights, capacity = hard(6000, 300, 1)
    expected = subset_sum(weights, capacity)
    assert expected.method == "balanced"
    monkeypatch.setattr(operations("cpu"), "balanced", lambda *_: (-1, None))
    found = subset_sum(weights, capacity)
    check(found, weights, capacity)
    assert (found.sum, found.method) == (expected.sum, "dense")


def test_what_dense_needs():
    assert needs(1000, 10**6, 10**5, False)["dense"].bytes == 250_000
    assert needs((1 << 16) - 1, 10**6, 10**5, True)["dense"].bytes == 2_250_000
    assert needs(1 << 16, 10**6, 10**5, True)["dense"].bytes == 4_250_000


def test_the_cheapest_method_that_fits():
    few = needs(40, 2**50, 2**45, True)
    assert choose("auto", few, 2**32) == "meet"
    many = needs(10**5, 10**9, 1000, False)
    assert choose("auto", many, 2**32) == "balanced"
    assert choose("dense", many, 2**32) == "dense"
    assert choose("auto", needs(1000, 10**6, 10**5, True), 2**32) == "dense"


def test_masked_weights_are_refused():
    with pytest.raises(ParameterError, match="weights: masked arrays are not supported"):
        subset_sum(np.ma.array([3, 5, 8], mask=[False, True, False]), 8)


@pytest.mark.parametrize("method", ["auto", "dense", "balanced", "meet"])
def test_time_limit_gives_a_sum_and_a_bound(method):
    weights, target = odd_target(62 if method == "meet" else 4000)
    if method == "meet":
        weights, target = weights * 10**9 + 1, target * 10**9
    begin = time.monotonic()
    found = subset_sum(weights, target, method=method, time_limit=0.2, memory_limit=1 << 37)
    assert time.monotonic() - begin < 5
    assert (found.method, found.status, found.proven) == ("greedy", Status.FEASIBLE, False)
    assert weights[found.items].sum() == found.sum < found.bound <= target


@every_backend
def test_no_time_at_all(backend):
    weights = [6, 10, 15, 22, 35]
    found = subset_sum(weights, 39, method="dense", time_limit=0, backend=backend)
    assert (found.sum, found.items.tolist(), found.bound) == (35, [4], 39)
    volumes = fill_volumes(weights, [39, 30], method="dense", time_limit=0, backend=backend)
    assert [one.items.tolist() for one in volumes] == [[4], [0, 3]]
    assert [one.status for one in volumes] == ["feasible", "feasible"]
    assert reachable([1, 2], 3, time_limit=0, backend=backend)  # greedy finds it
    with pytest.raises(LimitExceeded, match=r"Time of reachable: no answer in time_limit = 0"):
        reachable(weights, 39, time_limit=0, backend=backend)
    with pytest.raises(LimitExceeded, match=r"Time of all_sums: no answer in time_limit = 0"):
        all_sums(weights, time_limit=0, backend=backend)


def test_enough_time_changes_nothing():
    weights = 2 * np.random.default_rng(0).integers(1, 500, 30) + 1
    target = int(weights.sum()) // 2
    for method in METHODS:
        found = subset_sum(weights, target, method=method, time_limit=1e6)
        assert found == subset_sum(weights, target, method=method)
        assert found.status == Status.OPTIMAL


def test_answers_compare_by_content():
    mine = subset_sum([3, 5, 8, 10], 12)
    same = subset_sum([3, 5, 8, 10], 12, backend="reference", method="meet")
    assert mine.method != same.method
    assert mine == same
    assert len({mine, same, subset_sum([3, 5, 9, 10], 12)}) == 2
    assert mine != subset_sum([3, 5, 8, 10], 12, items=False)
    assert mine != 11
    with pytest.raises(ValueError, match="read-only"):
        mine.items[0] = 1
