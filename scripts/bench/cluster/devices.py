"""Measure batches of pictures on one and on several CUDA devices of one process.

    python scripts/bench/cluster/devices.py [PICTURE...] [--count 256] [--only plain] [--json ROWS]
        [--dask]

The pictures are cut to 512x512 and rolled, so that all differ; by default they are those of
``images``. A batch is encoded on the first 1, 2, ... devices, from arrays to files. Times are
medians after a warm-up, and the files of several devices are compared with those of one. With
--dask, a Dask-CUDA cluster with as many workers encodes the same batch; its workers hold the arrays
before the time counts, and send the files to this process. The script prints a Markdown table, and
appends a JSON object for each row to ROWS.
"""

import argparse
import contextlib
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mmpcodec
from mmpcodec import backends, pictures
from mmpcodec.runtime.machine import processors

IMAGES = Path(__file__).parents[3] / "images"
SIDE = 512
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"preset": "plain"},
    "photo-1": {"preset": "photo", "effort": 1},
    "photo-6": {"preset": "photo", "effort": 6},
}
Encode = Callable[[Sequence[np.ndarray]], list[bytes]]


class Row(NamedTuple):
    """A measurement: seconds of each run, and how many times as fast as one device it is."""

    how: str
    devices: int
    setting: str
    pictures: int
    seconds: list[float]
    per_second: float
    ratio: float
    same_bytes: bool


def batch_of(paths: Sequence[Path], count: int) -> list[np.ndarray]:
    """Return different pictures of 512x512 samples."""
    whole = [pictures.read(path).samples for path in paths]
    gray = [one if one.ndim == 2 else np.ascontiguousarray(one[..., 1]) for one in whole]
    if any(one.dtype != np.uint8 for one in gray):
        raise SystemExit("a picture has more than 8 bits, which backend cuda does not code")
    squares = [np.pad(one, ((0, SIDE), (0, SIDE)), "symmetric")[:SIDE, :SIDE] for one in gray]
    return [
        np.roll(squares[i % len(squares)], (37 * i, 91 * i), (0, 1)).copy() for i in range(count)
    ]


def measured(encode: Encode, batch: Sequence[np.ndarray], runs: int) -> tuple[list[float], Any]:
    """Encode a few pictures, then the batch some times; return seconds of each run and files."""
    encode(batch[: max(len(batch) // 8, 1)])
    seconds, files = [], None
    for _ in range(runs):
        start = time.perf_counter()
        files = encode(batch)
        seconds.append(time.perf_counter() - start)
    return seconds, files


@contextlib.contextmanager
def dask_encoder(
    batch: Sequence[np.ndarray], count: int, options: dict[str, Any]
) -> Iterator[Encode]:
    """A function that encodes the batch on Dask-CUDA workers, which hold the pictures already."""
    from dask_cuda import LocalCUDACluster
    from distributed import Client

    free_memory(count)
    names = list(range(count))
    with LocalCUDACluster(CUDA_VISIBLE_DEVICES=names) as cluster, Client(cluster) as client:
        client.wait_for_workers(count)
        workers = list(client.nthreads())
        parts = [
            client.scatter([list(batch[i::count])], workers=[worker])[0]
            for i, worker in enumerate(workers)
        ]

        def encode(_: Sequence[np.ndarray]) -> list[bytes]:
            futures = [
                client.submit(on_worker, part, options, workers=[worker], pure=False)
                for part, worker in zip(parts, workers, strict=True)
            ]
            files: list[bytes] = [b""] * len(batch)
            for i, found in enumerate(client.gather(futures)):
                files[i::count] = found
            return files

        yield encode


def free_memory(count: int) -> None:
    """Give the device memory that this process keeps to the processes of the workers."""
    import cupy

    for number in range(count):
        with cupy.cuda.Device(number):
            cupy.get_default_memory_pool().free_all_blocks()


def on_worker(part: Sequence[np.ndarray], options: dict[str, Any]) -> list[bytes]:
    return mmpcodec.encode_batch(part, device=0, **options)


def threads_encoder(count: int, options: dict[str, Any]) -> Encode:
    """Return a function that encodes on the first devices of this process."""
    return partial(mmpcodec.encode_batch, device=list(range(count)), **options)


def rows(
    batch: Sequence[np.ndarray],
    counts: Sequence[int],
    settings: Sequence[str],
    lam: float,
    runs: int,
    dask: bool,
) -> Iterator[Row]:
    for name in settings:
        options = {"lam": lam, **SETTINGS[name]}
        one, expected = 0.0, None
        for count in counts:
            ways: dict[str, contextlib.AbstractContextManager[Encode]] = {
                "threads": contextlib.nullcontext(threads_encoder(count, options))
            }
            if dask:
                ways["Dask-CUDA"] = dask_encoder(batch, count, options)
            for how, way in ways.items():
                with way as encode:
                    seconds, files = measured(encode, batch, runs)
                median = statistics.median(seconds)
                one, expected = one or median, expected or files
                speed, same = len(batch) / median, files == expected
                yield Row(how, count, name, len(batch), seconds, speed, one / median, same)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="*", type=Path)
    parser.add_argument("-l", "--lambda", dest="lam", type=float, default=32.0)
    parser.add_argument("--count", type=int, default=256, help="pictures of the batch")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=SETTINGS, action="append", help="settings to measure")
    parser.add_argument("--devices", type=int, help="most devices; by default all")
    parser.add_argument("--json", type=Path, help="file for JSON rows")
    parser.add_argument("--dask", action="store_true", help="measure Dask-CUDA as well")
    args = parser.parse_args()
    paths = args.pictures or sorted(IMAGES.glob("*.pgm"))
    backend = backends.get("cuda")
    counts = range(1, min(args.devices or 64, backend.device_count()) + 1)
    batch = batch_of(paths, args.count)
    print(f"{date.today()}, {backend.describe()}, {processors()} processors\n")
    print("| setting | devices | by | pictures/s | times one device | s of each run | same bytes |")
    print("|---|---|---|---|---|---|---|")
    for row in rows(batch, counts, args.only or list(SETTINGS), args.lam, args.runs, args.dask):
        seconds = ", ".join(f"{one:.2f}" for one in row.seconds)
        print(
            f"| {row.setting} | {row.devices} | {row.how} | {row.per_second:.1f} "
            f"| {row.ratio:.2f} | {seconds} | {'yes' if row.same_bytes else 'NO'} |",
            flush=True,
        )
        if args.json:
            with args.json.open("a") as out:
                facts = {**row._asdict(), "device": backend.describe(), "date": str(date.today())}
                out.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main()
