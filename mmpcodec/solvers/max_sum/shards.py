"""Maximum sums of a sequence that lies in several places, the shards, without gathering it.

Each shard sends its summary: nine numbers. Summaries are joined in the order of the shards, in any
grouping. Floating-point numbers need one round before, since their grid depends on the largest
magnitude of all shards.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from mmpcodec.checks import dimensions
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, module_of
from mmpcodec.solvers import dispatch, grid
from mmpcodec.solvers.grid import Magnitudes, number, on_known_grid
from mmpcodec.solvers.max_sum import arguments
from mmpcodec.solvers.max_sum.answers import Interval


class IntervalSummary(NamedTuple):
    """Sums of consecutive values of a sequence; places count from the first of them.

    Sums are integers, in units of the grid for floating-point values.

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

    def then(self, after: "IntervalSummary") -> "IntervalSummary":
        """Return the summary of these values followed by others; associative."""
        prefix = self.total + after.prefix[0], self.size + after.prefix[1]
        suffix = self.suffix[0] + after.total, self.suffix[1]
        across = self.suffix[0] + after.prefix[0], self.suffix[1], self.size + after.prefix[1]
        best = after.best[0], self.size + after.best[1], self.size + after.best[2]
        return IntervalSummary(
            self.size + after.size,
            self.total + after.total,
            max(self.prefix, prefix, key=_sum_then_first),
            max(suffix, (after.suffix[0], self.size + after.suffix[1]), key=_sum_then_first),
            max(self.best, across, best, key=_sum_then_first),
        )

    def interval(self, exponent: int | None = None) -> Interval:
        """Return the first best interval; ``exponent`` is that of the grid, None for integers."""
        total, start, stop = self.best
        return Interval(start, stop, number(total, exponent))


def _sum_then_first(found: tuple[int, ...]) -> tuple[int, ...]:
    return (found[0], *(-place for place in found[1:]))


def shard_magnitudes(values: Any) -> Magnitudes:
    """Return what the grid of the whole array depends on, of one shard.

    Integers need it only if the magnitudes of all shards may add up to 2**63.

    Parameters
    ----------
    values : array of integers or floating-point numbers
        The shard, of any shape; may be empty.

    Returns
    -------
    Magnitudes
        ``joined`` takes those of another shard, in any order; ``exponent`` is that of the grid.

    Raises
    ------
    ParameterError
        When the type is wrong, or a value is NaN or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.solvers.max_sum import interval_summary, shard_magnitudes
    >>> first, second = np.array([-1.5, 2.0]), np.array([0.25, -3.0])
    >>> known = shard_magnitudes(first).joined(shard_magnitudes(second))
    >>> exponent = known.exponent(first.dtype)
    >>> before, after = (interval_summary(shard, exponent) for shard in (first, second))
    >>> before.then(after).interval(exponent)
    Interval(start=1, stop=3, sum=2.25)
    """
    return grid.magnitudes(as_array("values", values))


def interval_summary(
    values: Any, exponent: int | None = None, *, backend: str = "auto"
) -> IntervalSummary:
    """Return the summary of one shard.

    Parameters
    ----------
    values : (N,) array of integers or floating-point numbers
    exponent : int or None
        Exponent of the grid of all shards, from ``Magnitudes``; None for integers.
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        When the shape or the type is wrong, the array is empty, or the exponent is missing or not
        wanted. Magnitudes are not checked.
    """
    values = grid.checked(values, 1)
    if grid.is_integer(values.dtype) != (exponent is None):
        wanted = "None for integers" if exponent is not None else "an integer for floating point"
        raise ParameterError(f"exponent = {exponent}: must be {wanted}")
    operations = dispatch.operations(__package__, backend, values)
    total, prefix, suffix, best = operations.interval_summary(values, exponent)
    return IntervalSummary(
        len(values), total, (prefix[0], prefix[2]), (suffix[0], suffix[1]), tuple(best)
    )


def joined(summaries: Iterable[IntervalSummary | None]) -> IntervalSummary | None:
    """Return the summary of several shards in order; None stands for a shard without values."""
    present = [one for one in summaries if one is not None]
    return reduce(IntervalSummary.then, present) if present else None


