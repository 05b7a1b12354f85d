"""Measure the maximum-sum solvers on the processor beside numba, or on a GPU.

    python scripts/bench/solvers/max_sum.py [--cuda]

The extra `mmpcodec[peers]` installs the other package: numba, with a plain loop over pairs of rows
and with an inner loop over bottom rows, which the compiler vectorises. The script prints Markdown
tables.
"""

import argparse
from datetime import date
from functools import partial
from typing import Any

import numpy as np

from mmpcodec.bench.codecs.base import machine
from mmpcodec.bench.timing import median_ms, processor_ms
from mmpcodec.solvers.max_sum import (
    box_census,
    disjoint_boxes,
    disjoint_rectangles,
    interval_census,
    max_box,
    max_interval,
    max_rectangle,
    maximal_intervals,
    rectangle_census,
    sums_through,
)


def noise(*shape: int) -> np.ndarray:
    """Return integers from -128 to 127, the range of 8-bit samples minus an offset of 128."""
    return np.random.default_rng(len(shape)).integers(-128, 128, shape)


def numba_peers() -> dict[str, Any]:
    """Return two numba functions that compute the largest sum of a rectangle, without its place."""
    try:
        import numba
    except ImportError:
        return {}

    @numba.njit(parallel=True)
    def plain(values):
        rows, columns = values.shape
        best = np.full(rows, np.iinfo(np.int32).min, np.int32)
        for top in numba.prange(rows):
            strip = np.zeros(columns, np.int32)
            for bottom in range(top, rows):
                current = 0
                for column in range(columns):
                    strip[column] += values[bottom, column]
                    current = max(current, 0) + strip[column]
                    best[top] = max(best[top], current)
        return best.max()

    @numba.njit(parallel=True, fastmath=True)
    def simd(values):
        rows, columns = values.shape
        sums = np.zeros((columns, rows + 1), np.int32)
        for column in range(columns):
            for row in range(rows):
                sums[column, row + 1] = sums[column, row] + values[row, column]
        answer = np.full(rows, np.iinfo(np.int32).min, np.int32)
        for top in numba.prange(rows):
            current = np.zeros(rows - top, np.int32)
            best = np.full(rows - top, np.iinfo(np.int32).min, np.int32)
            for column in range(columns):
                base = sums[column, top]
                for i in range(rows - top):
                    current[i] = max(current[i], 0) + sums[column, top + 1 + i] - base
                    best[i] = max(best[i], current[i])
            answer[top] = best.max()
        return answer.max()

    return {"numba, plain loop": plain, "numba, bottoms inside": simd}


def bench_rectangles() -> None:
    peers = numba_peers()
    print("| matrix | mmpcodec ms | cell steps/s | " + " | ".join(peers) + " |")
    print("|---|---|---|" + "---|" * len(peers))
    for side in (256, 512, 1024, 2048, 4096):
        values = noise(side, side)
        runs = 5 if side < 4096 else 1
        own = median_ms(partial(max_rectangle, values), runs)
        rate = side**3 / 2 / (own / 1000)
        cells = []
        for name, peer in peers.items():
            if side > (1024 if "plain" in name else 2048):
                cells.append("")
                continue
            small = values.astype(np.int32)
            assert peer(small) == max_rectangle(values).sum
            cells.append(f"{median_ms(partial(peer, small), 3):.0f}")
        print(f"| {side}x{side} | {own:.1f} | {rate:.1e} | " + " | ".join(cells) + " |")
    values = noise(1024, 1024)
    large = values * (1 << 33)
    print("\n| 1024x1024 | ms |\n|---|---|")
    print(f"| sums beyond 32 bits | {median_ms(partial(max_rectangle, large)):.1f} |")
    limits: dict[str, Any] = {"max_height": 400, "max_width": 400}
    print(f"| sides of at most 400 | {median_ms(partial(max_rectangle, values, **limits)):.1f} |")
    print(f"| three disjoint | {median_ms(partial(disjoint_rectangles, values, 3)):.1f} |")
    print(f"| census | {median_ms(partial(rectangle_census, values)):.1f} |")


def bench_sequences() -> None:
    print("\n| values | interval | sums through | census | all maximal |")
    print("|---|---|---|---|---|")
    solvers = max_interval, sums_through, interval_census, maximal_intervals
    for count in (1 << 16, 1 << 20, 1 << 24):
        times = processor_ms([partial(solve, noise(count)) for solve in solvers], 7)
        cells = " | ".join(f"{ms:.1f}" for ms in times)
        print(f"| 2^{count.bit_length() - 1} | {cells} |")
    print("\n| 10^7 values | all maximal, processor ms | intervals |\n|---|---|---|")
    rng = np.random.default_rng(0)
    noisy = rng.integers(-100, 101, 10**7)
    for name, values in {
        "int8": noisy.astype(np.int8),
        "int32": noisy.astype(np.int32),
        "int64": noisy,
        "float32": rng.normal(size=10**7).astype(np.float32),
        "int32, mean -10": noisy.astype(np.int32) - 10,
        "int32, 1 and -2 in turn": np.tile(np.array([1, -2], np.int32), 5 * 10**6),
    }.items():
        (own,) = processor_ms([partial(maximal_intervals, values)], 7)
        print(f"| {name} | {own:.1f} | {len(maximal_intervals(values)):,} |")


