"""Tasks in threads: their order and the threads that each gets."""

import threading

import pytest

from mmpcodec.runtime.tasks import SHARED, Task, run_all


def run(shares, threads, *, wide=True):
    """Return the shares in the order of their start, and the threads of each task by its number."""
    started, lock, given = [], threading.Lock(), {}

    def task(number):
        def work(each, progress):
            with lock:
                started.append(shares[number])
                given[number] = each
            return number

        return Task(work, shares[number], aside=True, wide=wide)

    assert run_all([task(number) for number in range(len(shares))], threads, None) == list(
        range(len(shares))
    )
    return started, [given[number] for number in range(len(shares))]


def test_the_largest_tasks_start_first():
    started, _ = run([3, 9, 1, 7, 9], 1)
    assert started == [9, 9, 7, 3, 1]


@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize("count", [2, 3, 12, 16, 40])
def test_all_threads_work_until_the_last_tasks(threads, count):
    _, given = run([5] * count, threads)
    assert all(1 <= each <= threads for each in given)
    at_once = min(threads, count)
    assert sum(given[:at_once]) >= min(threads, SHARED * threads)
    assert given[-1] == min(threads, -(-SHARED * threads // (count if count <= threads else 1)))
    assert given == sorted(given)


def test_tasks_that_are_not_wide_share_the_threads():
    assert run([5] * 3, 16, wide=False)[1] == [5] * 3
    assert run([5] * 40, 16, wide=False)[1] == [1] * 40
