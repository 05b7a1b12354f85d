"""Run times, for benchmark scripts."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any


def median_seconds(work: Callable[[], Any], runs: int = 7) -> float:
    """Return the median wall time of several runs in seconds, after one warm-up run."""
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def median_ms(work: Callable[[], Any], runs: int = 7) -> float:
    """Return the median wall time in milliseconds; see ``median_seconds``."""
    return 1000 * median_seconds(work, runs)


def processor_ms(works: Sequence[Callable[[], Any]], runs: int = 15) -> list[float]:
    """Return the least processor time of each work in milliseconds, all threads added.

    The works run in turn, so that all have the same load of the machine beside them.
    """
    least = [float("inf")] * len(works)
    for _ in range(runs):
        for number, work in enumerate(works):
            start = time.process_time()
            work()
            least[number] = min(least[number], 1000 * (time.process_time() - start))
    return least
