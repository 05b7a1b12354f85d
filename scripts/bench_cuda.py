"""Speed of the cuda backend: one picture, its phases, and batches.

    python scripts/bench_cuda.py PICTURE... [-l LAMBDA]

Prints Markdown tables. Times are medians of wall seconds from host array to finished payload, warm.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mmpcodec import EncodeParams, pictures
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda import CudaBackend
from mmpcodec.codec.fragments import fragment_count

BATCHES = (1, 2, 4, 8, 16, 64, 128)


def median_seconds(work: Callable[[], Any], runs: int = 9) -> float:
    """Median wall time of several runs after a warm-up."""
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def bench_picture(picture: np.ndarray, name: str, lam: float) -> None:
    fragments = fragment_count(picture.shape[0]) * fragment_count(picture.shape[1])
    for preset in ("default", "classic"):
        params = EncodeParams.from_options(lam, preset=preset)
        seconds = median_seconds(partial(CudaBackend().encode, picture, params))
        same = CudaBackend().encode(picture, params).payload == (
            CpuBackend().encode(picture, params).payload
        )
        each = 1e6 * seconds / fragments
        print(f"| {name} | {preset} | {lam:g} | {1000 * seconds:.1f} | {each:.1f} | {same} |")


def bench_phases(picture: np.ndarray, lam: float) -> None:
    backend = CudaBackend(profile=True)
    backend.encode(picture, EncodeParams(lam))
    backend.encode(picture, EncodeParams(lam))
    total = sum(backend.phase_cycles.values())
    print("\n| phase of the first block | % |\n|---|---|")
    for phase, cycles in backend.phase_cycles.items():
        print(f"| {phase} | {100 * cycles / total:.1f} |")


def bench_batches(picture: np.ndarray, lam: float) -> None:
    print("\n| pictures at once | ms | pictures/s |\n|---|---|---|")
    for count in BATCHES:
        seconds = median_seconds(
            partial(CudaBackend().encode_batch, [picture] * count, EncodeParams(lam)), 3
        )
        print(f"| {count} | {1000 * seconds:.1f} | {count / seconds:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("-l", "--lambda", dest="lam", type=float, default=32.0)
    args = parser.parse_args()
    print(f"{date.today()}, {CudaBackend().describe()}\n")
    print("| picture | preset | lambda | ms | microseconds a fragment | bytes of cpu |")
    print("|---|---|---|---|---|---|")
    loaded = {path.name: pictures.read(path) for path in args.pictures}
    for name, picture in loaded.items():
        for lam in (args.lam / 2, args.lam, args.lam * 2):
            bench_picture(picture, name, lam)
    first = next(iter(loaded.values()))
    bench_phases(first, args.lam)
    bench_batches(first, args.lam)


if __name__ == "__main__":
    main()
