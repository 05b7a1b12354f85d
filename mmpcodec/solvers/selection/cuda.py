"""Operations on a CUDA device, with values in host or device memory; see ``selection.cu``.

Large arrays are read once: a sample gives brackets of keys around the ranks. If a bracket misses
its rank, all digits of the keys are counted, in three passes for 32 bits.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mmpcodec.runtime import kernels
from mmpcodec.runtime.arrays import module_of, on_device
from mmpcodec.runtime.cuda import attribute, free_bytes
from mmpcodec.solvers.selection.keys import key_type, to_keys
from mmpcodec.solvers.selection.shards import DIGIT_BITS, Search

KINDS = {"b": 0, "u": 0, "i": 1, "f": 2}
QUERY = np.dtype(
    [("key", np.uint64), ("rank", np.int64), ("state", np.int64), ("bracket", np.int64)]
)
TALLY = 4
"""int64 numbers of a ``Tally``, the counts of one block for one bracket."""
MISSED = 2

THREADS = 256
BLOCKS_A_PROCESSOR = 4
DIRECT = 1 << 23
"""Largest number of values that are searched digit by digit, without brackets."""
MAX_SAMPLE = 1 << 17
FEW_BLOCKS = 128
"""Number of blocks that count digits for one rank in its bracket."""
SHARE = 1 << 13
"""Smallest number of values of a block that counts digits."""
ROOM = 4
"""Number of keys of a bracket that a block can keep, divided by the expected number."""
MANY = 64
"""Largest number of ranks that are searched; for more ranks, all values are sorted."""
AT_ONCE = (1, 2, 4)
"""Numbers of brackets of one pass over the values that the kernel is compiled for."""
LONG_ROW = 1 << 18
"""Largest number of values of a row that one block searches."""
PART = 1 << 28
"""Bytes that are copied to the device at once if the array does not fit."""


def select(values: Any, ranks: list[int]) -> tuple[np.ndarray, int]:
    """See the function in ``reference``; the keys come to the host."""
    import cupy

    if _too_large(values):
        return _select_in_parts(values, ranks)
    search = _Selection(cupy.asarray(values))
    if len(ranks) > MANY:
        return search.by_sorting(ranks)
    if len(values) > DIRECT:
        found, nans = search.by_brackets(ranks)
        if not (found["state"] == MISSED).any():
            return found["key"], nans
    found, nans = search.by_digits(ranks)
    return found["key"], nans


def select_lines(lines: Any, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See the function in ``reference``; the keys come to the host as uint64."""
    xp = module_of(lines)
    rows = xp.ascontiguousarray(xp.moveaxis(lines, 1, 2).reshape(-1, lines.shape[1]))
    ranks = np.broadcast_to(ranks, (len(rows), ranks.shape[1]))
    order = np.argsort(ranks, axis=1, kind="stable")
    keys, nans = _select_rows(rows, np.take_along_axis(ranks, order, axis=1))
    return np.take_along_axis(keys, np.argsort(order, axis=1), axis=1), nans


