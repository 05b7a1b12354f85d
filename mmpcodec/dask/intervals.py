"""Best interval of a 1-D Dask array: a summary of each chunk, joined in order; see ``max_sum``."""

from functools import partial
from typing import Any

from mmpcodec.dask import rounds
from mmpcodec.solvers.max_sum.shards import IntervalSummary, interval_summary, joined


def best_interval(array: Any, exponent: int | None, backend: str) -> tuple[int, int, int]:
    """Return sum on the grid, start and stop of the first best interval; takes one round."""
    found = rounds.ask(array, partial(_summary, exponent=exponent, backend=backend), joined)
    assert found is not None
    return found.best


def _summary(chunk: Any, *, exponent: int | None, backend: str) -> IntervalSummary | None:
    return interval_summary(chunk, exponent, backend=backend) if chunk.size else None
