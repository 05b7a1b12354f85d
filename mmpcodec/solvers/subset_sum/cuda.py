"""The operations on a CUDA device; see ``dense.cu`` and ``meet.cu``.

Weights and answers lie in host memory. ``balanced`` is missing because each of its steps needs the
previous one, so it runs on the processor.
"""

from typing import Any

import numpy as np

from mmpcodec.errors import LimitExceeded
from mmpcodec.runtime import kernels
from mmpcodec.runtime.cuda import attribute, free_bytes
from mmpcodec.solvers.limits import look
from mmpcodec.solvers.subset_sum.methods import MEET_BYTES, maker_bytes
from mmpcodec.solvers.subset_sum.passes import (
    MOST_ITEMS,
    PASS,
    THREADS,
    plan_passes,
    span_of,
    tiles_of,
)

NULL = np.uintp(0)
NONE = (1 << 64) - 1
"""Mark of a missing sum in the results of the kernels."""
FOUND = np.dtype([(name, np.uint64) for name in ("above", "below", "passes", "count", "arrived")])
FOUND_WORDS = FOUND.itemsize // 8
MOST_EACH = 16
"""Most 64-bit words of a span (a tile and its halo) for each thread; its registers hold no more."""
SHARED_BESIDES = 8 * MOST_ITEMS + 2 * PASS.itemsize + 1024
"""Shared memory of a block outside the span, including the part that CUDA reserves, in bytes."""

MEET_THREADS = 256
BLOCKS_A_PROCESSOR = 8


def dense(
    weights: np.ndarray,
    target: int,
    limit: int,
    floor: int,
    items: bool,
    deadline: float | None = None,
) -> tuple[int, np.ndarray | None]:
    """See the function in ``reference``; a search that has begun ends after the deadline, too.

    Raises
    ------
    LimitExceeded
        When the device has too little memory for two rows of bits and, with ``items``, an item
        number for each sum.
    """
    look(deadline)
    row = DeviceRow(weights, limit, floor, items)
    row.add_items(target)
    return row.wanted(target)


def sums(weights: np.ndarray, limit: int, deadline: float | None = None) -> np.ndarray:
    """See the function in ``reference``; the errors are those of ``dense``."""
    look(deadline)
    row = DeviceRow(weights, limit, 0, False)
    row.add_items(-1)
    return row.words_of_all_passes()


