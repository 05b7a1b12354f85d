"""Operations on a CUDA device; the kernels are in ``kernels/cuda/solvers/rank_filter``.

Small windows are searched by counting (``search.cu``). For larger windows, histograms slide over
8-bit samples, in a time that does not depend on the window (``slide.cu``). Samples of other types
are sorted region by region and replaced by 8-bit bins; the histograms give the bin of the answer,
and the samples of this bin are searched (``places.cu``). Signed integers and floating-point
numbers become unsigned integers of the same order first. The processor filters float64, and windows
that are not rectangles.
"""

from typing import Any

import numpy as np

from mmpcodec.runtime import kernels
from mmpcodec.runtime.arrays import module_of, on_device
from mmpcodec.runtime.cuda import attribute
from mmpcodec.solvers.rank_filter import cpu
from mmpcodec.solvers.rank_filter.reference import Border, Cells, Window
from mmpcodec.solvers.selection.keys import from_keys, to_keys

SHAPE = np.dtype([(name, np.int32) for name in ("rows", "columns", "pitch", "height", "width")])
SMALL_AREA = 49
"""Largest area of windows that are searched in registers, in samples."""
SEARCH_AREA = {1: SMALL_AREA, 2: 121, 4: SMALL_AREA}
"""Largest area of windows that are searched by counting, in samples, by bytes of a sample."""
GROUP = 16
"""Number of columns that share a histogram."""
GROUP_BYTES = GROUP * 256 + 512
"""Shared memory of the histograms of a group and of its columns, in bytes."""
BINS = 256
HIGHEST = 1024
"""Largest number of result rows in a sorted region: positions and places fit into 16 bits."""
AT_ONCE = 1 << 25
"""Largest number of samples that are sorted at once, unless a row of regions has more."""
NO_ARRAY = np.uintp(0)


def ranked(samples: Any, border: Border, window: Window, rank: int, cells: Cells = None) -> Any:
    """See the function in ``reference``."""
    if not _has_kernels(samples, cells):
        found = cpu.ranked(_on_host(samples), border, window, rank, cells)
        return found if found is None else _beside(samples, found)
    there = _on_device(samples)
    if there.dtype.kind == "f" and bool(module_of(there).isnan(there).any()):
        return None
    ranks = np.zeros(window[0] * window[1] + 1, np.int32)
    ranks[-1] = rank
    out, _ = _filtered(to_keys(there), None, border, window, ranks)
    return _beside(samples, from_keys(out, samples.dtype))


def ranked_of_valid(
    samples: Any,
    valid: Any,
    border: Border,
    window: Window,
    ranks: np.ndarray,
    cells: Cells = None,
) -> tuple[Any, Any]:
    """See the function in ``reference``."""
    if not _has_kernels(samples, cells):
        found = cpu.ranked_of_valid(
            _on_host(samples), _on_host(valid), border, window, ranks, cells
        )
        return _beside(samples, found[0]), _beside(samples, found[1])
    there, counts = _on_device(samples), _on_device(valid)
    out, inside = _filtered(to_keys(there), counts, border, window, ranks)
    out = module_of(there).where(inside, from_keys(out, samples.dtype), samples.dtype.type(0))
    return _beside(samples, out), _beside(samples, inside)


def _has_kernels(samples: Any, cells: Cells) -> bool:
    """Return whether kernels take the samples and the window; the processor takes all of them."""
    return cells is None and samples.dtype != np.float64


def _on_host(array: Any) -> np.ndarray:
    return array.get() if on_device(array) else array


def _beside(samples: Any, found: Any) -> Any:
    """Return an answer in the memory of the samples."""
    if on_device(samples):
        return _on_device(found)
    return _on_host(found)


def _filtered(
    samples: Any, valid: Any, border: Border, window: Window, ranks: np.ndarray
) -> tuple[Any, Any]:
    if window[0] * window[1] <= SEARCH_AREA[samples.dtype.itemsize]:
        return _search(samples, valid, border, window, ranks)
    slide = _Slide(samples, valid, border, window, ranks)
    return slide.values() if samples.dtype == np.uint8 else slide.values_in_order()


