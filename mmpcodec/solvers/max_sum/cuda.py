"""Operations on a CUDA device, with values in host or device memory.

The kernels are in ``kernels/cuda/solvers/max_sum``. The host breaks ties and finds disjoint
intervals.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mmpcodec.errors import LimitExceeded
from mmpcodec.runtime import kernels
from mmpcodec.runtime.cuda import attribute, free_bytes
from mmpcodec.solvers.grid import on_known_grid
from mmpcodec.solvers.limits import look
from mmpcodec.solvers.max_sum import cpu
from mmpcodec.solvers.max_sum.arguments import Limits

PIECE = 8
"""int64 numbers of a ``Piece``: sum, and the values and places of least, most and best."""
BEST, START, STOP = range(5, PIECE)

LOWEST = 4
"""int64 numbers of a ``Lowest``, a running minimum: value, count, first and last place."""

THREADS = 256
LINE = 128
BLOCKS_A_PROCESSOR = 4
LIMITED_BLOCKS = 4096
RUNNING_TILE = 2048
CHILDREN = 16
TREE_LEVELS = 12
ROWS_TILE = 64
COLUMNS_TILE = 32


def _record(*names: str) -> np.dtype:
    """Return the dtype of a structure of 32-bit integers, which kernels take by value."""
    return np.dtype([(name, np.int32) for name in names])


SHAPE = _record("planes", "rows", "columns", "padded_columns", "pitch", "min_rows", "max_rows")
LIMITS = _record("rows", "columns", "min_rows", "max_rows", "min_columns", "max_columns")
TREE = np.dtype(
    [(name, np.int64, TREE_LEVELS) for name in ("lows", "highs", "count")] + [("top", np.int64)]
)
PLACE_NAMES = "front", "top", "left", "back", "bottom", "right"
PLACES = _record(*PLACE_NAMES)


def max_interval(values: Any, lengths: Limits) -> tuple[int, int, int]:
    """See the function in ``reference``."""
    import cupy

    values = _aligned(values)
    if lengths[0] > 1 or lengths[1] < len(values):
        return _limited_interval(values, lengths)
    defines = (f"MMP_VALUE={kernels.c_type(values.dtype)}",)
    blocks = BLOCKS_A_PROCESSOR * attribute("MultiProcessorCount", cupy.cuda.Device().id)
    line = LINE // values.itemsize
    stretch = -(-len(values) // (blocks * THREADS * line)) * line
    blocks = -(-len(values) // (THREADS * stretch))
    pieces = cupy.empty((blocks, PIECE), np.int64)
    answer = cupy.empty(PIECE, np.int64)
    arguments = values, np.int64(len(values)), np.int32(stretch), pieces
    _kernel("interval", "pieces_of_blocks", defines)((blocks,), arguments)
    _kernel("interval", "join_pieces", defines)((1,), (pieces, np.int32(blocks), answer))
    piece = answer.get()
    return int(piece[BEST]), int(piece[START]), int(piece[STOP])


def interval_summary(values: Any, exponent: int | None) -> tuple:
    """See the function in ``reference``."""
    import cupy

    values = on_known_grid(cupy.asarray(values), exponent)
    sums = cupy.cumsum(values)
    total, stop = int(sums[-1]), int(sums.argmax()) + 1
    # The longest best suffix follows the shortest prefix of the least sum; no prefix has sum 0.
    low = int(sums[:-1].argmin()) if len(values) > 1 else -1
    least, start = (int(sums[low]), low + 1) if low >= 0 and int(sums[low]) < 0 else (0, 0)
    return (
        total,
        (int(sums[stop - 1]), 0, stop),
        (total - least, start, len(values)),
        max_interval(values, (1, len(values))),
    )


def _limited_interval(values: Any, lengths: Limits) -> tuple[int, int, int]:
    import cupy

    least, most = lengths[0], min(lengths[1], len(values))
    sums = _running_sums(values)
    window, width = most - least + 1, 1
    # Padding with the largest int64, which is never a minimum, makes every window whole.
    lows = cupy.concatenate([cupy.full(window - 1, np.iinfo(np.int64).max), sums])
    while width < window:
        step = min(width, window - width)
        lows = cupy.minimum(lows[:-step], lows[step:])
        width += step
    gains = sums[least:] - lows[: len(sums) - least]
    # The first stop has the first start: the start of the minimum never moves to the left.
    at = int(gains.argmax())
    stop = at + least
    first = max(0, stop - most)
    start = first + int((sums[first : stop - least + 1] == lows[at]).argmax())
    return int(gains[at]), start, stop


def interval_census(values: Any) -> tuple:
    """See the function in ``reference``."""
    import cupy

    sums = _running_sums(cupy.asarray(values))
    lowest, count, first, last = _running_lowest(sums[:-1], 4)
    gains = sums[1:] - lowest
    most = int(gains.max())
    ends = cupy.flatnonzero(gains == most)
    starts, lasts = first[ends], last[ends]
    stops = ends + 1
    longest = int((stops - starts).argmax())
    shortest = int((stops - lasts).argmin())
    return (
        most,
        int(count[ends].sum()),
        _most_disjoint(lasts.get(), stops.get()),
        (most, int(starts[longest]), int(stops[longest])),
        (most, int(lasts[shortest]), int(stops[shortest])),
    )


def _most_disjoint(starts: np.ndarray, stops: np.ndarray) -> int:
    """Return the largest number of disjoint intervals; starts and stops ascend."""
    found, place = 0, 0
    while place < len(starts):
        found += 1
        place = int(np.searchsorted(starts, stops[place]))
    return found


def sums_through(values: Any) -> Any:
    """See the function in ``reference``; the answer is on the device."""
    import cupy

    values = cupy.asarray(values)
    sums = _running_sums(values)
    ending = sums[1:] - _running_lowest(sums[:-1], 1)[0]
    after = -_running_lowest(cupy.ascontiguousarray(-sums[:0:-1]), 1)[0][::-1]
    starting = after - sums[:-1]
    return ending + starting - values


def maximal_intervals(values: Any) -> np.ndarray:
    """See the function in ``reference``."""
    import cupy

    values = cupy.asarray(values)
    positive = values > 0
    positive[1:] &= values[:-1] <= 0
    starts = cupy.flatnonzero(positive)
    sums = _running_sums(values)
    stops = cupy.empty_like(starts)
    count = len(starts)
    if count:
        tree, _levels = _tree(sums)
        arguments = tree, starts, np.int64(count), stops
        _kernel("maximal", "reach_of_starts")((-(-count // THREADS),), arguments)
        # An interval is maximal if no earlier one stops later.
        before = -_running_lowest(-stops, 1)[0][:-1]
        is_maximal = cupy.ones(count, bool)
        is_maximal[1:] = stops[1:] > before
        starts, stops = starts[is_maximal], stops[is_maximal]
    return cupy.stack([starts, stops, sums[stops] - sums[starts]]).get()


def _tree(sums: Any) -> tuple[Any, list]:
    """Return the kernel's ``Tree`` of running sums, and the arrays whose addresses it holds."""
    import cupy

    levels = [(sums, sums)]
    while len(levels[-1][0]) > 1:
        lows, highs = levels[-1]
        nodes = -(-len(lows) // CHILDREN)
        joined = cupy.empty(nodes, np.int64), cupy.empty(nodes, np.int64)
        arguments = lows, highs, np.int64(len(lows)), *joined
        _kernel("maximal", "join_nodes")((-(-nodes // THREADS),), arguments)
        levels.append(joined)
    tree = np.zeros((), TREE)
    for level, (lows, highs) in enumerate(levels):
        tree["lows"][level], tree["highs"][level] = lows.data.ptr, highs.data.ptr
        tree["count"][level] = len(lows)
    tree["top"] = len(levels) - 1
    return tree[()], levels


def max_rectangle(
    values: Any,
    heights: Limits,
    widths: Limits,
    transposed: bool,
    deadline: float | None = None,
) -> tuple[int, int, int, int, int]:
    """See the function in ``reference``."""
    look(deadline)
    values = _aligned(values)
    if widths[0] > 1 or widths[1] < values.shape[1]:
        return _limited_rectangle(values, heights, widths, transposed)
    names = ("left", "top", "right", "bottom") if transposed else ("top", "left", "bottom", "right")
    total, found = _Strips(values[None], heights).best(("front", *names, "back"))
    top, bottom, left, right = (int(found[name]) for name in ("top", "bottom", "left", "right"))
    return total, top, bottom, left, right


def strip_maxima(values: Any, deadline: float | None = None) -> np.ndarray:
    """See the function in ``reference``."""
    look(deadline)
    values = _aligned(values)
    return _Strips(values[None], (1, len(values))).maxima()


def max_box(values: Any, sides: Sequence[Limits], deadline: float | None = None) -> tuple[int, ...]:
    """See the function in ``reference``; with limits, the processor does the work."""
    import cupy

    if list(sides) != [(1, side) for side in values.shape]:
        return cpu.max_box(_on_host(values), sides, deadline)
    look(deadline)
    values = cupy.asarray(values)
    # The kernels try all ranges of the two shorter sides and scan along the longest side.
    axes = sorted(range(3), key=lambda axis: values.shape[axis])
    volume = cupy.ascontiguousarray(values.transpose(axes))
    starts, stops = PLACE_NAMES[:3], PLACE_NAMES[3:]
    order = [names[axes.index(axis)] for names in (starts, stops) for axis in range(3)]
    total, found = _Strips(volume, (1, volume.shape[1])).best(order)
    return (total, *(int(found[name]) for name in order))


def box_census(values: Any, deadline: float | None = None) -> tuple:
    """See the function in ``reference``; the processor does the work."""
    return cpu.box_census(_on_host(values), deadline)


def _on_host(values: Any) -> np.ndarray:
    import cupy

    return cupy.asnumpy(values).astype(np.int64, copy=False)


class _Strips:
    """Search for the best interval of columns in each range of planes and rows of a volume."""

    def __init__(self, volume: Any, heights: Limits):
        import cupy

        self.cupy = cupy
        planes, self.rows, columns = volume.shape
        # One more row than the values have: the sum of no row.
        tiles = self.rows // ROWS_TILE + 1
        groups = -(-columns // COLUMNS_TILE)
        sizes = planes, self.rows, columns, groups * COLUMNS_TILE, tiles * ROWS_TILE, *heights
        self.shape = np.array(sizes, SHAPE)[()]
        of_strips = -(-self.rows // ROWS_TILE)
        self.blocks = of_strips * (of_strips + 1) // 2 * (planes * (planes + 1) // 2)
        self.found = cupy.asarray(np.array([0, np.iinfo(np.int64).min, 0]))
        self.defines: tuple[str, ...] = (f"MMP_VALUE={kernels.c_type(volume.dtype)}",)
        grid = groups, tiles, planes
        tile_sums = cupy.empty((planes, tiles, columns), np.int64)
        arguments = volume, self.shape, tile_sums, self.found
        self._kernel("sum_tiles")(grid, arguments)
        # 32-bit sums are faster; they suffice if the magnitudes add up to less than 2**31.
        wide = int(self.found[0]) > np.iinfo(np.int32).max
        self.sum_type = np.dtype(np.int64 if wide else np.int32)
        self.defines += (f"MMP_SUM={kernels.c_type(self.sum_type)}",)
        places = groups * COLUMNS_TILE * tiles * ROWS_TILE
        needed = (planes * places + self.blocks) * self.sum_type.itemsize
        needed += self.blocks * PLACES.itemsize
        free = free_bytes()
        if needed > free:
            raise LimitExceeded("Device memory", f"sums need {needed} bytes, {free} are free")
        # The bottoms of the last tile may reach one place further.
        self.sums = cupy.empty(planes * places + 1, self.sum_type)
        self._kernel("sum_rows")(grid, (volume, self.shape, tile_sums, self.sums))
        if planes > 1:
            self._kernel("sum_planes")((-(-places // THREADS),), (self.shape, self.sums))

    def _kernel(self, entry: str) -> Any:
        return _kernel("rectangle", entry, self.defines)

    def _best_of_tiles(self, strips: Any) -> Any:
        """Return the best sum of each block: one range of planes and one pair of row tiles."""
        best = self.cupy.empty(self.blocks, self.sum_type)
        arguments = self.sums, self.shape, best, self.found, strips
        self._kernel("best_of_tiles")((self.blocks,), arguments)
        return best

    def best(self, order: Sequence[str]) -> tuple[int, np.void]:
        """Return the best sum and the places that have it and come first by ``order``."""
        best = self._best_of_tiles(np.uintp(0))
        places = self.cupy.empty((self.blocks, len(PLACE_NAMES)), np.int32)
        numbers = np.array(tuple(PLACE_NAMES.index(name) for name in order), PLACES)[()]
        arguments = self.sums, self.shape, best, self.found, numbers, places
        self._kernel("place_in_tiles")((self.blocks,), arguments)
        _, most, count = self.found.get().tolist()
        tied = places[:count].get().view(PLACES)[:, 0]
        return most, np.sort(tied, order=list(order))[0]

    def maxima(self) -> np.ndarray:
        """Return the best sum of each range of rows as int64 in host memory."""
        strips = self.cupy.empty(self.rows * (self.rows + 1) // 2, np.int64)
        self._best_of_tiles(strips)
        return strips.get()


def _limited_rectangle(
    values: Any, heights: Limits, widths: Limits, transposed: bool
) -> tuple[int, int, int, int, int]:
    import cupy

    rows, columns = values.shape
    corners = cupy.zeros((rows + 1, columns + 1), np.int64)
    corners[1:, 1:] = values.astype(np.int64).cumsum(axis=0).cumsum(axis=1)
    firsts, lasts = np.triu_indices(rows)
    tall = (lasts - firsts + 1 >= heights[0]) & (lasts - firsts + 1 <= heights[1])
    pairs = np.stack([firsts[tall], lasts[tall] + 1], 1).astype(np.int32)
    strips = cupy.asarray(pairs)
    limits = np.array((rows, columns, *heights, *widths), LIMITS)[()]

    window = min(widths[1], columns) - widths[0] + 1
    needed = 3 * (columns + 1) + 2 * (window - 1)
    in_shared = (
        8 * needed <= attribute("MaxSharedMemoryPerBlockOptin", cupy.cuda.Device().id) - 1024
    )
    kernel = _kernel(
        "limited_strips", "best_of_limited", shared_bytes=8 * needed if in_shared else 0
    )
    blocks = min(len(strips), LIMITED_BLOCKS)
    scratch = np.uintp(0) if in_shared else cupy.empty(blocks * needed, np.int64)

    def search(some: Any, places: Any) -> Any:
        best = cupy.empty(len(some), np.int64)
        arguments = corners, limits, some, np.int32(len(some)), best, places, scratch
        kernel((min(len(some), blocks),), (*arguments, np.int32(needed)))
        return best

    best = search(strips, np.uintp(0))
    most = best.max()
    tied = cupy.ascontiguousarray(strips[best == most])
    places = cupy.empty(len(tied), np.uint64)
    search(tied, places)
    candidates = []
    for (first, last), place in zip(tied.get().tolist(), places.get().tolist(), strict=True):
        start, stop = place >> 32, place & 0xFFFFFFFF
        key = (start, first, stop, last) if transposed else (first, start, last, stop)
        candidates.append((key, first, last, start, stop))
    _, first, last, start, stop = min(candidates)
    return int(most), first, last, start, stop


def _aligned(values: Any) -> Any:
    """Return values on the device, in C order, at an address that is a multiple of 16 bytes."""
    import cupy

    values = cupy.ascontiguousarray(cupy.asarray(values))
    return values if values.data.ptr % 16 == 0 else values.copy()


def _running_sums(values: Any) -> Any:
    """Return 0 and the running sums of N values as an (N + 1,) int64 array."""
    import cupy

    sums = cupy.zeros(len(values) + 1, np.int64)
    cupy.cumsum(values, dtype=np.int64, out=sums[1:])
    return sums


def _running_lowest(sums: Any, wanted: int) -> list[Any]:
    """Return running minima of ``sums``, their number of occurrences, first and last places.

    ``wanted`` is the number of these four int64 arrays to return.
    """
    import cupy

    count = np.int64(len(sums))
    tiles = -(-len(sums) // RUNNING_TILE)
    lowest = cupy.empty((tiles, LOWEST), np.int64)
    found = [cupy.empty(len(sums), np.int64) for _ in range(wanted)]
    outputs = [*found, *[np.uintp(0)] * (LOWEST - wanted)]
    _kernel("running_minimum", "lowest_of_tiles")((tiles,), (sums, count, lowest))
    _kernel("running_minimum", "lowest_before_tiles")((1,), (lowest, np.int64(tiles)))
    _kernel("running_minimum", "running_lowest")((tiles,), (sums, count, lowest, *outputs))
    return found


def _kernel(
    name: str, entry: str, defines: tuple[str, ...] = (), shared_bytes: int | None = None
) -> Any:
    import cupy

    return kernels.function(
        f"solvers/max_sum/{name}",
        entry,
        cupy.cuda.Device().id,
        defines,
        threads=THREADS,
        shared_bytes=shared_bytes,
    )
