"""Measure the cuda backend: time of a picture by stage, batches, large pictures.

    python scripts/bench/codec/one_device.py PICTURE... [-l 32] [--xray FILE] [--yardstick]

Times are medians from array to payload after a warm-up. The first picture is also measured on the
processor, at half, once and twice lambda. The script needs a CUDA device and prints Markdown
tables.
"""

import argparse
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from mmpcodec import EncodeParams, pictures
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda import trees
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.bench.timing import median_seconds
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.reference.trees.scales import SCALES

BATCHES = (1, 2, 4, 8, 16, 64, 128)
LARGE = (3072, 4096)
L2_BYTES_A_SECOND = 5.5e12
INT8_OPERATIONS_A_SECOND = 1.98e15


def brute_force_seconds(picture: np.ndarray, params: EncodeParams) -> float:
    start = time.perf_counter()
    CpuBackend(simd="brute-force").encode(PlaneTask(picture, params), threads=1)
    return time.perf_counter() - start


def bench_pictures(loaded: dict[str, np.ndarray], lambdas: tuple[float, ...]) -> None:
    print("| picture | size | preset | lambda | ms | µs a fragment | bytes of cpu |")
    print("|---|---|---|---|---|---|---|")
    for name, picture in loaded.items():
        height, width = picture.shape
        for preset in ("plain", "classic", "text"):
            for lam in lambdas:
                params = EncodeParams.from_options(lam, preset=preset)
                seconds = median_seconds(partial(CudaBackend().encode, PlaneTask(picture, params)))
                payload = CudaBackend().encode(PlaneTask(picture, params)).payload
                same = payload == CpuBackend().encode(PlaneTask(picture, params)).payload
                each = 1e6 * seconds / fragments_in(picture.shape)
                print(
                    f"| {name} | {width}x{height} | {preset} | {lam:g} | {1000 * seconds:.1f} "
                    f"| {each:.1f} | {'yes' if same else 'NO'} |"
                )


def bench_processor(picture: np.ndarray, lambdas: tuple[float, ...], yardstick: bool) -> None:
    """Print the dissertation's table: times of one thread, of all threads and of the device."""
    print(
        "\n| lambda | brute force s | cpu 1 thread ms | cpu all threads ms | GPU ms | speed-ups |"
    )
    print("|---|---|---|---|---|---|")
    brute: list[float | None] = [None] * len(lambdas)
    if yardstick:
        with ProcessPoolExecutor(len(lambdas)) as pool:
            each = pool.map(
                brute_force_seconds, [picture] * len(lambdas), map(EncodeParams, lambdas)
            )
            brute = list(each)
    for lam, slow in zip(lambdas, brute, strict=True):
        params = EncodeParams(lam)
        one = median_seconds(partial(CpuBackend().encode, PlaneTask(picture, params), threads=1), 3)
        every = median_seconds(partial(CpuBackend().encode, PlaneTask(picture, params)), 5)
        gpu = median_seconds(partial(CudaBackend().encode, PlaneTask(picture, params)))
        gains = [seconds / gpu for seconds in (slow, one, every) if seconds is not None]
        shown = "" if slow is None else f"{slow:.1f}"
        print(
            f"| {lam:g} | {shown} | {1000 * one:.0f} | {1000 * every:.0f} | {1000 * gpu:.1f} "
            f"| {', '.join(f'{gain:.1f}' for gain in gains)} |"
        )


def bench_phases(picture: np.ndarray, lam: float) -> None:
    """Print the time of a fragment by phase, on the device and on the host."""
    params, count = EncodeParams(lam), fragments_in(picture.shape)
    backend = CudaBackend(profile=0)
    backend.encode(PlaneTask(picture, params))
    backend.encode(PlaneTask(picture, params))
    cycles = backend.phase_cycles
    coding: list[float] = []
    code = trees.TreeGroup._code

    def timed(group: Any, first: int, i: int) -> None:
        start = time.perf_counter()
        code(group, first, i)
        coding.append(time.perf_counter() - start)

    with mock.patch.object(trees.TreeGroup, "_code", timed):
        total = median_seconds(partial(CudaBackend().encode, PlaneTask(picture, params)))
        coding.clear()
        coded = CudaBackend().encode(PlaneTask(picture, params))
    clock = kernel_seconds(picture, params) / sum(cycles.values())
    print(f"\nOne picture takes {1000 * total:.1f} ms; the first block's time:\n")
    print("| phase | µs a fragment | % of the picture |\n|---|---|---|")
    for phase, spent in cycles.items():
        seconds = spent * clock
        print(f"| {phase} | {1e6 * seconds / count:.2f} | {100 * seconds / total:.1f} |")
    rest = total - sum(cycles.values()) * clock
    print(f"| launches, copies, host code | {1e6 * rest / count:.2f} | {100 * rest / total:.1f} |")
    hidden = sum(coding)
    print(
        f"| entropy coding on the host, beside the search | {1e6 * hidden / count:.2f} "
        f"| ({100 * hidden / total:.1f}) |"
    )
    sizes = np.asarray(coded.trace.dictionary_sizes)
    areas = np.array([scale.height * scale.width for scale in SCALES])
    average = (sizes + 256) / 2
    bytes_read, operations = float((average * areas).sum()), 512 * float(average.sum())
    print(
        f"\nFloor of a fragment's search: {bytes_read / 1e6:.1f} MB of dictionaries from the L2 "
        f"cache at 5.5 TB/s take {1e6 * bytes_read / L2_BYTES_A_SECOND:.2f} µs; "
        f"{operations / 1e6:.0f} million operations on the matrix units "
        f"{1e6 * operations / INT8_OPERATIONS_A_SECOND:.2f} µs. Sizes are those halfway."
    )


