"""Measure the peak memory of a picture: of one `mmp` process, and of a Dask worker of one thread.

    python scripts/bench/cluster/memory.py [--width 4000] [--height 3000]

The picture is camera.pgm repeated, in RGB, with Gaussian noise of 3 levels in each sample, from a
fixed seed. Each command runs twice: with `--threads 1` in a process of its own, and on a cluster of
one worker with one thread that is started for it. Memory is the peak of resident memory (VmHWM,
Linux). Processor seconds are those of the `mmp` process. The script compares the outputs of both,
and prints a Markdown table, which docs/guide/cluster/README.md shows.
"""

import argparse
import tempfile
from datetime import date
from pathlib import Path

import numpy as np
from giant import apart, cluster, mmp, sha256
from usage import ROOT, Used, used_by

from mmpcodec import pictures
from mmpcodec.bench.codecs.base import machine

LEVELS = 3.0
COMMANDS = (
    ("encode",),
    ("encode", "--preset", "photo"),
    ("encode", "--preset", "plain"),
    ("encode", "--preset", "lossless"),
    ("decode",),
)
MB = 2**20 / 1e6


def make(target: Path, width: int, height: int) -> None:
    """Write the picture."""
    camera = pictures.read(ROOT / "images/camera.pgm").samples
    rows, columns = np.arange(height) % camera.shape[0], np.arange(width) % camera.shape[1]
    noise = np.random.default_rng(0).normal(0, LEVELS, (height, width, 3))
    noisy = camera[rows][:, columns, None] + noise
    pictures.write(pictures.Picture(noisy.round().clip(0, 255).astype(np.uint8), 8), target)


def alone(arguments: tuple[str, ...]) -> Used:
    """Run a command of `mmp` in a process of its own."""
    return used_by(["-m", "mmpcodec.cli", *arguments, "--quiet", "-f"])


def on_worker(arguments: tuple[str, ...], folder: str) -> tuple[float, float]:
    """Run a command on a new cluster; return the peaks of its worker before and after, in MiB."""
    with cluster(1, folder) as started:
        _, before = started.peaks()
        mmp(*arguments, "-f", "--cluster", started.address)
        return before, started.peaks()[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=4000)
    parser.add_argument("--height", type=int, default=3000)
    args = parser.parse_args()
    pixels = args.width * args.height
    print(f"{date.today()}, {machine()}, {args.width}x{args.height} pixels of RGB\n")
    print(
        "| command | `mmp`, MB | Dask worker, MB | worker beyond its start, bytes a pixel "
        "| processor seconds |\n|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        picture, coded = Path(folder, "picture.ppm"), Path(folder, "picture.mmp")
        apart(make, picture, args.width, args.height)
        starts = []
        for name, *options in COMMANDS:
            source, suffix = (picture, "mmp") if name == "encode" else (coded, "ppm")
            targets = [Path(folder, f"{place}.{suffix}") for place in ("alone", "worker")]
            threads = ("--threads", "1") if name == "encode" else ()
            both = [
                (name, *options, *threads, str(source), "-o", str(target)) for target in targets
            ]
            one = alone(both[0])
            start, peak = on_worker(both[1], folder)
            if sha256(targets[0]) != sha256(targets[1]):
                raise SystemExit(f"{name} {' '.join(options)}: the outputs differ")
            if name == "encode" and not options:
                targets[0].rename(coded)
            starts.append(start)
            print(
                f"| `{' '.join(('mmp', name, *options))}` | {one.peak_mib * MB:.0f} "
                f"| {peak * MB:.0f} | {(peak - start) * 2**20 / pixels:.0f} | {one.cpu_s:.1f} |",
                flush=True,
            )
        print(f"\nA worker without work: {max(starts) * MB:.0f} MB")


if __name__ == "__main__":
    main()
