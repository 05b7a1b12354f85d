"""Processor seconds of reading parts of an open mmp file in tiles.

    python scripts/bench/codec/regions.py PICTURE [--tile N] [--runs N]

The picture is repeated 4x4 times and encoded with the default settings. The script prints the
Markdown table of docs/guide/arrays.md. Seconds are those of all threads of the process, the median
of the runs, after a warm-up.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

import mmpcodec
import mmpcodec.plugins.pillow
from mmpcodec import pictures
from mmpcodec.bench.codecs.base import machine
from mmpcodec.dask import from_mmp
from mmpcodec.pictures import MmpReader

PART = slice(300, 400)
WINDOW, STEP = 224, 112


def seconds_of(work: Callable[[], object], runs: int) -> float:
    """Return the median processor seconds of some work, after one run that does not count."""
    found = []
    for _ in range(runs + 1):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return statistics.median(found[1:])


def windows(path: Path, kept: int | None) -> None:
    """Read a quarter of a picture in windows that overlap by half, keeping ``kept`` bytes."""
    with MmpReader(path, cache_bytes=kept) as reader:
        height, width = reader.shape[0] // 2, reader.shape[1] // 2
        for top in range(0, height - WINDOW + 1, STEP):
            for left in range(0, width - WINDOW + 1, STEP):
                reader.read(slice(top, top + WINDOW), slice(left, left + WINDOW))


def opened_part(path: Path) -> None:
    """Open a file and read a part of 100x100 pixels."""
    with pictures.opened(path) as reader:
        reader.read(PART, PART)


def cropped(path: Path) -> None:
    """Open a file with Pillow and cut a part of 100x100 pixels."""
    with Image.open(path) as image:
        image.crop((PART.start, PART.start, PART.stop, PART.stop))


def computed(path: Path, side: int) -> np.ndarray:
    """Compute a Dask array of a file in threads."""
    return from_mmp(path, chunks=side).compute(scheduler="threads")


def works(path: Path, tile: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what is measured, and its name."""
    yield "decode the whole file", lambda: mmpcodec.decode(path.read_bytes())
    yield "open the file, read 100x100 pixels", partial(opened_part, path)
    yield "the same with Pillow's `crop`", partial(cropped, path)
    several = f"read {WINDOW}x{WINDOW} windows every {STEP} pixels in a quarter of the picture"
    for remark, kept in (("", None), (", keeping no tiles", 0)):
        yield several + remark, partial(windows, path, kept)
    for side in (64, 128, 256, 512):
        if side >= tile:
            yield f"compute `from_mmp` with chunks of {side}x{side}", partial(computed, path, side)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", type=Path)
    parser.add_argument("--tile", type=int, default=256)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    samples = np.tile(pictures.read(given.picture).samples, (4, 4))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiled.mmp"
        path.write_bytes(mmpcodec.encode(samples, tile_size=given.tile))
        height, width = samples.shape
        print(f"{machine()}, {given.picture.name}, {width}x{height}, tiles of {given.tile}")
        print(f"{date.today()}\n\n| work | processor seconds |\n|---|---|")
        for name, work in works(path, given.tile):
            print(f"| {name} | {seconds_of(work, given.runs):.4f} |", flush=True)


if __name__ == "__main__":
    main()