def kernel_seconds(picture: np.ndarray, params: EncodeParams) -> float:
    """Return the time of the launches of the search loop in seconds, without other work."""
    import cupy

    spent: list[Any] = []
    launch = trees.TreeGroup._launch

    def timed(group: Any, first: int) -> Any:
        start = cupy.cuda.get_current_stream().record(cupy.cuda.Event())
        end = launch(group, first)
        spent.append((start, end))
        return end

    with mock.patch.object(trees.TreeGroup, "_launch", timed):
        CudaBackend(profile=0).encode(PlaneTask(picture, params))
    return sum(cupy.cuda.get_elapsed_time(start, end) for start, end in spent) / 1000


def bench_batches(picture: np.ndarray, lam: float) -> None:
    print("\n| pictures at once | ms | pictures/s |\n|---|---|---|")
    for count in BATCHES:
        seconds = median_seconds(
            partial(CudaBackend().encode_batch, [PlaneTask(picture, EncodeParams(lam))] * count), 3
        )
        print(f"| {count} | {1000 * seconds:.1f} | {count / seconds:.1f} |")
    several = [np.roll(picture, 37 * i, axis=i % 2) for i in range(64)]
    tasks = [PlaneTask(picture, EncodeParams(lam)) for picture in several]
    seconds = median_seconds(partial(CudaBackend().encode_batch, tasks), 3)
    print(f"| 64, all different | {1000 * seconds:.1f} | {64 / seconds:.1f} |")


def mosaic(loaded: dict[str, np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """Return a large picture made of small pictures, no two of them equal."""
    large = np.zeros(shape, np.uint8)
    tiles = list(loaded.values())
    side, number = 512, 0
    for row in range(0, shape[0], side):
        for column in range(0, shape[1], side):
            tile = tiles[number % len(tiles)]
            tile = np.roll(tile, (61 * number, 127 * number), (0, 1))
            area = large[row : row + side, column : column + side]
            part = tile[: area.shape[0], : area.shape[1]]
            area[: part.shape[0], : part.shape[1]] = part
            number += 1
    return large


def bench_large(loaded: dict[str, np.ndarray], lam: float) -> None:
    picture, params = mosaic(loaded, LARGE), EncodeParams(lam)
    gpu = median_seconds(partial(CudaBackend().encode, PlaneTask(picture, params)), 1)
    start = time.perf_counter()
    expected = CpuBackend().encode(PlaneTask(picture, params))
    cpu = time.perf_counter() - start
    same = CudaBackend().encode(PlaneTask(picture, params)).payload == expected.payload
    print(
        f"\n{picture.size / 1e6:.1f} megapixels: GPU {gpu:.2f} s, "
        f"{1e6 * gpu / fragments_in(picture.shape):.1f} µs a fragment; cpu {cpu:.2f} s; "
        f"{'same bytes' if same else 'OTHER BYTES'}"
    )


def bench_start(path: Path) -> None:
    """Measure whole processes: one that loads CuPy and the kernels, and one on the processor."""
    print("\n| whole process, one picture | s |\n|---|---|")
    for backend in ("cuda", "cpu"):
        command = [
            sys.executable,
            "-P",
            "-m",
            "mmpcodec.cli",
            "encode",
            str(path),
            "--preset",
            "plain",
        ]
        command += ["-o", "-", "--backend", backend]
        seconds = median_seconds(
            partial(subprocess.run, command, check=True, capture_output=True), 3
        )
        print(f"| {backend} | {seconds:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("-l", "--lambda", dest="lam", type=float, default=32.0)
    parser.add_argument("--xray", type=Path, action="append", default=[])
    parser.add_argument("--yardstick", action="store_true", help="also time the brute force")
    args = parser.parse_args()
    print(f"{date.today()}, {CudaBackend().describe()}\n")
    loaded = {path.name: pictures.read(path).samples for path in args.pictures}
    lambdas = (args.lam / 2, args.lam, args.lam * 2)
    first = next(iter(loaded.values()))
    bench_pictures(loaded, lambdas)
    if args.xray:
        bench_pictures({path.name: pictures.read(path).samples for path in args.xray}, (args.lam,))
    bench_processor(first, lambdas, args.yardstick)
    bench_phases(first, args.lam)
    bench_batches(first, args.lam)
    bench_large(loaded, args.lam)
    bench_start(args.pictures[0])


if __name__ == "__main__":
    main()
