"""Run times, for benchmark scripts."""

import statistics
import time
from collections.abc import Callable
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
