"""Measure the median filter beside OpenCV, SciPy, SimpleITK and scikit-image, or on a GPU.

    python scripts/bench/solvers/median.py [--cuda] [--side N] [--types uint8 ...]

The extra `mmpcodec[peers]` installs the other packages. A package that is missing or does not
support a type is left out. A package that takes more than 4 s is not measured with larger windows.
The script prints Markdown tables with times in ms.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from mmpcodec.bench.codecs.base import machine
from mmpcodec.solvers.rank_filter import median_filter

WINDOWS = (3, 5, 7, 9, 15, 31, 51, 101, 255)
TOO_SLOW_MS = 4000
"""Time in ms above which a package is not measured with larger windows."""

Filter = Callable[[np.ndarray, int], Any]


def measured_ms(work: Callable[[], Any]) -> float:
    """Return the median wall time in ms after a warm-up: of runs for 1 s and at least five runs.

    A run of more than 1 s is measured once.
    """
    times: list[float] = []
    while len(times) < 6 or sum(times) < 1000:
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
        if len(times) > 1 and times[-1] > 1000:
            return times[-1]
    return statistics.median(times[1:])


def pictures_of(side: int) -> dict[str, np.ndarray]:
    """Return (side, side) noise of each type; noise is the slowest input."""
    rng = np.random.default_rng(side)
    deep = rng.integers(0, 65536, (side, side), np.uint16)
    return {
        "uint8": rng.integers(0, 256, (side, side), np.uint8),
        "uint16": deep,
        "float32": rng.normal(size=(side, side)).astype(np.float32),
    }


def peers() -> dict[str, Filter]:
    """Return the median filters of the installed packages, by name and version."""
    found: dict[str, Filter] = {}
    try:
        import cv2

        found[f"OpenCV {cv2.__version__}"] = cv2.medianBlur
    except ImportError:
        pass
    try:
        import SimpleITK

        def itk(picture: np.ndarray, size: int) -> Any:
            image = SimpleITK.GetImageFromArray(picture)
            return SimpleITK.GetArrayFromImage(SimpleITK.Median(image, [size // 2] * 2))

        found[f"SimpleITK {version('simpleitk')}"] = itk
    except ImportError:
        pass
    from scipy import ndimage
    from skimage.filters import rank

    def skimage_rank(picture: np.ndarray, size: int) -> Any:
        if picture.dtype != np.uint8:
            raise TypeError("takes 65536 levels, but minutes for a picture")
        return rank.median(picture, np.ones((size, size), np.uint8))

    found[f"SciPy {version('scipy')}"] = ndimage.median_filter
    found[f"scikit-image {version('scikit-image')}, rank"] = skimage_rank
    return found


def bench(name: str, picture: np.ndarray, others: dict[str, Filter]) -> None:
    columns = {"mmpcodec": median_filter, **others}
    print(f"\n| {name} | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    left_out: set[str] = set()
    for size in WINDOWS:
        cells = []
        for peer, filtered in columns.items():
            if peer in left_out:
                cells.append("")
                continue
            try:
                ms = measured_ms(partial(filtered, picture, size))
            except Exception:  # each package has its own error for types that it does not support
                cells.append("")
                continue
            cells.append(f"{ms:.2f}" if ms < 10 else f"{ms:.0f}")
            if ms > TOO_SLOW_MS:
                left_out.add(peer)
        print(f"| {size}x{size} | " + " | ".join(cells) + " |", flush=True)


def bench_others(pictures: dict[str, np.ndarray]) -> None:
    """Measure masks and windows that are not square, with mmpcodec only."""
    print("\n| window | pixels that count | " + " | ".join(pictures) + " |")
    print("|---|---|" + "---|" * len(pictures))
    for window, part in (((15, 15), 1.0), ((15, 15), 0.5), ((15, 101), 1.0), ((101, 15), 1.0)):
        cells = []
        for picture in pictures.values():
            mask = np.random.default_rng(1).random(picture.shape) < part if part < 1 else None
            cells.append(f"{measured_ms(partial(median_filter, picture, window, mask=mask)):.0f}")
        print(f"| {window[0]}x{window[1]} | {part:.0%} | " + " | ".join(cells) + " |")


def bench_device(side: int) -> None:
    """Measure pictures on the device, beside CuPy until CuPy takes 100 ms."""
    import cupy
    from cupyx.scipy import ndimage

    from mmpcodec.backends.cuda.backend import CudaBackend

    def waited(filtered: Filter, picture: Any, size: int) -> None:
        filtered(picture, size)
        cupy.cuda.get_current_stream().synchronize()

    print(f"{date.today()}, {CudaBackend().describe()}; {side}x{side}, noise; ms")
    for name, picture in pictures_of(side).items():
        there = cupy.asarray(picture)
        print(f"\n| {name} | mmpcodec | CuPy |\n|---|---|---|")
        peer_ms = 0.0
        for size in WINDOWS:
            own = measured_ms(partial(waited, median_filter, there, size))
            cell = ""
            if peer_ms < 100:
                peer_ms = measured_ms(partial(waited, ndimage.median_filter, there, size))
                cell = f"{peer_ms:.2f}"
            print(f"| {size}x{size} | {own:.2f} | {cell} |", flush=True)
            if own > 100:
                break
        expected = median_filter(picture[:500, :500], 9, backend="cpu")
        assert (median_filter(there[:500, :500], 9).get() == expected).all()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the median filter.")
    parser.add_argument("--cuda", action="store_true", help="measure the device")
    parser.add_argument("--side", type=int, default=2048, help="Rows and columns of the pictures.")
    parser.add_argument("--types", nargs="+", default=["uint8", "uint16", "float32"])
    options = parser.parse_args()
    side = options.side
    if options.cuda:
        bench_device(side)
        return
    print(f"{date.today()}, {machine()}; {side}x{side}, noise; ms")
    pictures = {name: pictures_of(side)[name] for name in options.types}
    others = peers()
    for name, picture in pictures.items():
        bench(name, picture, others)
    bench_others(pictures)


if __name__ == "__main__":
    main()
