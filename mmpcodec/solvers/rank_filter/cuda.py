"""The operations on a CUDA device; see ``rank_slide.cu`` and ``rank_search.cu``.

8-bit samples slide histograms, in a time that does not depend on the window. Others, masks and
small windows are searched, in a time that grows with the window's area.
"""

from typing import Any

import numpy as np

from mmpcodec.backends import kernels
from mmpcodec.devices import attribute, on_device
from mmpcodec.solvers.rank_filter.reference import Border, Window

SHAPE = np.dtype([(name, np.int32) for name in ("rows", "columns", "pitch", "height", "width")])
C_TYPES = {"uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int"}
SMALL_AREA = 49
"""Windows up to this are searched in registers."""
GROUP = 16
GROUP_BYTES = GROUP * 256 + 512
"""Shared memory for the histograms of a group of columns."""
NO_ARRAY = np.uintp(0)


def ranked(samples: Any, border: Border, window: Window, rank: int) -> Any:
    """As the reference."""
    there = _on_device(samples)
    if there.dtype == np.uint8 and window[0] * window[1] > SMALL_AREA:
        out = _slide(there, border, window, rank)
    else:
        ranks = np.zeros(window[0] * window[1] + 1, np.int32)
        ranks[-1] = rank
        out, _ = _search(there, None, border, window, ranks)
    return out if on_device(samples) else out.get()


def ranked_of_valid(
    samples: Any, valid: Any, border: Border, window: Window, ranks: np.ndarray
) -> tuple[Any, Any]:
    """As the reference."""
    out, found = _search(_on_device(samples), _on_device(valid), border, window, ranks)
    return (out, found) if on_device(samples) else (out.get(), found.get())


def _on_device(array: Any) -> Any:
    import cupy

    return cupy.ascontiguousarray(cupy.asarray(array))


def _upload(*arrays: np.ndarray) -> list[Any]:
    """int32 arrays, brought to the device at once."""
    import cupy

    there = cupy.asarray(np.concatenate(arrays))
    ends = np.cumsum([len(array) for array in arrays]).tolist()
    return [there[end - len(array) : end] for array, end in zip(arrays, ends, strict=True)]


def _shape(samples: Any, border: Border, window: Window) -> Any:
    rows, columns = (len(places) - side + 1 for places, side in zip(border, window, strict=True))
    return np.array((rows, columns, samples.shape[1], *window), SHAPE)[()]


def _slide(samples: Any, border: Border, window: Window, rank: int) -> Any:
    import cupy

    device = cupy.cuda.Device().id
    shape = _shape(samples, border, window)
    most = attribute("MaxSharedMemoryPerBlockOptin", device)
    widest = most // GROUP_BYTES * GROUP - window[1] + 1
    rows, columns = int(shape["rows"]), int(shape["columns"])
    strips = -(-columns // widest)
    strip = -(-columns // strips)
    # As many blocks as multiprocessors, unless bands get so low that most rows are read to begin.
    bands = max(1, min(attribute("MultiProcessorCount", device) // strips, rows // window[0]))
    band = -(-rows // bands)
    groups = -(-(strip + window[1] - 1) // GROUP)
    kernel = kernels.function(
        "rank_slide", "slide_ranks", device, threads=1024, shared_bytes=groups * GROUP_BYTES
    )
    out = cupy.empty((rows, columns), np.uint8)
    places = _upload(*border)
    sizes = np.int32(strip), np.int32(band), np.int32(rank)
    kernel((strips, -(-rows // band)), (samples, *places, shape, *sizes, out))
    return out


def _search(
    samples: Any, valid: Any, border: Border, window: Window, ranks: np.ndarray
) -> tuple[Any, Any]:
    import cupy

    shape = _shape(samples, border, window)
    small = window if window[0] * window[1] <= SMALL_AREA else (0, 0)
    defines = (
        f"MMP_VALUE={C_TYPES[samples.dtype.name]}",
        f"MMP_HEIGHT={small[0]}",
        f"MMP_WIDTH={small[1]}",
        f"MMP_MASKED={int(valid is not None)}",
    )
    kernel = kernels.function(
        "rank_search", "search_ranks", cupy.cuda.Device().id, defines, threads=256
    )
    rows, columns = int(shape["rows"]), int(shape["columns"])
    out = cupy.empty((rows, columns), samples.dtype)
    found = NO_ARRAY if valid is None else cupy.empty((rows, columns), bool)
    *places, ranks_there = _upload(*border, ranks)
    arguments = samples, NO_ARRAY if valid is None else valid, *places, shape
    grid = -(-rows // 8), -(-columns // 32)
    kernel(grid, (*arguments, ranks_there, out, found))
    return out, found
