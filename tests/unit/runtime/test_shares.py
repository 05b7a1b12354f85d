"""Shares of work: their sizes, who takes them, order, progress, errors and cancellation."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmpcodec import Cancelled
from mmpcodec.runtime.shares import Share, run_shares, shares_of

SIZES = st.lists(st.integers(1, 1000), max_size=60)


@given(SIZES, st.integers(1, 8), st.integers(1, 5000), st.randoms())
def test_each_item_is_in_one_share_at_its_home(sizes, places, most, random):
    homes = [random.choice([None, *range(places)]) for _ in sizes]
    shares = shares_of(sizes, homes, places, most)
    assert sorted(item for share in shares for item in share.items) == list(range(len(sizes)))
    for share in shares:
        assert list(share.items) == sorted(share.items)
        assert share.size == sum(sizes[item] for item in share.items)
        assert {homes[item] for item in share.items} == {share.place}


@given(SIZES, st.integers(1, 8), st.integers(1, 5000))
def test_shares_are_nearly_equal(sizes, places, most):
    """The largest share exceeds the smallest by one item at most, as the LPT rule promises."""
    shares = shares_of(sizes, [None] * len(sizes), places, most)
    if not sizes:
        assert shares == []
        return
    amounts = [share.size for share in shares]
    assert max(amounts) - min(amounts) <= max(sizes)
    assert len(shares) == len(sizes) or len(shares) % places == 0
    assert max(amounts) <= most + max(sizes)


def test_equal_items_make_equal_shares():
    for places in (1, 2, 3, 4, 8):
        shares = shares_of([1024] * 240, [None] * 240, places, 1 << 17)
        per_place = -(-240 * 1024 // (places << 17))
        assert [share.size for share in shares] == [240 * 1024 // (places * per_place)] * (
            places * per_place
        )


def test_one_item_is_one_share_and_none_is_none():
    assert shares_of([5], [None], 4, 100) == [Share((0,), 5)]
    assert shares_of([5], [3], 4, 100) == [Share((0,), 5, 3)]
    assert shares_of([], [], 4, 100) == []
    assert run_shares(pytest.fail, [], 4, None) == []


def run(shares, places, *, progress=None, work=lambda place, share: share.items):
    """Run shares on places that report their progress in four steps; return results and places."""
    who = {}

    def one(place, share, part):
        who[share.items] = place
        for step in range(1, 5):
            if not part(step * share.size // 4, share.size):
                raise Cancelled("stopped")
        return work(place, share)

    return run_shares(one, shares, places, progress), who


@pytest.mark.parametrize("places", [1, 2, 3, 9])
def test_results_come_in_the_order_of_the_shares(places):
    shares = shares_of([3, 9, 4, 4, 8, 1, 1, 7], [None] * 8, 2, 6)

    def work(place, share):
        time.sleep(0.001 * share.size)  # the first ones end last
        return share.items

    found, _ = run(shares, places, work=work)
    assert found == [share.items for share in shares]


def test_a_free_device_takes_more():
    slow_may_end = threading.Event()
    others = iter(range(7))

    def work(place, share):
        if share.items == (0,):
            assert slow_may_end.wait(20)
        elif next(others) == 6:
            slow_may_end.set()
        return place

    shares = [Share((number,), 10 - number) for number in range(8)]
    found, _ = run(shares, 2, work=work)
    slow = found[0]
    assert found == [slow] + [1 - slow] * 7


def test_shares_stay_at_home():
    shares = [Share((number,), 1, number % 3 if number < 9 else None) for number in range(30)]
    found, who = run(shares, 3, work=lambda place, share: place)
    assert found == [who[share.items] for share in shares]
    assert found[:9] == [0, 1, 2] * 3


def test_several_devices_work_at_the_same_time():
    met = threading.Barrier(3, timeout=20)
    shares = shares_of([1] * 3, [None] * 3, 3, 10)
    found, _ = run(shares, 3, work=lambda place, share: met.wait() >= 0 and place)
    assert sorted(found) == [0, 1, 2]


def test_a_device_may_have_several_threads():
    met = threading.Barrier(6, timeout=20)
    shares = shares_of([1] * 6, [0, 0, 1, 1, 2, 2], 3, 1)

    def one(place, share, part):
        met.wait()
        return place

    assert run_shares(one, shares, 3, None, 2) == [0, 0, 1, 1, 2, 2]


def test_a_single_share_runs_in_the_calling_thread():
    found, _ = run([Share((0,), 4, 1)], 2, work=lambda place, share: (place, threading.get_ident()))
    assert found == [(1, threading.get_ident())]


@pytest.mark.parametrize("places", [1, 2, 5])
def test_progress_is_the_sum_and_ends_at_the_total(places):
    seen, inside = [], threading.Lock()

    def progress(done, total):
        assert inside.acquire(blocking=False)  # by one thread at a time
        seen.append((done, total))
        inside.release()
        return True

    run([Share((number,), 8) for number in range(6)], places, progress=progress)
    assert seen == sorted(seen)
    assert seen[-1] == (48, 48)
    assert len(seen) == 24


@pytest.mark.parametrize("places", [1, 2, 5])
def test_progress_cancels_all(places):
    begun = []

    def work(place, share):
        begun.append(share.items)
        return place

    with pytest.raises(Cancelled):
        run(
            [Share((number,), 8) for number in range(60)],
            places,
            progress=lambda done, total: done < 20,
            work=work,
        )
    assert len(begun) <= 2 + places


def test_the_first_error_cancels_the_others_and_is_raised():
    begun = []

    def one(place, share, part):
        begun.append(share.items)
        if share.items == (0,):
            while len(begun) < 2:
                time.sleep(0.001)
            raise MemoryError("device 0 is full")
        while part(0, share.size):
            time.sleep(0.001)
        raise Cancelled("by the other")

    with pytest.raises(MemoryError, match="device 0 is full"):
        run_shares(one, [Share((number,), 9 - number) for number in range(9)], 2, None)
    assert sorted(begun) == [(0,), (1,)]


def test_an_error_of_progress_is_raised():
    def progress(done, total):
        raise KeyError("of the caller")

    with pytest.raises(KeyError, match="of the caller"):
        run([Share((number,), 8) for number in range(6)], 2, progress=progress)


def test_work_that_ends_without_an_error_after_a_stop_is_cancelled():
    def one(place, share, part):
        part(share.size, share.size)

    with pytest.raises(Cancelled):
        run_shares(one, [Share((n,), 8) for n in range(6)], 2, lambda done, total: False)
