"""Best interval of a 1-D Dask array: a summary of each chunk, joined in order; see ``max_sum``."""

from functools import partial, reduce
from typing import Any, NamedTuple

from mmpcodec.dask import rounds
from mmpcodec.dask.magnitudes import on_grid
from mmpcodec.runtime.arrays import module_of
from mmpcodec.solvers import dispatch, max_sum


class Summary(NamedTuple):
    """Sums of consecutive values; positions count from the first of them.

    Parameters
    ----------
    size, total : int
        Number and sum of the values.
    prefix : tuple of int
        Largest sum of one or more leading values, and the stop of the shortest such prefix.
    suffix : tuple of int
        Largest sum of one or more trailing values, and the start of the longest such suffix.
    best : tuple of int
        Sum, start and stop of the first best interval.
    """

    size: int
    total: int
    prefix: tuple[int, int]
    suffix: tuple[int, int]
    best: tuple[int, int, int]

    def then(self, after: "Summary") -> "Summary":
        """Return the summary of these values followed by others."""
        prefix = self.total + after.prefix[0], self.size + after.prefix[1]
        suffix = self.suffix[0] + after.total, self.suffix[1]
        across = self.suffix[0] + after.prefix[0], self.suffix[1], self.size + after.prefix[1]
        best = after.best[0], self.size + after.best[1], self.size + after.best[2]
        return Summary(
            self.size + after.size,
            self.total + after.total,
            max(self.prefix, prefix, key=_sum_then_first),
            max(suffix, (after.suffix[0], self.size + after.suffix[1]), key=_sum_then_first),
            max(self.best, across, best, key=_sum_then_first),
        )


def _sum_then_first(found: tuple[int, ...]) -> tuple[int, ...]:
    return (found[0], *(-place for place in found[1:]))


def best_interval(array: Any, exponent: int | None, backend: str) -> tuple[int, int, int]:
    """Return sum on the grid, start and stop of the first best interval; takes one round."""
    found = rounds.ask(array, partial(summary, exponent=exponent, backend=backend), joined)
    assert found is not None
    return found.best


def summary(chunk: Any, *, exponent: int | None, backend: str) -> Summary | None:
    """Return the summary of a chunk; None if it has no values."""
    if chunk.size == 0:
        return None
    values = on_grid(chunk, exponent)
    operations = dispatch.operations(max_sum.__name__, backend, values)
    best, start, stop = map(int, operations.max_interval(values, (1, values.size)))
    sums = module_of(values).cumsum(values)
    total, end = int(sums[-1]), int(sums.argmax())
    largest = int(sums[end])
    # The longest best suffix follows the shortest prefix of the least sum; no prefix has sum 0.
    low = int(sums[:-1].argmin()) if values.size > 1 else -1
    least, begin = (int(sums[low]), low + 1) if low >= 0 and int(sums[low]) < 0 else (0, 0)
    return Summary(
        values.size, total, (largest, end + 1), (total - least, begin), (best, start, stop)
    )


def joined(summaries: list[Summary | None]) -> Summary | None:
    """Return the summary of the values of several chunks, in order."""
    present = [one for one in summaries if one is not None]
    return reduce(Summary.then, present) if present else None