def checked_shards(shards: Iterable[Any], rank: int) -> tuple[list[Any], int | None]:
    """Return the shards that have values, and the exponent of their grid, None for integers.

    Raises
    ------
    ParameterError
        When there are no values, shapes or types are wrong or differ, or ``on_grid`` would refuse
        the values.
    """
    arrays = []
    for place, shard in enumerate(shards):
        array = as_array("shards", shard)
        if array.ndim != rank:
            raise ParameterError(
                f"shards[{place}] of shape {array.shape}: must have {dimensions(rank)}"
            )
        if array.size == 0:
            continue
        arrays.append(array)
        if array.shape[1:] != arrays[0].shape[1:]:
            raise ParameterError(
                f"shards[{place}] of {array.shape[1]} columns: must have {arrays[0].shape[1]}, as "
                "those before"
            )
        if array.dtype != arrays[0].dtype:
            raise ParameterError(
                f"shards[{place}] of type {array.dtype}: must be {arrays[0].dtype}, as those before"
            )
    if not arrays:
        raise ParameterError("shards: must hold at least one value")
    dtype = arrays[0].dtype
    size = sum(array.size for array in arrays)
    if grid.is_integer(dtype):
        largest = grid.bound(dtype)
        if largest * size > grid.MAX_SUM:
            largest = max(map(grid.largest_of, arrays))
        if largest * size <= grid.MAX_SUM:
            return arrays, None
    known = Magnitudes(0)
    for place, array in enumerate(arrays):
        try:
            known = known.joined(grid.magnitudes(array))
        except ParameterError as error:
            raise ParameterError(f"shards, part {place} with values: {error}") from error
    return arrays, known.exponent(dtype)


def max_interval_of_shards(
    shards: Iterable[Any],
    *,
    min_length: int = 1,
    max_length: int | None = None,
    allow_empty: bool = False,
    backend: str = "auto",
) -> Interval:
    """Find the interval of the largest sum of a sequence that lies in several arrays, in order.

    Answer and options are those of ``max_interval`` for the whole sequence. A search takes the
    memory of one shard; with limits of the length, also that of the ``max_length`` - 1 values
    before it, or ``min_length`` - 1 without a largest length.

    Parameters
    ----------
    shards : (N,) arrays of one type of integers or floating-point numbers
        Each is read once or twice; may be empty.

    Raises
    ------
    ParameterError
        As ``max_interval``; also when the types differ.

    Examples
    --------
    >>> from mmpcodec.solvers.max_sum import max_interval_of_shards
    >>> max_interval_of_shards([[3, 2, -7, 11], [10, -6], [4, 9, -6]])
    Interval(start=3, stop=8, sum=28)
    """
    arrays, exponent = checked_shards(shards, 1)
    size = sum(array.size for array in arrays)
    lengths = arguments.limits("length", min_length, max_length, size)
    if lengths == (1, size):
        whole = joined(interval_summary(array, exponent, backend=backend) for array in arrays)
        assert whole is not None
        found = whole.best
    else:
        found = _limited(arrays, exponent, lengths, size, backend)
    if allow_empty and found[0] <= 0:
        return Interval(0, 0, number(0, exponent))
    return Interval(found[1], found[2], number(found[0], exponent))


def _limited(
    arrays: Sequence[Any], exponent: int | None, lengths: tuple[int, int], size: int, backend: str
) -> tuple[int, int, int]:
    """Return sum, start and stop of the first best interval of limited length.

    Each shard is searched together with the last values before it. Without a largest length, an
    interval may start earlier: then it holds all these values, and is long enough.
    """
    least, most = lengths
    keep = (most if most < size else least) - 1
    operations = dispatch.operations(__package__, backend, arrays[0])
    xp = module_of(arrays[0])
    window, begin = on_known_grid(arrays[0][:0], exponent), 0
    suffix: IntervalSummary | None = None
    found: list[tuple[int, ...]] = []
    for array in arrays:
        kept = len(window)
        window = xp.concatenate([window, on_known_grid(array, exponent)])
        if len(window) >= least:
            total, start, stop = operations.max_interval(window, (least, min(most, len(window))))
            found.append((total, begin + int(start), begin + int(stop)))
        if suffix is not None:
            sums = xp.cumsum(window)[max(kept, 1) - 1 :]
            at = int(sums.argmax())
            stop = begin + max(kept, 1) + at
            found.append((suffix.suffix[0] + int(sums[at]), suffix.suffix[1], stop))
        cut = max(len(window) - keep, 0)
        dropped, window = window[:cut], window[cut:]
        begin += len(dropped)
        if most == size and len(dropped):
            summary = interval_summary(dropped, backend=backend)
            suffix = summary if suffix is None else suffix.then(summary)
    return max(found, key=_sum_then_first)  # type: ignore[return-value]
