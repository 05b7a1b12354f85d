"""Run times, for benchmark scripts."""

import statistics
import time
from collections.abc import Callable
from typing import Any


def median_seconds(work: Callable[[], Any], runs: int = 7) -> float:
    """Median wall seconds of several runs, after one run that is not counted."""
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def median_ms(work: Callable[[], Any], runs: int = 7) -> float:
    """Median wall milliseconds of several runs; see ``median_seconds``."""
    return 1000 * median_seconds(work, runs)
