"""Selection: NumPy's sort as the judge, on every backend, and what is refused."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mmpcodec import ParameterError, _cpu
from mmpcodec.solvers.selection import (
    Search,
    cpu,
    digit_counts,
    kth_of_shards,
    kth_smallest,
    median,
    quantile,
    reference,
    weighted_median,
)
from mmpcodec.solvers.selection.keys import from_keys, to_keys
from mmpcodec.solvers.selection.shards import candidates
from mmpcodec.solvers.selection.statistics import METHODS

BACKENDS = ["cpu", "reference", pytest.param("cuda", marks=pytest.mark.gpu)]
every_backend = pytest.mark.parametrize("backend", BACKENDS)
TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]
every_type = pytest.mark.parametrize("dtype", TYPES)

any_array = st.sampled_from(TYPES).flatmap(
    lambda dtype: arrays(dtype, array_shapes(max_dims=3, max_side=9))
)


def in_order(values):
    """Sorted as the package orders: by value, -0.0 first, NaN last."""
    flat = values.ravel()
    if flat.dtype.kind == "f":
        return flat[np.lexsort([~np.signbit(flat), flat, np.isnan(flat)])]
    return np.sort(flat)


def same_bits(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if found.dtype.kind == "f":
        both = np.isnan(found) & np.isnan(expected)
        assert (both | (found == expected)).all()
        assert (both | (np.signbit(found) == np.signbit(expected))).all()
    else:
        assert (found == expected).all()


def test_the_order_of_special_values():
    values = np.array([np.nan, np.inf, 0.0, -np.inf, -0.0, -np.nan, 5e-324, -5e-324])
    values[5] = np.copysign(np.nan, -1)
    keys = to_keys(values)
    assert np.argsort(keys, kind="stable").tolist() == [3, 7, 4, 2, 6, 1, 0, 5]
    back = from_keys(keys, "f8")
    same_bits(back[:5], values[:5])
    assert np.isnan(back[5])
    assert keys[5] == keys[0] == np.iinfo(np.uint64).max
    own = to_keys(values, merge_nans=False)
    assert np.argsort(own, kind="stable").tolist() == [5, 3, 7, 4, 2, 6, 1, 0]
    assert from_keys(own, "f8").tobytes() == values.tobytes()


@every_backend
@given(values=any_array, data=st.data())
def test_kth_is_that_of_sorting(backend, values, data):
    ordered = in_order(values)
    k = data.draw(st.integers(1, values.size))
    missing = values.dtype.kind == "f" and np.isnan(values).any()
    expected = ordered[k - 1] if not missing else values.dtype.type(np.nan)
    same_bits(kth_smallest(values, k, backend=backend), expected)
    some = data.draw(st.lists(st.integers(1, values.size), min_size=1, max_size=4))
    found = kth_smallest(values, some, backend=backend)
    same_bits(found, ordered[np.array(some) - 1] if not missing else np.full(len(some), expected))


@every_backend
@given(values=any_array, data=st.data())
def test_axes_and_nan(backend, values, data):
    axis = data.draw(st.integers(-values.ndim, values.ndim - 1))
    lines = np.moveaxis(values, axis, -1)
    for convention in ("lower", "upper", "mean"):
        found = median(values, axis=axis, convention=convention, backend=backend)
        assert np.shape(found) == lines.shape[:-1]
        omitted = median(values, axis=axis, convention=convention, nan="omit", backend=backend)
        for place in np.ndindex(lines.shape[:-1]):
            line = lines[place]
            full = line.dtype.kind == "f" and np.isnan(line).any()
            kept = in_order(line[~np.isnan(line)] if line.dtype.kind == "f" else line)
            expected = middle(kept, convention) if kept.size else np.nan
            same_bits(np.asarray(omitted)[place], result_type(line, convention).type(expected))
            if full:
                assert np.isnan(np.asarray(found)[place])
            else:
                same_bits(np.asarray(found)[place], np.asarray(omitted)[place])
        if values.dtype.kind == "f" and np.isnan(values).any():
            with pytest.raises(ParameterError, match="NaN, which nan='raise' forbids"):
                median(values, axis=axis, convention=convention, nan="raise", backend=backend)


def result_type(line, convention):
    exact = convention != "mean" or line.dtype.kind == "f"
    return line.dtype if exact else np.dtype("f8")


def middle(ordered, convention):
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if convention != "mean":
        return low if convention == "lower" else high
    if low == high:
        return low
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.float64(low) + np.float64(high)
        if np.isinf(total) and np.isfinite([low, high]).all():
            return np.float64(low) / 2 + np.float64(high) / 2
        return (total / 2).astype(result_type(ordered, "mean"))


@every_backend
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["f8", "i4", "u1", ">i8", ">f8"])
def test_quantiles_are_those_of_numpy(backend, method, dtype):
    rng = np.random.default_rng(4)
    q = [0, 0.1, 0.25, 0.5, 0.77, 1]
    for shape in ((7, 12), (3, 5, 40), (3,)):
        values = (rng.normal(size=shape) * 20 + 100).astype(dtype)
        for axis in (None, 0, -1, tuple(range(len(shape)))):
            for keepdims in (False, True):
                options = {"method": method, "axis": axis, "keepdims": keepdims}
                found = quantile(values, q, **options, backend=backend)
                expected = np.quantile(values, q, **options)
                same_bits(found, expected.astype(expected.dtype.newbyteorder("=")))
    expected = np.quantile([3, 1, 2], 0.5, method=method)
    assert quantile([3, 1, 2], 0.5, method=method, backend=backend) == expected


@every_backend
@given(values=any_array, data=st.data())
def test_several_axes_are_one(backend, values, data):
    axes = data.draw(st.sets(st.integers(0, values.ndim - 1)))
    found = median(values, axis=tuple(axes), nan="omit", backend=backend)
    kept = [place for place in range(values.ndim) if place not in axes]
    length = np.prod([values.shape[place] for place in axes], dtype=int)
    rows = values.transpose(*kept, *axes).reshape(-1, length)
    expected = median(rows, axis=1, nan="omit", backend=backend)
    same_bits(found, expected.reshape([values.shape[place] for place in kept]))
    whole = median(values, axis=tuple(axes), nan="omit", keepdims=True, backend=backend)
    same_bits(whole, np.expand_dims(found, tuple(sorted(axes))))


def test_both_byte_orders_give_the_same_answers():
    values = np.random.default_rng(2).normal(size=(40, 30)).astype(">f4")
    native = values.astype("f4")
    same_bits(kth_smallest(values, 7), kth_smallest(native, 7))
    same_bits(median(values, axis=0), median(native, axis=0))
    same_bits(kth_of_shards(list(values), 100), kth_smallest(native, 100))
    weights = np.arange(1200)
    same_bits(weighted_median(values.ravel(), weights), weighted_median(native.ravel(), weights))


@given(values=any_array, data=st.data())
def test_few_values_have_the_bits_of_the_general_way(values, data):
    k = data.draw(st.integers(1, values.size))
    found = cpu.kth_of_few(values, k)
    assert (found is None) == (values.dtype == bool)
    (general,) = kth_smallest(values, [k], backend="reference")
    if found is not None:
        assert found.tobytes() == general.tobytes()
        assert type(found) is type(general)


def test_what_is_not_for_few_values():
    values = np.arange(8)
    assert cpu.kth_of_few(values, 0) is None
    assert cpu.kth_of_few(values, 9) is None
    assert cpu.kth_of_few(values[::2], 1) is None
    assert cpu.kth_of_few(values.astype(">i8"), 1) is None
    assert cpu.kth_of_few(np.zeros(cpu.ALONE, np.uint8), 1) is None


@every_type
@pytest.mark.parametrize(
    "length", [1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100, 257, 1024]
)
@pytest.mark.parametrize("lines", [8, 67])
def test_networks_sort_lines(dtype, length, lines):
    rng = np.random.default_rng(length)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.where(
            rng.random((lines, length)) < 0.5,
            rng.integers(-9, 9, (lines, length)),
            rng.integers(-(1 << 62), 1 << 62, (lines, length)),
        ).astype(dtype)
    if values.dtype.kind == "f":
        values[rng.random(values.shape) < 0.1] = -0.0
        values[rng.random(values.shape) < 0.02] = np.copysign(np.nan, -1)
    ks = sorted({1, length // 3 + 1, (length + 1) // 2, length})
    for some in ([ks[-1]], [(length + 1) // 2], ks[::-1]):
        ranks = np.array([some]) - 1
        keys, nans = reference.select_lines(values[:, :, None], ranks)
        # Values of lines side by side, of lines one after the other, and one more of each line.
        for array in (values[:, :, None], values.T[None].copy()):
            found, seen = cpu.select_lines(array, ranks)
            assert (found == keys).all()
            assert (seen == nans).all()
        own = np.stack([rng.integers(0, length, 3) for _ in range(lines)])
        expected = reference.select_lines(values[:, :, None], own)[0]
        assert (cpu.select_lines(values[:, :, None], own)[0] == expected).all()


@every_type
@pytest.mark.parametrize("size", [2, 63, 64, 65, 130, 1000, 4097, 20_000])
def test_arrays_of_medium_size(dtype, size):
    rng = np.random.default_rng(size)
    with np.errstate(over="ignore", invalid="ignore"):
        for values in (
            rng.integers(-(1 << 62), 1 << 62, size),
            rng.integers(-3, 3, size),
            np.arange(size),
            np.where(rng.random(size) < 0.1, np.nan, 5.0 - rng.integers(0, 9, size)),
        ):
            values = values.astype(dtype)
            for ranks in ([0], [size // 2], [size - 1], [size // 2 - 1, size // 2]):
                keys, nans = reference.select(values, ranks)
                found, seen = cpu.select(values, ranks)
                assert found.tolist() == keys.tolist()
                assert seen == nans


LARGE = {
    "random": lambda n: np.random.default_rng(n).integers(0, 1 << 62, n),
    "sorted": np.arange,
    "falling": lambda n: np.arange(n)[::-1],
    "equal": lambda n: np.full(n, 77),
    "two values": lambda n: np.arange(n) % 2 * 1000,
    "few values": lambda n: np.random.default_rng(n).integers(0, 5, n),
    "one low": lambda n: (np.arange(n) > 0) * 9,
    "equal leading bytes": lambda n: np.random.default_rng(n).integers(0, 3000, n) + (1 << 40),
    "heavy middle": lambda n: np.where(np.arange(n) % 3 == 0, np.arange(n), n // 2),
}


@every_backend
@every_type
@pytest.mark.parametrize("kind", LARGE)
@pytest.mark.parametrize("size", [3000, 300_001])
def test_large_arrays(backend, dtype, kind, size):
    if backend == "reference" and size > 3000:
        return
    with np.errstate(over="ignore"):
        values = LARGE[kind](size).astype(dtype)
    ks = [1, 2, size // 3, size // 2, size // 2 + 1, size - 1, size]
    ordered = in_order(values)
    same_bits(kth_smallest(values, ks, backend=backend), ordered[np.array(ks) - 1])
    assert median(values, convention="lower", backend=backend) == ordered[(size - 1) // 2]


@every_backend
def test_many_ks_and_views(backend):
    values = np.random.default_rng(8).integers(0, 1 << 40, (200, 300))
    ordered = np.sort(values.ravel())
    ks = np.arange(1, 60_001, 300)
    same_bits(kth_smallest(values, ks, backend=backend), ordered[ks - 1])
    view = values[::3, 5:100:2]
    same_bits(kth_smallest(view, 700, backend=backend), np.sort(view.ravel())[699])
    values.flags.writeable = False
    same_bits(kth_smallest(values.T, 5, backend=backend), ordered[4])


def test_memory_mapped_values(tmp_path):
    values = np.random.default_rng(9).normal(size=100_000).astype("f4")
    values.tofile(tmp_path / "values")
    there = np.memmap(tmp_path / "values", "f4", "r")
    same_bits(kth_smallest(there, 33), np.sort(values)[32])
    with_nan = values.copy()
    with_nan[-1] = np.nan
    assert np.isnan(median(with_nan))
    same_bits(median(with_nan, nan="omit"), np.median(values[:-1]))


def test_many_ranks_cost_no_more_than_sorting():
    values = np.random.default_rng(1).random(1_000_000)
    q = np.linspace(0, 1, 20_000)
    started = time.perf_counter()
    found = quantile(values, q)
    seconds = time.perf_counter() - started
    np.testing.assert_allclose(found, np.quantile(values, q), rtol=1e-15)
    assert seconds < 2  # one search a rank takes 13 s, on the machine where this takes 0.1


def test_misplaced_and_transposed_values():
    odd = np.frombuffer(b"x" + np.arange(5000, dtype="i4").tobytes(), "i4", offset=1)
    assert kth_smallest(odd, 4000) == 3999
    assert median(np.arange(60_000).reshape(200, 300).T, convention="lower") == 29_999


def test_between_a_number_and_an_infinity():
    assert quantile([-np.inf, 5.0], [0, 0.25, 0.5, 0.75, 1]).tolist() == [-np.inf] * 4 + [5]
    assert quantile([5.0, np.inf], [0, 0.25, 1]).tolist() == [5, np.inf, np.inf]


@given(
    values=arrays("f4", st.integers(1, 90)),
    bounds=st.tuples(*[st.integers(0, (1 << 32) - 1)] * 2),
)
def test_splitting_is_the_same_with_and_without_simd(values, bounds):
    keys = to_keys(values)
    low, high = min(bounds), max(bounds)
    if len(values) > 4:
        low, high = sorted(keys[[1, 3]].tolist())
    plain, wide = (_cpu.split(values, low, high, plain) for plain in (True, False))
    assert plain[4] == wide[4] == np.isnan(values).sum()
    inside = keys[(keys > low) & (keys < high)]
    assert plain[:3] == ((keys < low).sum(), (keys == low).sum(), inside.tolist())
    assert plain[3] == ((keys == high).sum() if high > low else 0)
    # Of the keys at the ends some are kept with the others, two of a vector at most.
    below, at_low, kept, at_high, _ = wide
    assert below == plain[0]
    within = keys[(keys >= low) & (keys <= high)]
    assert [low] * at_low + sorted(kept) + [high] * at_high == np.sort(within).tolist()
    assert len(kept) - inside.size <= 2 * -(-len(values) // 16)


@every_backend
@given(
    pairs=st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 5)), min_size=1, max_size=12),
    scale=st.sampled_from([1, 0.125]),
)
def test_weighted_median_is_that_of_its_definition(backend, pairs, scale):
    values, weights = (np.array(part) for part in zip(*pairs, strict=True))
    if not weights.any():
        with pytest.raises(ParameterError, match="weights: one must be positive"):
            weighted_median(values, weights, backend=backend)
        return
    reached = [2 * weights[values <= value].sum() >= weights.sum() for value in values]
    expected = values[np.array(reached)].min()
    assert weighted_median(values, weights * scale, backend=backend) == expected
    repeated = np.repeat(values, weights)
    assert median(repeated, convention="lower", backend=backend) == expected


def test_weighted_median_of_the_source():
    medians = [17, 23, 24, 28, 29, 30, 31, 36, 42, 47, 50, 55, 58, 60, 63, 65, 66, 67, 81, 83]
    assert weighted_median(medians, [5] * 20) == 47


@every_backend
@every_type
def test_shards(backend, dtype):
    rng = np.random.default_rng(2)
    with np.errstate(over="ignore"):
        shards = [rng.integers(0, 1 << 62, (n, 3)).astype(dtype) for n in (40, 1, 0, 7)]
    together = in_order(np.concatenate([shard.ravel() for shard in shards]))
    for k in (1, 50, 100, 144):
        same_bits(kth_of_shards(shards, k, backend=backend), together[k - 1])


def test_a_search_says_what_is_wrong():
    with pytest.raises(ParameterError, match="k = 4: must be from 1 to 3"):
        Search("i4", 4, 3)
    search = Search("i4", 2, 3)
    with pytest.raises(ParameterError, match="32 bits of it are still unknown"):
        _ = search.value
    with pytest.raises(ParameterError, match=r"counts of shape \(3,\): must be 2048 numbers"):
        search.take(np.zeros(3))
    with pytest.raises(ParameterError, match="1 values are fewer than the count of the search"):
        search.take(digit_counts(np.array([1], "i4"), search))
    with pytest.raises(ParameterError, match="values of type int64: the search is for int32"):
        digit_counts(np.array([1]), search)
    with pytest.raises(ParameterError, match="shards: must not be empty"):
        kth_of_shards([], 1)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: kth_smallest([1, 2], 0), "k = 0: must be from 1 to 2, the number of values"),
        (lambda: kth_smallest([1, 2], [1, 3]), "k = 3: must be from 1 to 2"),
        (lambda: kth_smallest([1, 2], 1.5), "k = 1.5: must be an integer"),
        (lambda: kth_smallest([1, 2], True), "k = True: must be an integer"),
        (lambda: kth_smallest([1, 2], [1, True]), "k = True: must be an integer"),
        (lambda: kth_smallest([1, 2], []), "k: must not be empty"),
        (lambda: kth_smallest([], 1), "must not be empty"),
        (
            lambda: kth_smallest(np.ma.array([1, 2], mask=[1, 0]), 1),
            "masked arrays are not supported",
        ),
        (lambda: Search("i4", 1.5, 3), "k = 1.5: must be an integer"),
        (lambda: kth_of_shards([[1, 2], [[3], [4, 5]]], 1), "shards: "),
        (lambda: kth_smallest([1, np.nan], 2, nan="omit"), "k = 2: must be from 1 to 1"),
        (lambda: kth_smallest([1j], 1), "type complex128: must be bool, integers or float16"),
        (lambda: kth_smallest(np.zeros(2, ">c8"), 1), "values of type >c8: must be bool, integers"),
        (lambda: median([[1, 2]], axis=(0, -2)), r"axis = \(0, -2\): must not name an axis twice"),
        (lambda: median([[1, 2]], axis=(0, 2)), r"axis = 2: values of shape \(1, 2\) have no"),
        (lambda: kth_smallest([[1], [2, 3]], 1), "values: "),
        (lambda: median([1], axis=1), r"axis = 1: values of shape \(1,\) have no such axis"),
        (lambda: median([1], axis="x"), "axis = 'x': must be an integer"),
        (lambda: median([1], nan="no"), "nan = 'no': must be one of propagate, omit, raise"),
        (lambda: median([1], convention="x"), "convention = 'x': must be one of mean, lower"),
        (lambda: median([1], backend="gpu"), "backend = 'gpu': must be one of auto, cpu, cuda"),
        (lambda: median(np.zeros((0, 3)), axis=0), "must not be empty"),
        (lambda: quantile([1], 1.5), "q = 1.5: must be numbers from 0 to 1"),
        (lambda: quantile([1], [np.nan]), "must be numbers from 0 to 1"),
        (lambda: quantile([1], "a"), "q = 'a': must be numbers from 0 to 1"),
        (lambda: quantile([1], 0.5, method="x"), "method = 'x': must be one of inverted_cdf"),
        (lambda: weighted_median([1, 2], [1]), "must be two sequences of one length"),
        (lambda: weighted_median([1, 2], [1, -1]), "weights: -1 is negative"),
        (lambda: weighted_median([1, 2], [1, -1e-19]), "weights: -1e-19 is negative"),
        (lambda: weighted_median([1, 2], np.ones(2, "f2")), "weights of type float16"),
        (lambda: weighted_median([1, np.nan], [1, 1]), "values: must not be NaN"),
        (lambda: weighted_median([1], [np.nan]), "must be finite"),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ParameterError, match=says):
        call()


def test_integers_that_no_type_holds_together():
    """NumPy would make floating-point numbers of them, and so other numbers."""
    for other in (-5, 5):
        with pytest.raises(
            ParameterError, match="values: no 64-bit integer type holds all these integers"
        ):
            kth_smallest([2**63 + 1, other], 2)
    assert kth_smallest([2.0**63, 5], 2) == 2.0**63
    assert kth_smallest([2**63 + 1, 2**63], 2) == 2**63 + 1


@given(values=any_array, data=st.data())
def test_bits_that_all_keys_share_are_skipped(values, data):
    values = values.ravel()
    ordered = in_order(values)
    keys = to_keys(ordered)
    k = data.draw(st.integers(1, values.size))
    search = Search(values.dtype, k, values.size)
    search.skip(int(keys[0]), int(keys[-1]))
    while not search.done:
        found = np.sort(candidates(values, search))
        assert found.size == search.candidates
        assert found[search.rank] == keys[k - 1]
        search.take(digit_counts(values, search))
    same_bits(search.value, from_keys(keys[k - 1 : k], values.dtype)[0])


def test_candidates_of_large_shards(monkeypatch):
    monkeypatch.setattr("mmpcodec.solvers.selection.shards.PART", 7)
    values = np.random.default_rng(0).integers(0, 1 << 16, (5, 20), np.uint16)
    search = Search(values.dtype, 50, values.size)
    assert np.sort(candidates(values, search)).tolist() == sorted(values.ravel())
    search.take(digit_counts(values, search))
    begin = np.sort(values.ravel())[49] >> 5
    expected = [value for value in sorted(values.ravel()) if value >> 5 == begin]
    assert np.sort(candidates(values, search)).tolist() == expected
    assert candidates(values[:0], search).size == 0
    with pytest.raises(ParameterError, match="type int64: the search is for uint16"):
        candidates(values.astype(int), search)
