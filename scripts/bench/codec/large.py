"""Measure files of tiles: time and memory of encoding a large TIFF file and of decoding a region.

    python scripts/bench/codec/large.py PICTURE... --side 32768 --tile 1024 --backend cuda cpu

The large picture is a mosaic of 512x512 parts of the given pictures, rotated and in random order.
Each command runs in its own process. Memory is the peak of the process, pages of mapped files
included. Further options go to `mmp encode`. The script prints a Markdown table.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path

import numpy as np
import tifffile

from mmpcodec import pictures
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.runtime.machine import processors

PART = 512


def make(target: Path, sources: list[Path], side: int) -> None:
    """Write the mosaic of ``side`` x ``side`` samples as a TIFF file, a row of parts at a time."""
    parts = []
    for path in sources:
        samples = pictures.read(path).samples
        samples = samples if samples.ndim == 2 else samples.mean(axis=2).round().astype(np.uint8)
        parts += [np.rot90(samples[:PART, :PART], turn) for turn in range(4)]
    rng = np.random.default_rng(0)
    mosaic = tifffile.memmap(target, shape=(side, side), dtype=np.uint8, photometric="minisblack")
    for row in range(0, side, PART):
        chosen = rng.integers(0, len(parts), side // PART)
        mosaic[row : row + PART] = np.hstack([parts[number] for number in chosen])
    mosaic.flush()


def measured(*arguments: str) -> tuple[float, float]:
    """Return wall time in seconds and peak memory in MiB of an `mmp` command."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-P", "-m", "mmpcodec.cli", *arguments, "--quiet"])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(
            f"mmp {' '.join(arguments)}: exit status {os.waitstatus_to_exitcode(status)}"
        )
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--side", type=int, default=32768, help="a multiple of 512")
    parser.add_argument("--tile", type=int, nargs="+", default=[1024])
    parser.add_argument("--backend", nargs="+", default=["cuda", "cpu"])
    parser.add_argument("--decode", action="store_true", help="also decode all of it")
    args, options = parser.parse_known_args()
    print(f"{date.today()}, {processors()} processors", end="")
    print(f", {CudaBackend().describe()}" if "cuda" in args.backend else "")
    print(f"\n{args.side}x{args.side} pixels, `{' '.join(options)}`\n")
    print(
        "| tile | backend | bytes | s | megapixels/s | peak MiB | region 1000x1000, s | peak MiB |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        large, coded = Path(folder, "large.tif"), Path(folder, "large.mmp")
        # A process inherits the peak of its parent, so another process makes the mosaic.
        with ProcessPoolExecutor(1) as pool:
            pool.submit(make, large, args.pictures, args.side).result()
        for tile in args.tile:
            for backend in args.backend:
                seconds, peak = measured(
                    "encode", str(large), "-o", str(coded), "-f", "--tile", str(tile),
                    "--backend", backend, *options,
                )  # fmt: skip
                middle = args.side // 3
                of_region, peak_of_region = measured(
                    "decode", str(coded), "-o", f"{folder}/part.png", "-f",
                    "--region", f"{middle},{middle},1000,1000",
                )  # fmt: skip
                print(
                    f"| {tile} | {backend} | {coded.stat().st_size:,} | {seconds:.1f} "
                    f"| {args.side**2 / 1e6 / seconds:.1f} | {peak:.0f} "
                    f"| {of_region:.2f} | {peak_of_region:.0f} |",
                    flush=True,
                )
        if args.decode:
            limits = ("--max-samples", str(1 << 62))
            seconds, peak = measured("decode", str(coded), "-o", f"{folder}/whole.npy", *limits)
            print(f"\nThe whole decodes in {seconds:.1f} s, with {peak:.0f} MiB.")


if __name__ == "__main__":
    main()