def _select_rows(rows: Any, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Select from the rows of an (R, N) array at (R, M) ascending ranks."""
    import cupy

    count, length = rows.shape
    if _too_large(rows) and count > 1:
        middle = count // 2
        keys, nans = _select_rows(rows[:middle], ranks[:middle])
        more_keys, more_nans = _select_rows(rows[middle:], ranks[middle:])
        return np.concatenate([keys, more_keys]), np.concatenate([nans, more_nans])
    if length > LONG_ROW:
        each = [_select_row(row, wanted) for row, wanted in zip(rows, ranks, strict=True)]
        return np.stack([keys for keys, _ in each]), np.array([nans for _, nans in each])
    search = _Selection(cupy.asarray(rows))
    keys = cupy.empty(ranks.shape, np.uint64)
    nans = cupy.empty(count, np.int64)
    arguments = search.values, np.int64(length), cupy.asarray(ranks), np.int32(ranks.shape[1])
    search.kernel("select_rows")((count,), (*arguments, keys, nans))
    return keys.get(), nans.get()


def _select_row(row: Any, ranks: np.ndarray) -> tuple[np.ndarray, int]:
    different = np.unique(ranks)
    keys, nans = select(row, different.tolist())
    return keys[np.searchsorted(different, ranks)], nans


def digit_counts(values: Any, prefix: int, shift: int, bits: int) -> np.ndarray:
    """See the function in ``reference``; the counts come to the host."""
    import cupy

    if _too_large(values):
        middle = len(values) // 2
        first, last = values[:middle], values[middle:]
        counts = digit_counts(first, prefix, shift, bits)
        return counts + digit_counts(last, prefix, shift, bits)
    search = _Selection(cupy.asarray(values))
    counts = cupy.zeros(1 << bits, np.uint64)
    digit = np.uint64(prefix), np.int32(shift), np.int32(bits)
    arguments = search.values, np.int64(len(values)), *digit, counts
    search.kernel("digit_counts")((search.blocks,), arguments)
    return counts.get().astype(np.int64)


class _Selection:
    """Selection from values on the device. Methods return keys or queries, and the count of NaN."""

    def __init__(self, values: Any):
        import cupy

        self.cupy = cupy
        self.values = values
        self.bits = 8 * values.dtype.itemsize
        self.kind = KINDS[values.dtype.kind]
        processors = attribute("MultiProcessorCount", cupy.cuda.Device().id)
        self.blocks = BLOCKS_A_PROCESSOR * processors

    def kernel(self, entry: str, brackets: int = 1) -> Any:
        defines = (
            f"MMP_KEY={kernels.c_type(key_type(self.values.dtype))}",
            f"MMP_KIND={self.kind}",
            f"MMP_BRACKETS={brackets}",
        )
        device = self.cupy.cuda.Device().id
        is_whole = entry == "find_keys"
        return kernels.function(
            "solvers/selection/selection",
            entry,
            device,
            defines,
            threads=THREADS,
            cooperative=is_whole,
        )

    def by_sorting(self, ranks: list[int]) -> tuple[np.ndarray, int]:
        """Select by sorting all values."""
        keys = self.cupy.sort(to_keys(self.values))
        is_nan = self.values.dtype.kind == "f" and keys == np.iinfo(keys.dtype).max
        return keys[self.cupy.asarray(ranks)].get().astype(np.uint64), int(np.sum(is_nan))

    def by_digits(self, ranks: list[int]) -> tuple[np.ndarray, int]:
        """Select digit by digit; each digit is counted in all values."""
        count = self.values.size
        blocks = max(1, min(self.blocks, count // SHARE))
        return self._find(_queries(ranks), [], 0, blocks, blocks)

    def by_brackets(self, ranks: list[int]) -> tuple[np.ndarray, int]:
        """Select by a bracket of keys around each rank, and by the digits of the keys in it."""
        queries, count = _queries(ranks), self.values.size
        places = _brackets(queries["rank"], count)
        queries["bracket"] = np.searchsorted(
            [high for _, high in places], _place(queries["rank"], count)
        )
        return self._find(queries, places, _sample_size(count), self.blocks, FEW_BLOCKS)

    def _find(
        self,
        queries: np.ndarray,
        places: list[tuple[int, int]],
        size: int,
        blocks: int,
        blocks_a_query: int,
    ) -> tuple[np.ndarray, int]:
        """Run the kernel; return the answered queries and the number of NaN.

        ``places`` are the brackets as ranks in a sample of ``size`` keys; none counts all digits.
        """
        cupy, count = self.cupy, self.values.size
        widest = max((high - low for low, high in places), default=0)
        capacity = int(ROOM * widest / size * count / blocks) + 64 if places else 0
        board = _Board(queries, *_open_ends(places, size))
        most = max(len(queries), len(board.bounds))
        keys = key_type(self.values.dtype)
        at_once = min(n for n in AT_ONCE if n >= min(len(places), AT_ONCE[-1]))
        searched = board.queries, np.int32(len(queries)), np.int32(blocks_a_query)
        sample_blocks = np.int32(-(-size // SHARE))
        bounds = board.bounds, np.int32(len(board.bounds)), sample_blocks
        sample = cupy.empty(size, keys), np.int32(size)
        brackets = board.ends, np.int32(len(places))
        inside = cupy.empty(len(places) * blocks * capacity, keys), np.int64(capacity)
        tallies = cupy.empty(len(places) * blocks * TALLY, np.int64)
        counts = cupy.empty((most, 1 << DIGIT_BITS), np.uint64), cupy.empty(most, np.uint32)
        arguments = (
            *(self.values, np.int64(count), *searched, *bounds, *sample, *brackets, *inside),
            *(tallies, *counts, board.waiting, board.nans),
        )
        self.kernel("find_keys", at_once)((blocks,), arguments)
        return board.read()


class _Board:
    """Small inputs and outputs of the kernel, in one device array, so that one copy moves them all.

    The parts are the queries, the bounds and ends of brackets, the number of blocks at a barrier
    and the number of NaN.
    """

    def __init__(
        self, queries: np.ndarray, bounds: Sequence[int] = (), ends: Sequence[Sequence[int]] = ()
    ):
        import cupy

        parts = queries, _queries(bounds), np.array(ends, np.int64), np.zeros(2, np.int64)
        flat = [part.view(np.int64).ravel() for part in parts]
        self.all = cupy.asarray(np.concatenate(flat))
        edges = np.cumsum([len(part) for part in flat]).tolist()
        self.queries = self.all[: edges[0]]
        self.bounds = self.all[edges[0] : edges[1]].reshape(-1, len(QUERY.names or ()))
        self.ends = self.all[edges[1] : edges[2]]
        self.waiting = self.all[edges[2] :]
        self.nans = self.all[edges[2] + 1 :]

    def read(self) -> tuple[np.ndarray, int]:
        """Copy the queries and the number of NaN to the host."""
        values = self.all.get()
        return values[: self.queries.size].view(QUERY), int(values[-1])


def _queries(ranks: Sequence[int]) -> np.ndarray:
    queries = np.zeros(len(ranks), QUERY)
    queries["rank"] = ranks
    return queries


def _sample_size(count: int) -> int:
    return min(MAX_SAMPLE, count // 64)


def _place(rank: Any, count: int) -> Any:
    """Return the rank in the sample that corresponds to a rank among ``count`` values."""
    return (np.asarray(rank) * (_sample_size(count) / count)).astype(np.int64)


def _brackets(ranks: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Return ranges of sample ranks, four standard deviations around each rank, as (low, high).

    Overlapping ranges are joined.
    """
    margin = 2 * int(np.sqrt(_sample_size(count))) + 1
    found: list[tuple[int, int]] = []
    for place in _place(ranks, count).tolist():
        if found and place - margin <= found[-1][1]:
            found[-1] = found[-1][0], place + margin
        else:
            found.append((place - margin, place + margin))
    return found


def _open_ends(places: list[tuple[int, int]], size: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the ends of brackets that lie in the sample, and each bracket's indices of its ends.

    The index is -1 where a bracket is open.
    """
    ends: list[int] = []

    def number(place: int) -> int:
        if not 0 <= place < size:
            return -1
        ends.append(place)
        return len(ends) - 1

    return ends, [(number(low), number(high)) for low, high in places]


def _too_large(values: Any) -> bool:
    """Return whether values in host memory must be copied to the device in parts."""
    return not on_device(values) and values.nbytes > free_bytes() // 2


def _select_in_parts(values: np.ndarray, ranks: list[int]) -> tuple[np.ndarray, int]:
    """Select digit by digit, with one part of the values on the device at a time."""
    import cupy

    searches = [Search(values.dtype, rank + 1, len(values)) for rank in ranks]
    size = max(1, PART // values.dtype.itemsize)
    nans = 0
    first = True
    while not all(search.done for search in searches):
        counts = [np.zeros(1 << search.bits, np.int64) for search in searches]
        for start in range(0, len(values), size):
            part = cupy.asarray(values[start : start + size])
            if first and values.dtype.kind == "f":
                nans += int(cupy.isnan(part).sum())
            for count, search in zip(counts, searches, strict=True):
                count += digit_counts(part, search.prefix, search.shift, search.bits)
        for count, search in zip(counts, searches, strict=True):
            search.take(count)
        first = False
    return np.array([search.prefix for search in searches], np.uint64), nans
