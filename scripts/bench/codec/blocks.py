"""Measure predicted blocks on the cuda backend: one picture by effort and workers, and batches.

    python scripts/bench/codec/blocks.py PICTURE... [-l 48]

Times are medians from array to payload after a warm-up. Every payload is compared with the payload
of the cpu backend. The script needs a CUDA device and prints Markdown tables.
"""

import argparse
from datetime import date
from functools import partial
from pathlib import Path
from time import perf_counter
from unittest import mock

import numpy as np

from mmpcodec import EncodeParams, pictures
from mmpcodec.backends.base import Backend, PlaneTask
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda import blocks
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.bench.timing import median_seconds

EFFORTS = (1, 3, 6, 9)
WORKERS = (1, 4, 16, 64)
BATCHES = (16, 132)


def params_of(lam: float, effort: int = 6) -> EncodeParams:
    return EncodeParams.from_options(lam, preset="photo", effort=effort)


def encode_into(
    payloads: set[bytes], backend: Backend, picture: np.ndarray, params: EncodeParams
) -> None:
    payloads.add(backend.encode(PlaneTask(picture, params)).payload)


def bench_pictures(loaded: dict[str, np.ndarray], lam: float) -> None:
    print("| picture | size | effort | GPU s | cpu s | bytes of cpu |\n|---|---|---|---|---|---|")
    for name, picture in loaded.items():
        height, width = picture.shape
        for effort in EFFORTS:
            params = params_of(lam, effort)
            payloads: set[bytes] = set()
            seconds = median_seconds(
                partial(encode_into, payloads, CudaBackend(), picture, params), 3
            )
            start = perf_counter()
            encode_into(payloads, CpuBackend(), picture, params)
            cpu = perf_counter() - start
            same = len(payloads) == 1
            print(
                f"| {name} | {width}x{height} | {effort} | {seconds:.2f} | {cpu:.2f} "
                f"| {'yes' if same else 'NO'} |"
            )


def bench_workers(picture: np.ndarray, lam: float) -> None:
    print("\n| most workers of a team | s |\n|---|---|")
    for workers in WORKERS:
        with mock.patch.object(blocks, "MOST_WORKERS", workers):
            encode = partial(CudaBackend().encode, PlaneTask(picture, params_of(lam)))
            print(f"| {workers} | {median_seconds(encode, 1):.2f} |")


def bench_batches(loaded: dict[str, np.ndarray], lam: float) -> None:
    """Measure batches in which no two pictures are equal."""
    print("\n| pictures at once | s | pictures/s |\n|---|---|---|")
    tiles = list(loaded.values())
    for count in BATCHES:
        batch = [np.roll(tiles[i % len(tiles)], 37 * i, axis=i % 2) for i in range(count)]
        tasks = [PlaneTask(plane, params_of(lam)) for plane in batch]
        encode = partial(CudaBackend().encode_batch, tasks)
        seconds = median_seconds(encode, 1)
        print(f"| {count} | {seconds:.2f} | {count / seconds:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("-l", "--lambda", dest="lam", type=float, default=48.0)
    args = parser.parse_args()
    print(f"{date.today()}, {CudaBackend().describe()}\n")
    loaded = {path.name: pictures.read(path).samples for path in args.pictures}
    bench_pictures(loaded, args.lam)
    bench_workers(next(iter(loaded.values())), args.lam)
    bench_batches(loaded, args.lam)


if __name__ == "__main__":
    main()
