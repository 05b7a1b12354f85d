"""Times of runs, for the scripts that measure."""

import statistics
import time
from collections.abc import Callable
from typing import Any


def median_seconds(work: Callable[[], Any], runs: int = 7) -> float:
    """Median wall time of several runs after a warm-up."""
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def median_ms(work: Callable[[], Any], runs: int = 7) -> float:
    """The same in milliseconds."""
    return 1000 * median_seconds(work, runs)