def _on_device(array: Any) -> Any:
    import cupy

    return cupy.ascontiguousarray(cupy.asarray(array))


def _upload(*arrays: np.ndarray) -> list[Any]:
    """Copy int32 arrays to the device in one transfer."""
    import cupy

    there = cupy.asarray(np.concatenate(arrays))
    ends = np.cumsum([len(array) for array in arrays]).tolist()
    return [there[end - len(array) : end] for array, end in zip(arrays, ends, strict=True)]


def _shape(samples: Any, border: Border, window: Window) -> Any:
    rows, columns = (len(places) - side + 1 for places, side in zip(border, window, strict=True))
    return np.array((rows, columns, samples.shape[1], *window), SHAPE)[()]


class _Slide:
    """Filter by sliding histograms; a block takes a strip of columns in a band of rows."""

    def __init__(self, samples: Any, valid: Any, border: Border, window: Window, ranks: np.ndarray):
        import cupy

        self.cupy = cupy
        self.samples, self.valid = samples, valid
        self.device = cupy.cuda.Device().id
        self.shape = _shape(samples, border, window)
        self.size = int(self.shape["rows"]), int(self.shape["columns"])
        self.window = window
        most = attribute("MaxSharedMemoryPerBlockOptin", self.device)
        widest = most // GROUP_BYTES * GROUP - window[1] + 1
        self.strips = -(-self.size[1] // widest)
        self.strip = -(-self.size[1] // self.strips)
        # One block a multiprocessor, unless the first window of a band would have more rows than
        # the band.
        processors = attribute("MultiProcessorCount", self.device)
        bands = max(1, min(processors // self.strips, self.size[0] // window[0]))
        if samples.dtype != np.uint8:
            bands = max(bands, -(-self.size[0] // HIGHEST))
        self.band = -(-self.size[0] // bands)
        self.bands = -(-self.size[0] // self.band)
        self.border = _upload(*border)
        self.rank = np.int32(ranks[-1])
        self.ranks = NO_ARRAY if valid is None else cupy.asarray(ranks)

    def values(self) -> tuple[Any, Any]:
        """Return the filtered 8-bit samples, and a bool array of windows that hold valid samples.

        The bool array is None if there is no mask.
        """
        out = self.cupy.empty(self.size, np.uint8)
        found = None if self.valid is None else self.cupy.empty(self.size, bool)
        self._slide(self.samples, 0, self.bands, out, found)
        return out, found

    def values_in_order(self) -> tuple[Any, Any]:
        """Return the same as ``values`` for 16-bit and 32-bit samples."""
        cupy = self.cupy
        bins = cupy.empty(self.size, np.uint8)
        places = cupy.empty(self.size, np.uint16)
        out = cupy.empty(self.size, self.samples.dtype)
        found = None if self.valid is None else cupy.empty(self.size, bool)
        height, width = self.band + self.window[0] - 1, self.strip + self.window[1] - 1
        step = max(1, AT_ONCE // (height * width * self.strips))
        define = (f"MMP_VALUE={kernels.c_type(self.samples.dtype)}",)
        kernel = kernels.function(
            "solvers/rank_filter/places", "values_at_places", self.device, define, threads=256
        )
        for first in range(0, self.bands, step):
            bands = min(step, self.bands - first)
            codes, values, positions, counts = self._order(first, bands, height, width)
            self._slide(codes, first, bands, bins, places)
            regions = values, positions, counts, np.int64(height * width), bins, places
            sizes = (np.int32(size) for size in (self.strip, self.band, first, bands))
            blocks = 32 * attribute("MultiProcessorCount", self.device)
            results = out, NO_ARRAY if found is None else found
            kernel((blocks,), (*regions, self.shape, *sizes, *results))
        return out, found

    def _order(self, first: int, bands: int, height: int, width: int) -> tuple[Any, Any, Any, Any]:
        """Sort the samples of the regions in ``bands`` bands, from band ``first`` on.

        Return the bins of all samples as int16, -1 for masked samples; for each region the sorted
        samples, their positions (row << 16 | column) and the number of valid samples.
        """
        cupy = self.cupy
        tops = np.arange(first, first + bands) * self.band
        lefts = np.arange(self.strips) * self.strip
        rows, in_rows = self._lines(self.border[0], tops, height)
        columns, in_columns = self._lines(self.border[1], lefts, width)
        places = rows[:, None, :, None], columns[None, :, None, :]
        samples = self.samples[places].reshape(bands * self.strips, -1)
        counted = in_rows[:, None, :, None] & in_columns[None, :, None, :]
        if self.valid is not None:
            counted = counted & self.valid[places]
        counted = counted.reshape(samples.shape)
        bits = 8 * samples.dtype.itemsize
        keys = samples.astype(np.uint64) | (~counted).astype(np.uint64) << np.uint64(bits)
        keys |= cupy.arange(len(samples), dtype=np.uint64)[:, None] << np.uint64(bits + 1)
        order = cupy.argsort(keys.ravel(), kind="stable").reshape(samples.shape)
        counts = counted.sum(axis=1)
        nth = cupy.arange(samples.shape[1])
        sizes = cupy.maximum(1, -(-counts // BINS))
        bins = cupy.where(nth < counts[:, None], nth // sizes[:, None], -1)
        codes = cupy.empty(samples.size, np.int16)
        codes[order.ravel()] = bins.ravel().astype(np.int16)
        inside = order % samples.shape[1]
        positions = ((inside // width) << 16 | inside % width).astype(np.uint32)
        return codes, samples.ravel()[order], positions, counts

    def _lines(self, border: Any, starts: np.ndarray, size: int) -> tuple[Any, Any]:
        """Return the picture's rows or columns in each region, and whether they exist."""
        cupy = self.cupy
        lines = cupy.asarray(starts)[:, None] + cupy.arange(size)
        exist = lines < len(border)
        return border[cupy.minimum(lines, len(border) - 1)], exist

    def _slide(self, samples: Any, first: int, bands: int, out: Any, places: Any) -> None:
        groups = -(-(self.strip + self.window[1] - 1) // GROUP)
        kernel = kernels.function(
            "solvers/rank_filter/slide",
            "slide_ranks",
            self.device,
            (f"MMP_ORDERED={int(samples.dtype == np.int16)}",),
            threads=1024,
            shared_bytes=groups * GROUP_BYTES,
        )
        valid = NO_ARRAY if self.valid is None else self.valid
        sizes = np.int32(self.strip), np.int32(self.band), np.int32(first), self.rank
        results = out, NO_ARRAY if places is None else places
        arguments = samples, valid, *self.border, self.shape, *sizes, self.ranks, *results
        kernel((self.strips, bands), arguments)


def _search(
    samples: Any, valid: Any, border: Border, window: Window, ranks: np.ndarray
) -> tuple[Any, Any]:
    import cupy

    shape = _shape(samples, border, window)
    small = window if window[0] * window[1] <= SMALL_AREA else (0, 0)
    defines = (
        f"MMP_VALUE={kernels.c_type(samples.dtype)}",
        f"MMP_HEIGHT={small[0]}",
        f"MMP_WIDTH={small[1]}",
        f"MMP_MASKED={int(valid is not None)}",
    )
    kernel = kernels.function(
        "solvers/rank_filter/search", "search_ranks", cupy.cuda.Device().id, defines, threads=256
    )
    rows, columns = int(shape["rows"]), int(shape["columns"])
    out = cupy.empty((rows, columns), samples.dtype)
    found = NO_ARRAY if valid is None else cupy.empty((rows, columns), bool)
    *places, ranks_there = _upload(*border, ranks)
    arguments = samples, NO_ARRAY if valid is None else valid, *places, shape
    grid = -(-rows // 8), -(-columns // 32)
    kernel(grid, (*arguments, ranks_there, out, found))
    return out, found
