"""Seconds of the presets, and the PSNR that low effort loses.

    python scripts/bench/codec/presets.py PICTURE... [-p PRESET]... [-l LAMBDA] [--runs N]

The script prints a Markdown table. Seconds are median wall times with 2 threads: from array to
bytes and back after a warm-up, and of whole commands, the start of Python included.
"""

import argparse
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np

import mmpcodec
from mmpcodec import EncodeParams, Encoding, pictures
from mmpcodec.bench.codecs.base import machine
from mmpcodec.bench.metrics.psnr import psnr
from mmpcodec.bench.timing import median_seconds

THREADS = 2
EFFORTS = (1, 6, 9)
PRESETS = ("auto", "photo", "mixed", "text", "plain")
FULL_EFFORT = 6
"""Effort against which losses are computed."""


def encode(picture: np.ndarray, preset: str, lam: float, effort: int = FULL_EFFORT) -> Encoding:
    params = EncodeParams.from_options(lam, preset=preset, effort=effort)
    return mmpcodec.encode_picture(picture, params, backend="cpu", threads=THREADS)


def quality(picture: np.ndarray, encoding: Encoding) -> tuple[float, float]:
    """Return the logarithm of the bytes to the base 2, and the PSNR in dB."""
    return math.log2(len(encoding.data)), psnr(picture, encoding.samples, white=255) or math.inf


def loss(at: tuple[float, float], against: tuple[float, float], slope: float) -> float:
    """Return the loss of PSNR in dB at equal size; ``slope`` is the gain for twice the bytes."""
    return against[1] - at[1] + slope * (at[0] - against[0])


def command_seconds(runs: int, *arguments: object) -> float:
    """Return the median wall time of a whole command in seconds."""
    command = [sys.executable, "-P", "-m", "mmpcodec.cli", *map(str, arguments)]
    return median_seconds(partial(subprocess.run, command, check=True, capture_output=True), runs)


def rows(path: Path, preset: str, lam: float, runs: int, folder: Path) -> Iterator[str]:
    """Yield the table's rows of one picture and preset."""
    picture = pictures.read(path).samples
    efforts = EFFORTS if preset == "photo" else (FULL_EFFORT,)
    full = quality(picture, encode(picture, preset, lam))
    coarser = quality(picture, encode(picture, preset, 2 * lam))
    slope = (full[1] - coarser[1]) / (full[0] - coarser[0])
    coded, decoded = folder / "coded.mmp", folder / "decoded.pgm"
    for effort in efforts:
        encoding = encode(picture, preset, lam, effort)
        own = quality(picture, encoding)
        decode = partial(mmpcodec.decode, encoding.data, backend="cpu", threads=THREADS)
        options = ("--backend", "cpu", "--threads", THREADS, "-f", "-o")
        settings = ("-l", lam, "--preset", preset, "--effort", effort)
        seconds = (
            median_seconds(partial(encode, picture, preset, lam, effort), runs),
            command_seconds(runs, "encode", path, *settings, *options, coded),
            median_seconds(decode, runs),
            command_seconds(runs, "decode", coded, *options, decoded),
        )
        yield (
            "| "
            + " | ".join(
                (
                    path.name,
                    preset,
                    f"{lam:g}",
                    str(effort) if len(efforts) > 1 else "",
                    *(f"{each:.3f}" for each in seconds),
                    str(len(encoding.data)),
                    f"{own[1]:.2f}",
                    "" if effort == FULL_EFFORT else f"{loss(own, full, slope):.2f}",
                )
            )
            + " |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("-l", "--lambda", dest="lam", type=float, default=48.0)
    parser.add_argument("-p", "--preset", dest="presets", action="append", choices=PRESETS)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    print(f"{date.today()}, {machine()}, medians of {args.runs} runs\n")
    titles = "picture, preset, lambda, effort, encode s, `mmp encode` s, decode s, `mmp decode` s"
    heads = [*titles.split(", "), "bytes", "PSNR dB", "dB below effort 6"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    with tempfile.TemporaryDirectory() as folder:
        for path in args.pictures:
            for preset in args.presets or PRESETS:
                for row in rows(path, preset, args.lam, args.runs, Path(folder)):
                    print(row, flush=True)


if __name__ == "__main__":
    main()
