"""Bytes and seconds of pictures that are stored in chunks, as zarr stores them, without loss.

    python scripts/bench/codec/chunks.py PICTURE... [-p PRESET]... [--runs N]

The script prints the Markdown table of docs/guide/plugins.md. Seconds are median wall times of
encoding all chunks one after the other with 2 threads, after a warm-up.
"""

import argparse
from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np

import mmpcodec
from mmpcodec import pictures
from mmpcodec.bench.codecs.base import machine
from mmpcodec.bench.timing import median_seconds

SIZES = (64, 128, 256, 512)
THREADS = 2


def encode(picture: np.ndarray, size: int, preset: str) -> int:
    """Encode a picture in chunks of ``size`` x ``size`` samples; return their size in bytes."""
    height, width = picture.shape[:2]
    chunks = (
        picture[top : top + size, left : left + size]
        for top in range(0, height, size)
        for left in range(0, width, size)
    )
    return sum(
        len(mmpcodec.encode(chunk, 0, preset=preset, backend="cpu", threads=THREADS))
        for chunk in chunks
    )


def rows(path: Path, preset: str, runs: int) -> Iterator[str]:
    """Yield the table's rows of one picture and preset."""
    picture = pictures.read(path).samples
    whole = encode(picture, max(picture.shape), preset)
    for size in SIZES:
        count = encode(picture, size, preset)
        seconds = median_seconds(partial(encode, picture, size, preset), runs)
        more = f"{100 * (count / whole - 1):.1f}"
        yield f"| {path.name} | {preset} | {size}x{size} | {count} | {more} | {seconds:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("-p", "--preset", action="append")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    print(f"{machine()}, {THREADS} threads, {date.today()}\n")
    print("| picture | preset | chunks | bytes | % more than in one | seconds |")
    print("|---|---|---|---|---|---|")
    for path in given.pictures:
        for preset in given.preset or ("auto", "lossless"):
            for row in rows(path, preset, given.runs):
                print(row, flush=True)


if __name__ == "__main__":
    main()
