"""Measure rank filters beside OpenCV and SciPy, in processor time of all threads, or on a GPU.

    python scripts/bench/solvers/ranks.py [--side N] [--runs N] [--only TEXT] [--cuda]

The extra `mmpcodec[peers]` installs OpenCV; without it the columns stay empty. OpenCV has no filter
for some types and windows, and SciPy is measured only on 3x3, because it takes seconds. mmpcodec
and OpenCV run in turn, and the least time of each counts. With --cuda, the median filter of
pictures on the device runs beside CuPy's, in wall time. The script prints the rows of
docs/benchmarks/data/solvers.jsonl, with times in ms.
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy import ndimage

from mmpcodec.bench.timing import median_ms
from mmpcodec.solvers.rank_filter import median_filter, rank_filter

Work = Callable[[], Any]

TYPES = ("uint8", "uint16", "float32", "float64")
DEVICE_WINDOWS = (3, 5, 7, 9, 15, 31, 51, 101, 255)
LONGEST_MS = 500
"""Work that took longer runs twice only."""


def noise(dtype: str, side: int) -> np.ndarray:
    """Return (side, side) values over the full range of a type; floats are normal."""
    rng = np.random.default_rng(side)
    if dtype.startswith("float"):
        return rng.normal(size=(side, side)).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, (side, side), dtype, endpoint=True)


def disk(radius: int) -> np.ndarray:
    """Return the cells of a disk, of at most 2 radius + 1 rows and columns."""
    away = np.arange(-radius, radius + 1) ** 2
    return away[:, None] + away <= radius * radius + radius


def least_ms(works: list[Work | None], runs: int) -> list[float | None]:
    """Return the least processor time of each work in ms; None where it raises an error."""
    least = [math.inf] * len(works)
    failed = {number for number, work in enumerate(works) if work is None}
    for run in range(runs + 1):  # the first one warms up
        for number, work in enumerate(works):
            if work is None or number in failed or (run > 1 and least[number] > LONGEST_MS):
                continue
            start = time.process_time()
            try:
                work()
            except Exception:  # each package has its own error for types that it does not support
                failed.add(number)
                continue
            if run:
                least[number] = min(least[number], 1000 * (time.process_time() - start))
    return [None if number in failed else ms for number, ms in enumerate(least)]


def cases(side: int, opencv: Any) -> Iterator[tuple[dict[str, str], list[Work | None]]]:
    """Yield the fields of each row and what is measured: mmpcodec, OpenCV, SciPy."""

    def peers(name: str, *arguments: Any) -> Work | None:
        return partial(getattr(opencv, name), *arguments) if opencv else None

    for dtype in TYPES:
        picture = noise(dtype, side)
        for size in (3, 31):
            yield (
                {"filter": "minimum", "type": dtype, "window": f"{size}x{size}"},
                [
                    partial(rank_filter, picture, 0, size),
                    peers("erode", picture, np.ones((size, size), np.uint8)),
                    partial(ndimage.minimum_filter, picture, size) if size == 3 else None,
                ],
            )
        for size in (3, 5, 7, 9, 15, 31, 101):
            by_opencv = peers("medianBlur", picture, size)
            by_scipy = partial(ndimage.median_filter, picture, size) if size == 3 else None
            own = partial(median_filter, picture, size)
            fields = {"filter": "median", "type": dtype, "window": f"{size}x{size}"}
            yield fields, [own, by_opencv, by_scipy]
        for radius in (5, 40):
            fields = {"filter": "median", "type": dtype, "window": f"disk, radius {radius}"}
            yield fields, [partial(median_filter, picture, footprint=disk(radius)), None, None]


def bench_device(side: int) -> None:
    """Measure pictures on the device, beside CuPy until CuPy takes 100 ms."""
    import cupy
    from cupyx.scipy import ndimage as peer

    def waited(work: Callable[..., Any], picture: Any, size: int) -> None:
        work(picture, size)
        cupy.cuda.get_current_stream().synchronize()

    for dtype in TYPES[:3]:
        picture = noise(dtype, side)
        there, peer_ms = cupy.asarray(picture), 0.0
        for size in DEVICE_WINDOWS:
            row: dict[str, Any] = {"type": dtype, "window": f"{size}x{size}"}
            row["mmp_ms"] = median_ms(partial(waited, median_filter, there, size))
            if peer_ms < 100:
                peer_ms = median_ms(partial(waited, peer.median_filter, there, size))
                row["cupy_ms"] = peer_ms
            print(json.dumps({"run": "median-cuda", **row}), flush=True)
        expected = median_filter(picture[:500, :500], 9, backend="cpu")
        assert (median_filter(there[:500, :500], 9).get() == expected).all()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure rank filters.")
    parser.add_argument("--side", type=int, default=2048, help="Rows and columns of the pictures.")
    parser.add_argument("--runs", type=int, default=7, help="Runs of each filter.")
    parser.add_argument("--only", default="", help="Rows whose names contain this text.")
    parser.add_argument("--cuda", action="store_true", help="Measure the device.")
    options = parser.parse_args()
    if options.cuda:
        bench_device(options.side)
        return
    opencv: Any = None
    try:
        opencv = import_module("cv2")
        print(f"OpenCV {opencv.__version__}, SciPy {version('scipy')}")
    except ImportError:
        print(f"OpenCV is not installed; SciPy {version('scipy')}")
    for fields, works in cases(options.side, opencv):
        if options.only not in " ".join(fields.values()):
            continue
        # SciPy runs alone: it drives the samples of the others out of the caches.
        times = least_ms(works[:2], options.runs) + least_ms(works[2:], 1)
        names = ("mmp_ms", "opencv_ms", "scipy_ms")
        row = {name: float(f"{ms:.3g}") for name, ms in zip(names, times, strict=True) if ms}
        print(json.dumps({"run": "rank-cpu", **fields, **row}), flush=True)


if __name__ == "__main__":
    main()