def bench_kadane() -> None:
    """Measure the interval beside a loop that numba compiles, in processor time."""
    try:
        import numba
    except ImportError:
        print("\nnumba is not installed: no comparison of intervals")
        return

    @numba.njit
    def kadane(values):
        best = values[0]
        current = values[0] - values[0]
        start, first, last = 0, 0, 1
        for i in range(len(values)):
            if current <= 0:
                current = values[i]
                start = i
            else:
                current += values[i]
            if current > best:
                best = current
                first, last = start, i + 1
        return best, first, last

    print("\n| 10^7 values | interval ms | numba ms |\n|---|---|---|")
    rng = np.random.default_rng(0)
    for dtype in ("int8", "int16", "int32", "int64", "float32", "float64"):
        is_float = dtype.startswith("float")
        noisy = rng.normal(size=10**7) if is_float else rng.integers(-100, 101, 10**7)
        values = noisy.astype(dtype)
        kadane(values)
        own, peer = processor_ms([partial(max_interval, values), partial(kadane, values)], 7)
        print(f"| {dtype} | {own:.1f} | {peer:.1f} |")


def bench_boxes() -> None:
    print("\n| volume | box | census | three disjoint | sides up to half | sides from a quarter |")
    print("|---|---|---|---|---|---|")
    for side in (16, 32, 64, 96):
        values = noise(side, side, side)
        most: dict[str, Any] = {f"max_{name}": side // 2 for name in ("depth", "height", "width")}
        least: dict[str, Any] = {f"min_{name}": side // 4 for name in ("depth", "height", "width")}
        times = processor_ms(
            [
                partial(max_box, values),
                partial(box_census, values),
                partial(disjoint_boxes, values, 3),
                partial(max_box, values, **most),
                partial(max_box, values, **least),
            ],
            5,
        )
        print(f"| {side}^3 | " + " | ".join(f"{ms:.1f}" for ms in times) + " |")


def bench_device() -> None:
    """Measure the cuda backend with values in device memory and in host memory."""
    import cupy

    from mmpcodec.backends.cuda.backend import CudaBackend

    print(f"{date.today()}, {CudaBackend().describe()}\n")
    print("| int32 matrix | on the device ms | from host memory ms | cell steps/s | as cpu |")
    print("|---|---|---|---|---|")
    for side in (128, 256, 512, 1024, 2048, 4096):
        values = noise(side, side).astype(np.int32)
        there = cupy.asarray(values)
        own = median_ms(partial(max_rectangle, there), 21)
        host = median_ms(partial(max_rectangle, values, backend="cuda"))
        same = max_rectangle(there) == max_rectangle(values, backend="cpu")
        rate = side**3 / 2 / (own / 1000)
        same_text = "yes" if same else "NO"
        print(f"| {side}x{side} | {own:.2f} | {host:.2f} | {rate:.1e} | {same_text} |")
    there = cupy.asarray(noise(1024, 1024))
    limits: dict[str, Any] = {"max_height": 400, "max_width": 400}
    print("\n| 1024x1024, on the device | ms |\n|---|---|")
    print(f"| sums beyond 32 bits | {median_ms(partial(max_rectangle, there << 33)):.2f} |")
    print(f"| sides of at most 400 | {median_ms(partial(max_rectangle, there, **limits)):.1f} |")
    print(f"| three disjoint | {median_ms(partial(disjoint_rectangles, there, 3)):.1f} |")
    print(f"| census | {median_ms(partial(rectangle_census, there)):.1f} |")
    print("\n| values | type | interval ms | GB/s | from host memory ms |\n|---|---|---|---|---|")
    for power, dtype in ((16, "i4"), (20, "i4"), (24, "i4"), (28, "i4"), (28, "i2"), (28, "i1")):
        values = np.random.default_rng(power).integers(-100, 101, 1 << power, dtype)
        there = cupy.asarray(values)
        own = median_ms(partial(max_interval, there), 21)
        host = median_ms(partial(max_interval, values, backend="cuda"), 3)
        assert max_interval(there) == max_interval(values, backend="cpu")
        rate = values.nbytes / own / 1e6
        print(f"| 2^{power} | {values.dtype} | {own:.3f} | {rate:.0f} | {host:.1f} |")
    there = cupy.random.randint(-100, 101, 1 << 24, np.int32)
    print("\n| 2^24 values, on the device | ms |\n|---|---|")
    print(f"| sums through each value | {median_ms(partial(sums_through, there)):.2f} |")
    print(f"| census | {median_ms(partial(interval_census, there)):.2f} |")
    print(f"| all maximal intervals | {median_ms(partial(maximal_intervals, there), 3):.1f} |")
    print("\n| volume | on the device ms | cell steps/s |\n|---|---|---|")
    for side in (32, 64, 128, 256):
        values = noise(side, side, side).astype(np.int16)
        there = cupy.asarray(values)
        own = median_ms(partial(max_box, there))
        assert side > 64 or max_box(there) == max_box(values, backend="cpu")
        print(f"| {side}x{side}x{side} | {own:.2f} | {side**5 / 4 / (own / 1000):.1e} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuda", action="store_true", help="measure the device")
    if parser.parse_args().cuda:
        bench_device()
        return
    print(f"{date.today()}, {machine()}\n")
    bench_rectangles()
    bench_sequences()
    bench_kadane()
    bench_boxes()


if __name__ == "__main__":
    main()
