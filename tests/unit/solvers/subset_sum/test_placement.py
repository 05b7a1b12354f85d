"""Subset sum on a device, as far as it can be seen without one: who is asked, and the passes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.instances import hard

from mmpcodec import backends
from mmpcodec.backends import Row
from mmpcodec.errors import BackendUnavailable, LimitExceeded
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.subset_sum import all_sums, fill_volumes, reachable, subset_sum
from mmpcodec.solvers.subset_sum.passes import (
    FEW,
    HALO_SHARE,
    SHORT_WORDS,
    THREADS,
    plan_passes,
    span_of,
)


def operations(backend):
    return dispatch.operations("mmpcodec.solvers.subset_sum", backend)


@pytest.mark.parametrize("solve", [subset_sum, reachable, all_sums])
def test_cuda_where_it_cannot_run(solve, monkeypatch):
    monkeypatch.setattr("mmpcodec.backends.unavailable", lambda name: f"{name} is not there")
    with pytest.raises(BackendUnavailable, match="cannot run here: cuda is not there"):
        solve([1, 2], 1, backend="cuda")
    with pytest.raises(BackendUnavailable, match="cannot run here: cuda is not there"):
        fill_volumes([1, 2], [1], backend="cuda")


class Device:
    """Stands for the operations of cuda; its memory may be full."""

    def __init__(self, full=False):
        self.calls = 0
        self.full = full

    def dense(self, *arguments):
        self.calls += 1
        if self.full:
            raise LimitExceeded("Device memory", "full")
        return operations("cpu").dense(*arguments)

    def sums(self, *arguments):
        self.calls += 1
        return operations("cpu").sums(*arguments)


def starts_in(monkeypatch, seconds):
    """The time before a device begins."""
    row = Row(None, first_seconds=seconds, start_seconds=seconds)
    monkeypatch.setitem(backends.ROWS, "cuda", row)


@pytest.fixture
def device(monkeypatch):
    """All that "auto" sees of a device that is there."""
    there = Device()
    real = dispatch.module
    monkeypatch.setattr(dispatch, "module", lambda *a: there if a[1] == "cuda" else real(*a))
    monkeypatch.setattr("mmpcodec.backends.unavailable", lambda name: None)
    starts_in(monkeypatch, 1e-12)
    return there


def test_auto_takes_a_device_that_is_quicker(device, monkeypatch):
    weights, capacity = hard(300, 4000, 1)
    assert subset_sum(weights, capacity).backend == "cuda"
    assert device.calls == 1
    all_sums(weights)
    assert device.calls == 2
    starts_in(monkeypatch, 1.0)
    assert subset_sum(weights, capacity).backend == "cpu"
    assert subset_sum(weights, capacity, backend="reference").backend == "reference"
    monkeypatch.setattr(
        "mmpcodec.backends.unavailable", lambda name: "gone" if name == "cuda" else None
    )
    starts_in(monkeypatch, 1e-12)
    assert subset_sum(weights, capacity).backend == "cpu"
    assert device.calls == 2


def test_a_device_that_is_full(device):
    weights, capacity = hard(300, 4000, 1)
    device.full = True
    assert subset_sum(weights, capacity).backend == "cpu"
    with pytest.raises(LimitExceeded, match="Device memory"):
        subset_sum(weights, capacity, backend="cuda", method="dense")
    found = subset_sum(weights, capacity, backend="cuda", method="balanced")
    assert (found.backend, found.method) == ("cpu", "balanced")


def by_passes(weights, target, limit, floor, span):
    """As ``dense`` of the reference, by the passes of a device over two rows."""
    plan = plan_passes(weights, limit, floor, span)
    rows = np.zeros((2, (limit // 64 + 1) * 64), bool)
    rows[0, 0] = True
    makers = np.full(rows.shape[1], -1)
    item = 0
    for number, one in enumerate(plan):
        low, high = 64 * one["low"], 64 * one["high"]
        row = rows[number % 2].copy()
        assert one["first"] == item
        few = FEW if limit < 64 * SHORT_WORDS else FEW // 2
        assert (one["halo"] > 0) == (one["count"] > few)
        for weight in weights[item : item + one["count"]].tolist():
            new = row[: row.size - weight] & ~row[weight:]
            row[weight:][new] = True
            new[: max(low - weight, 0)] = new[max(high - weight, 0) :] = False
            makers[weight:][new] = item
            item += 1
        rows[1 - number % 2, low:high] = row[low:high]
        if one["halo"]:
            last = item - one["count"]
            assert one["halo"] == (weights[last:item] // 64 + 1).sum() <= span // HALO_SHARE
        else:
            these = weights[item - one["count"] : item].tolist()
            assert one["weights"].tolist() == these + [0] * (FEW - len(these))
    assert item == len(weights)
    sums = np.flatnonzero(rows[len(plan) % 2, : limit + 1])
    best = next((one for one in sums if one >= target), sums[sums < target].max(initial=0))
    items, left = [], best
    while left:
        items.append(makers[left])
        left -= weights[items[-1]]
    return best, items[::-1]


@given(
    weights=st.one_of(
        st.lists(st.integers(1, 300), max_size=40), st.lists(st.integers(1, 9000), max_size=20)
    ),
    data=st.data(),
)
def test_passes_of_a_device(weights, data):
    limit = data.draw(st.integers(0, sum(weights)))
    target = data.draw(st.integers(0, limit))
    weights = np.array([one for one in weights if one <= limit], np.int64)
    best, items = operations("reference").dense(weights, target, limit, 0, True)
    floor = data.draw(st.integers(0, best))
    span = span_of(limit, data.draw(st.sampled_from([1, 132])), 16)
    assert span % THREADS == 0
    assert 0 < span <= 16 * THREADS
    found = by_passes(weights, target, limit, floor, span)
    assert (found[0], [int(i) for i in found[1]]) == (best, items.tolist())


@pytest.mark.parametrize(("count", "heaviest"), [(12, 30_000), (60, 3000), (300, 300)])
def test_passes_that_leave_out_what_cannot_reach_the_floor(count, heaviest):
    weights, capacity = hard(count, heaviest, 4)
    best, items = operations("reference").dense(weights, capacity, capacity, 0, True)
    plan = plan_passes(weights, capacity, best, THREADS)
    assert len(plan) > 1
    assert plan["low"][-1] > 0
    found = by_passes(weights, capacity, capacity, best, THREADS)
    assert (found[0], [int(i) for i in found[1]]) == (best, items.tolist())


def test_few_items_are_not_worth_a_tile():
    """The halo has 256 words."""
    long = 64 * SHORT_WORDS
    for limit, reach, count, halo in (
        (long - 1, 51, 5, 255),
        (long - 1, 52, 4, 0),
        (long, 85, 3, 255),
        (long, 86, 2, 0),
    ):
        plan = plan_passes(np.full(9, 64 * reach - 1), limit, 0, THREADS)
        assert (plan["count"][0], plan["halo"][0]) == (count, halo)


def test_a_long_row_has_long_tiles():
    assert [span_of(10**power, 132, 16) // THREADS for power in (6, 7, 8, 9)] == [1, 2, 16, 16]