class DeviceRow:
    """Two rows of bits on the device, with one bit for each sum up to a limit.

    Parameters
    ----------
    weights, limit, floor, items
        See ``reference.dense``.

    Raises
    ------
    LimitExceeded
        See ``dense``.
    """

    def __init__(self, weights: np.ndarray, limit: int, floor: int, items: bool):
        import cupy

        self.device = cupy.cuda.Device().id
        processors = attribute("MultiProcessorCount", self.device)
        self.blocks = min(processors, tiles_of(limit))
        self.limit, self.floor = limit, floor
        self.size = limit // 64 + 1
        self.kept = np.flatnonzero(weights <= limit)
        self.maker_bytes = maker_bytes(len(self.kept))
        needed = 16 * self.size + 64 * self.size * self.maker_bytes * items
        free = free_bytes()
        if needed > free:
            raise LimitExceeded(
                "Device memory", f"sums up to {limit} need {needed} bytes, {free} are free"
            )
        shared = attribute("MaxSharedMemoryPerBlockOptin", self.device) - SHARED_BESIDES
        self.each = min(MOST_EACH, shared // (8 * THREADS))
        self.span = span_of(limit, self.blocks, self.each)
        light = weights[self.kept]
        self.plan = plan_passes(light, limit, floor, self.span)
        self._send(light, items)
        self.rows = cupy.zeros((2, self.size), np.uint64)
        self.rows[0, 0] = 1
        self.makers = cupy.empty(64 * self.size, f"u{self.maker_bytes}") if items else NULL

    def _send(self, weights: np.ndarray, items: bool) -> None:
        """Copy weights, passes and an empty answer to the device in one transfer."""
        import cupy

        found = np.zeros(1, FOUND)
        found["above"] = found["below"] = NONE
        room = np.zeros(len(weights) if items else 0, np.int64)
        parts = found, room, self.plan, weights
        flat = [part.view(np.int64).ravel() for part in parts]
        board = cupy.asarray(np.concatenate(flat))
        edges = np.cumsum([len(part) for part in flat])
        self.answer = board[: edges[1]]
        self.items = board[edges[0] : edges[1]]
        self.passes = board[edges[1] : edges[2]]
        self.weights = board[edges[2] :]

    def _kernel(self, entry: str, threads: int = THREADS, shared_bytes: int | None = 0) -> Any:
        maker = kernels.c_type(f"u{self.maker_bytes}")
        defines = (f"MMP_MAKER={maker}", f"MMP_EACH={self.each}")
        options: dict[str, Any] = {"threads": threads, "shared_bytes": shared_bytes}
        # Only add_items needs it, but equal options share one compilation.
        options["cooperative"] = True
        return kernels.function("solvers/subset_sum/dense", entry, self.device, defines, **options)

    def add_items(self, target: int) -> None:
        """Add items until the target is a sum; with the target -1, add all items."""
        plan = self.passes, np.int64(len(self.plan)), self.weights
        sums = self.rows, np.int64(self.size), self.makers
        ends = np.int64(target), np.int32(self.span), self.answer
        kernel = self._kernel("add_items", shared_bytes=None)
        kernel((self.blocks,), (*sums, *plan, *ends))

    def wanted(self, target: int) -> tuple[int, np.ndarray | None]:
        """Return the wanted sum and the indices of its items, ascending; None without makers."""
        ends = np.int64(target), np.int64(self.limit), np.int64(self.floor)
        arguments = self.rows, np.int64(self.size), *ends, self.answer
        self._kernel("find_wanted")((self.blocks,), arguments)
        if self.makers is not NULL:
            trace = self._kernel("trace_items", 1)
            trace((1,), (self.makers, self.weights, self.items, self.answer))
        answer = self.answer.get()
        found = answer[:FOUND_WORDS].view(FOUND)[0]
        best = _wanted(found)
        if self.makers is NULL:
            return best, None
        items = answer[FOUND_WORDS : FOUND_WORDS + int(found["count"])]
        return best, self.kept[items[::-1]]

    def words_of_all_passes(self) -> np.ndarray:
        """Return the row after all passes in host memory, with zero bits above the limit."""
        words = self.rows[len(self.plan) % 2].get()
        words[-1] &= np.uint64((2 << self.limit % 64) - 1)
        return words


def meet(
    weights: np.ndarray, target: int, limit: int, deadline: float | None = None
) -> tuple[int, np.ndarray]:
    """See the function in ``reference``.

    Raises
    ------
    LimitExceeded
        When the device has too little memory for the sums of both halves of the items.
    """
    import cupy

    most = min(1 << (len(weights) + 1) // 2, limit + 1)
    needed, free = MEET_BYTES * most, free_bytes()
    if needed > free:
        raise LimitExceeded(
            "Device memory", f"{most} sums of half the items need {needed} bytes, {free} are free"
        )
    half = len(weights) // 2
    low, high = (_sums_of(part, limit, deadline) for part in (weights[:half], weights[half:]))
    found = cupy.asarray(np.full(3, NONE, np.uint64))
    low_count, high_count = np.int64(len(low[0])), np.int64(len(high[0]))
    ends = np.int64(target), np.int64(limit)
    _launch("find_sums", high_count, (low[0], low_count, high[0], high_count, *ends, found))
    lists = *low, low_count, *high, high_count
    _launch("find_set", high_count, (*lists, np.int32(half), found))
    above, below, mask = found.get().tolist()
    best = above if above != NONE else NONE - below
    return best, np.array([i for i in range(len(weights)) if mask >> i & 1], np.int64)


def _sums_of(weights: np.ndarray, limit: int, deadline: float | None) -> tuple[Any, Any]:
    """Return the sums up to the limit, ascending, and the bit mask of the first set with each."""
    import cupy

    sums, masks = cupy.zeros(1, np.int64), cupy.zeros(1, np.uint32)
    for item, weight in enumerate(weights.tolist()):
        look(deadline)
        count = len(sums)
        fresh = cupy.empty(count, np.int32)
        given = np.int64(count), np.int64(weight)
        _launch("mark_new", count, (sums, *given, np.int64(limit), fresh))
        ranks = cupy.cumsum(fresh, dtype=np.int32)
        size = count + int(ranks[-1])
        merged = cupy.empty(size, np.int64), cupy.empty(size, np.uint32)
        arguments = sums, masks, *given, np.uint32(1 << item), ranks, *merged
        _launch("merge_new", count, arguments)
        sums, masks = merged
    return sums, masks


def _launch(entry: str, count: Any, arguments: tuple) -> None:
    """Run a kernel of ``meet.cu`` with at most one thread for each of ``count`` sums."""
    import cupy

    device = cupy.cuda.Device().id
    most = BLOCKS_A_PROCESSOR * attribute("MultiProcessorCount", device)
    blocks = min(-(-int(count) // MEET_THREADS), most)
    kernel = kernels.function("solvers/subset_sum/meet", entry, device, threads=MEET_THREADS)
    kernel((blocks,), arguments)


def _wanted(found: np.void) -> int:
    above, below = int(found["above"]), int(found["below"])
    return above if above != NONE else NONE - below
