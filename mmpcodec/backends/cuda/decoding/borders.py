"""The border filter on a device, for pictures in its memory."""

from typing import Any

import numpy as np

from mmpcodec.backends.cpu import NativeBorderFilter
from mmpcodec.backends.cuda.decoding.decoder import SAMPLE_DEFINES
from mmpcodec.runtime import kernels

THREADS = 128


class DeviceBorderFilter(NativeBorderFilter):
    """The border filter in C++ for NumPy arrays, and on the device for CuPy arrays."""

    def _filter(
        self,
        pixels: Any,
        colours: int,
        step: int,
        depth: int,
        size: int,
        starts: tuple[int, int],
        fixed: Any,
        first: int,
    ) -> None:
        if isinstance(pixels, np.ndarray):
            return super()._filter(pixels, colours, step, depth, size, starts, fixed, first)
        import cupy

        height, width, planes = pixels.shape
        kernel = kernels.function(
            "filters/borders",
            "filter_borders",
            cupy.cuda.Device().id,
            SAMPLE_DEFINES[pixels.itemsize > 1],
            threads=THREADS,
            shared_bytes=0,
        )
        kept = None if fixed is None else cupy.ascontiguousarray(fixed, np.uint8)
        sides = np.int64(height), np.int64(width), np.int32(planes), np.int32(colours)
        rest = np.int64(size), np.int64(step), np.int32(depth), np.int32(first)
        address = np.uint64(0) if kept is None else kept
        for columns, start in ((1, starts[0]), (0, starts[1])):
            along, across = (height, width) if columns else (width, height)
            borders = len(range(start, across, size))
            if borders:
                arguments = pixels, address, *sides, np.int32(columns), np.int64(start), *rest
                kernel((-(-along // THREADS), borders), arguments)
        return None
