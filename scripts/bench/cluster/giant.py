"""Measure one large picture on a cluster of this machine: seconds, and memory of each process.

    python scripts/bench/cluster/giant.py --side 32768 --tile 512 --preset photo --effort 1

The picture is gray, of 8 bits: a smooth shade, with patches of noise in every 4th square of 512
pixels. Its NPY file is written in pieces. Each command runs in a process of its own, on one machine
and on a cluster of a scheduler and workers with one thread each, which are started anew for each
command. Memory is the peak of resident memory of a process (VmHWM, Linux). The script compares the
coded files byte by byte, and regions of the decoded ones, and prints a Markdown table. Further
options go to `mmp encode`.
"""

import argparse
import contextlib
import hashlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import mmpcodec
from mmpcodec import pictures
from mmpcodec.pictures.parts import bytes_of
from mmpcodec.runtime.machine import processors

SQUARE = 512
REGIONS = 20
LARGE = ("--max-samples", str(1 << 62))


def make(target: Path, side: int) -> None:
    """Write the picture as an NPY file, a row of squares at a time."""
    rng = np.random.default_rng(0)
    columns = np.arange(side)
    header = np.lib.format.open_memmap(target, "w+", np.uint8, (side, side))
    del header
    with target.open("r+b") as file:
        file.seek(target.stat().st_size - side * side)
        for top in range(0, side, SQUARE):
            rows = np.arange(top, min(top + SQUARE, side))[:, None]
            shade = 128 + 60 * np.sin(rows / 300) * np.cos(columns / 240)
            for left in range(top % (4 * SQUARE), side, 4 * SQUARE):
                part = shade[:, left : left + SQUARE]
                part += rng.normal(0, 12, part.shape)
            file.write(shade.clip(0, 255).astype(np.uint8).tobytes())


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process of its own: a child would inherit the peak of this process."""
    with ProcessPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def peak(pid: int) -> float:
    """Return the peak of resident memory of a running process, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


def mmp(*arguments: str) -> tuple[float, float]:
    """Return wall time in seconds and peak memory in MiB of an `mmp` command."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-P", "-m", "mmpcodec.cli", *arguments, "--quiet"])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"mmp {' '.join(arguments)}: exit {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def quiet(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a program without output."""
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Cluster:
    """A scheduler and workers of one thread each.

    Parameters
    ----------
    address : str
    scheduler : process
    workers : list of processes
    """

    def __init__(self, workers: int, folder: str):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        start = [sys.executable, "-P", "-m", "dask"]
        place = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show"]
        self.scheduler = quiet([*start, "scheduler", *place])
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", folder]
        one = [*start, "worker", self.address, *options]
        self.workers = [quiet(one) for _ in range(workers)]

    def wait(self) -> None:
        """Wait until all workers are there."""
        from distributed import Client

        with Client(self.address, timeout=30, set_as_default=False) as client:
            client.wait_for_workers(len(self.workers), timeout=60)

    def peaks(self) -> tuple[float, float]:
        """Return the peaks of the scheduler and of the worker that took most, in MiB."""
        return peak(self.scheduler.pid), max(peak(worker.pid) for worker in self.workers)

    def stop(self) -> None:
        """End the processes."""
        for process in (*self.workers, self.scheduler):
            process.terminate()
            process.wait()


@contextlib.contextmanager
def cluster(workers: int, folder: str) -> Iterator[Cluster]:
    """Start a cluster, and end it with the context."""
    started = Cluster(workers, folder)
    try:
        started.wait()
        yield started
    finally:
        started.stop()


def row(title: str, side: int, seconds: float, peaks: list[float]) -> None:
    """Print a row of the table; of one process, only the first peak is known."""
    cells = [f"{each:.0f}" for each in peaks] + [""] * (3 - len(peaks))
    speed = side**2 / 1e6 / seconds
    print(f"| {title} | {seconds:.1f} | {speed:.2f} | {' | '.join(cells)} |", flush=True)


def measured(title: str, side: int, workers: int, folder: str, *arguments: str) -> None:
    """Run a command on one machine if there are no workers, else on a cluster; print its row."""
    if not workers:
        seconds, own = mmp(*arguments)
        row(title, side, seconds, [own])
        return
    with cluster(workers, folder) as started:
        seconds, own = mmp(*arguments, "--cluster", started.address)
        row(title, side, seconds, [own, *started.peaks()])


def check_regions(coded: Path, decoded: Path, side: int) -> None:
    """Compare random regions of a decoded file with those that the library decodes."""
    rng = np.random.default_rng(1)
    with bytes_of(str(coded)) as data, pictures.opened(decoded) as reader:
        for _ in range(REGIONS):
            x, y = (int(place) for place in rng.integers(0, side - 700, 2))
            expected = mmpcodec.decode(data, region=(x, y, 700, 700))
            if not np.array_equal(reader.read(slice(y, y + 700), slice(x, x + 700)), expected):
                raise SystemExit(f"{decoded}: differs at ({x}, {y})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=32768)
    parser.add_argument("--tile", type=int, default=512)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", help="for the files; by default that of temporary files")
    args, options = parser.parse_known_args()
    side, several = args.side, f"{args.workers} workers"
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        source, alone, spread = (Path(folder, name) for name in ("a.npy", "a.mmp", "b.mmp"))
        apart(make, source, side)
        print(f"{date.today()}, {processors()} processors, {side}x{side} pixels of 8 bits")
        print(f"`--tile {args.tile} {' '.join(options)}`\n")
        print("| work | s | megapixels/s | client, MiB | scheduler, MiB | largest worker, MiB |")
        print("|---|---|---|---|---|---|")
        with cluster(args.workers, folder) as idle:
            scheduler, worker = idle.peaks()
            print(f"| none | | | | {scheduler:.0f} | {worker:.0f} |")
        given = ("encode", str(source), "--tile", str(args.tile), *options, "-o")
        measured("encode, one process", side, 0, folder, *given, str(alone))
        measured(f"encode, {several}", side, args.workers, folder, *given, str(spread))
        if sha256(alone) != sha256(spread):
            raise SystemExit("the coded files differ")
        for kind in ("tif", "zarr"):
            for workers, title in ((0, "one process"), (args.workers, several)):
                target = Path(folder, f"{workers}.{kind}")
                to_file = ("decode", str(alone), *LARGE, "-o", str(target))
                measured(f"decode to {kind}, {title}", side, workers, folder, *to_file)
                apart(check_regions, alone, target, side)
                if kind == "tif":
                    target.unlink()
        print(f"\n{alone.stat().st_size:,} bytes, SHA-256 {sha256(alone)}")


if __name__ == "__main__":
    main()
