"""Measure selection: medians of large arrays, beside NumPy, or on a GPU beside CuPy.

    python scripts/bench/solvers/selection.py [--cuda]

The script prints Markdown tables.
"""

import argparse
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import numpy as np

from mmpcodec.bench.codecs.base import machine
from mmpcodec.bench.timing import median_ms, processor_ms
from mmpcodec.solvers.selection import kth_smallest, median, quantile


def noise(count: int, dtype: str) -> np.ndarray:
    """Return random integers over the full range of the type, or floats from 0 to 1."""
    rng = np.random.default_rng(count)
    if dtype == "float32":
        return rng.random(count, dtype=np.float32)
    if dtype == "float64":
        return rng.random(count)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, count, dtype, endpoint=True)


def awkward(count: int) -> dict[str, np.ndarray]:
    """Return float32 arrays by name, some of them slow for methods that expect spread values."""
    rng = np.random.default_rng(1)
    return {
        "uniform": noise(count, "float32"),
        "normal": rng.normal(size=count).astype(np.float32),
        "equal leading bytes": (1 + rng.random(count, dtype=np.float32) * 2.0**-14),
        "all equal": np.full(count, 3.5, np.float32),
        "two values": (rng.random(count, dtype=np.float32) > 0.5).astype(np.float32),
        "sorted": np.arange(count, dtype=np.float32),
    }


def bench_processor() -> None:
    print(f"{date.today()}, {machine()}, NumPy {np.__version__}\n")
    print("| values | type | k-th smallest ms | np.partition ms | median ms | np.median ms |")
    print("|---|---|---|---|---|---|")
    for count in (10**6, 10**8):
        for dtype in ("uint8", "uint16", "int32", "float32", "float64"):
            values, k = noise(count, dtype), count // 2
            assert kth_smallest(values, k) == np.partition(values, k - 1)[k - 1]
            runs = 7 if count < 10**8 else 3
            cells = [
                median_ms(work, runs)
                for work in (
                    partial(kth_smallest, values, k),
                    partial(np.partition, values, k - 1),
                    partial(median, values),
                    partial(np.median, values),
                )
            ]
            text = " | ".join(f"{ms:.2f}" for ms in cells)
            print(f"| 10^{len(str(count)) - 1} | {dtype} | {text} |", flush=True)
    print("\n| 10^7 float32 | median ms | np.partition ms |\n|---|---|---|")
    for name, values in awkward(10**7).items():
        own = median_ms(partial(median, values))
        peer = median_ms(partial(np.partition, values, values.size // 2))
        print(f"| {name} | {own:.1f} | {peer:.1f} |")


def bench_lines() -> None:
    """Measure medians of many short lines, and single values of arrays of medium size."""
    print("\n| lines | type | median ms | np.sort ms | ratio |\n|---|---|---|---|---|")
    for shape in ((100_000, 9), (1000, 1000)):
        for dtype in ("uint8", "uint16", "int32", "float32", "float64"):
            values = noise(shape[0] * shape[1], dtype).reshape(shape)
            own, peer = processor_ms([partial(median, values, axis=1), partial(np.sort, values)])
            text = f"{own:.2f} | {peer:.2f} | {own / peer:.2f}"
            print(f"| {shape[0]} of {shape[1]} | {dtype} | {text} |", flush=True)
    print("\n| values | type | k-th smallest ms | np.partition ms |\n|---|---|---|---|")
    for power in (3, 4, 5):
        for dtype in ("uint16", "int32", "float32"):
            count = 10**power
            values = noise(count, dtype)

            def repeated(work: Callable[[], Any], times: int = 10 ** (6 - power)) -> None:
                for _ in range(times):
                    work()

            k = count // 2
            own, peer = processor_ms(
                [
                    partial(repeated, partial(kth_smallest, values, k)),
                    partial(repeated, partial(np.partition, values, k - 1)),
                ]
            )
            text = f"{own / 10 ** (6 - power):.4f} | {peer / 10 ** (6 - power):.4f}"
            print(f"| 10^{power} | {dtype} | {text} |", flush=True)


def bench_device() -> None:
    import cupy

    from mmpcodec.backends.cuda.backend import CudaBackend

    print(f"{date.today()}, {CudaBackend().describe()}\n")
    print("| values | type | median ms | GB/s | cupy.partition ms | from host memory ms |")
    print("|---|---|---|---|---|---|")
    sizes = [(power, "float32") for power in (20, 22, 24, 26, 28, 30)]
    sizes += [(28, "uint8"), (28, "uint16"), (28, "int32"), (27, "float64")]
    for power, dtype in sizes:
        count = 1 << power
        values = noise(min(count, 1 << 28), dtype)
        there = cupy.asarray(values)
        if count > values.size:
            there = cupy.concatenate([there + i for i in range(count // values.size)])
        own = median_ms(partial(median, there, convention="lower"), 21)
        peer = host = ""
        if power <= 28:
            peer = f"{median_ms(partial(_partition, there), 3):.2f}"
            host = f"{median_ms(partial(median, values, backend='cuda'), 3):.1f}"
            assert median(there) == median(values, backend="cpu")
        rate = there.nbytes / own / 1e6
        print(f"| 2^{power} | {dtype} | {own:.3f} | {rate:.0f} | {peer} | {host} |", flush=True)
        del there
        cupy.get_default_memory_pool().free_all_blocks()
    print("\n| 2^28 float32 | median ms |\n|---|---|")
    for name, values in awkward(1 << 28).items():
        there = cupy.asarray(values)
        print(f"| {name} | {median_ms(partial(median, there), 21):.3f} |", flush=True)
    there = cupy.asarray(noise(1 << 28, "float32"))
    print("\n| 2^28 float32, k of n | ms |\n|---|---|")
    for part in (0, 0.5, 1):
        k = max(1, int(part * there.size))
        print(f"| {part} | {median_ms(partial(kth_smallest, there, k)):.3f} |")
    several = [0.1, 0.5, 0.9, 0.99]
    print(f"| {several} at once | {median_ms(partial(quantile, there, several)):.3f} |")
    rows = there.reshape(1 << 14, 1 << 14)
    print("\n| 2^14 rows of 2^14 float32 | ms |\n|---|---|")
    print(f"| medians | {median_ms(partial(median, rows, axis=1)):.2f} |")
    print(f"| cupy.median | {median_ms(partial(cupy.median, rows, axis=1), 3):.2f} |")


def _partition(values: Any) -> Any:
    """Run CuPy's partition and wait for the device."""
    import cupy

    found = cupy.partition(values, values.size // 2)
    cupy.cuda.get_current_stream().synchronize()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuda", action="store_true", help="measure the device")
    if parser.parse_args().cuda:
        bench_device()
        return
    bench_processor()
    bench_lines()


if __name__ == "__main__":
    main()
