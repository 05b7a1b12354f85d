"""Rate, time and memory of mmpcodec beside AVIF, JPEG XL and JPEG 2000, measured in one run.

    python scripts/bench/codec/summary.py --pictures CLASS PICTURE... [--pictures ...] --out ROWS

CLASS names the pictures after it, for example "text". Of a larger picture only the middle 512x512
pixels are coded. Appends one JSON object for each coded file to ROWS, so a stopped run continues.
`make bench-pages` turns ROWS into the summary tables.

``--processes N`` measures N pictures at once, each on a processor of its own. Times are processor
seconds: the least of 3 runs, or of fewer runs that together take 1 s. Memory is the peak of a fresh
process that encodes and decodes the first picture, with Python and all libraries.
"""

import argparse
import json
import multiprocessing
import os
import shlex
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from mmpcodec import pictures
from mmpcodec.bench.codecs.base import OURS, Codec, machine, parse
from mmpcodec.bench.codecs.ours import ours
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.bench.metrics import psnr

SIDE = 512
RUNS = 3
ENOUGH_SECONDS = 1.0

_QUALITIES = "quality=10/28/48/68"
_DISTANCES = "distance=0.6/1.4/3/7"
_OURS = "backend=cpu,threads=1,lambda=12/40/130/432"
CODECS = {
    "AVIF, speed 0": f"avif:tune=psnr,{_QUALITIES}",
    "AVIF, speed 6": f"avif:tune=psnr,speed=6,{_QUALITIES}",
    "JPEG XL, effort 9": f"jxl:{_DISTANCES}",
    "JPEG XL, effort 7": f"jxl:effort=7,{_DISTANCES}",
    "JPEG 2000": "jpeg2000:ratio=5/9/16/28/50/90",
    "mmpcodec, default": f"mmp:{_OURS}",
    "mmpcodec, photo, effort 6": f"mmp:preset=photo,{_OURS}",
    "mmpcodec, photo, effort 3": f"mmp:preset=photo,effort=3,{_OURS}",
    "mmpcodec, photo, effort 1": f"mmp:preset=photo,effort=1,{_OURS}",
    "mmpcodec, plain": f"mmp:preset=plain,{_OURS}",
}
"""Codec strings by the names in the tables. Rates are compared with the first one."""

Row = dict[str, Any]

KINDS: dict[str, Row] = {
    "summary": {"what": "Size, PSNR and times of each file", "columns": {}},
    "memory": {
        "what": "Peak memory of a process that encodes and decodes one picture of 512x512 pixels, "
        "with Python and all libraries",
        "columns": {"codec": "codec", "picture": "picture", "peak_mib": "MiB"},
    },
}
"""What the rows of each kind are, for `scripts/bench/pages.py`."""


def codec_of(label: str, colour: bool) -> Codec:
    name, options = parse(CODECS[label])
    return ours(options) if name == OURS else peers(CODECS[label], colour=colour)[0]


def middle(path: Path) -> np.ndarray:
    """The middle of a picture: (H, W) or (H, W, 3) uint8 samples, at most SIDE rows and columns."""
    samples = pictures.read(path).without_alpha().samples
    top, left = (max(0, (size - SIDE) // 2) for size in samples.shape[:2])
    return np.ascontiguousarray(samples[top : top + SIDE, left : left + SIDE])


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Least processor seconds of some runs, and the last result."""
    seconds: list[float] = []
    while len(seconds) < RUNS and sum(seconds) < ENOUGH_SECONDS:
        started = time.process_time()
        result = work()
        seconds.append(time.process_time() - started)
    return round(min(seconds), 5), result


def measured(samples: np.ndarray, codec: Codec, point: float) -> Row:
    """Size, quality and times of one file."""
    encode_cpu_s, data = timed(partial(codec.encode, samples, point))
    decode_cpu_s, decoded = timed(partial(codec.decode, data))
    quality = psnr(samples, decoded, white=255)
    return {
        "bytes": len(data),
        "psnr_db": None if quality is None else round(quality, 4),
        "encode_cpu_s": encode_cpu_s,
        "decode_cpu_s": decode_cpu_s,
    }


def peak_mib(path: Path, label: str) -> float:
    """Peak resident memory of this process after it encoded and decoded a picture."""
    samples = middle(path)
    codec = codec_of(label, samples.ndim == 3)
    codec.decode(codec.encode(samples, codec.ladder[1]))
    # Not ru_maxrss: that counts what the parent held before exec.
    lines = Path("/proc/self/status").read_text().splitlines()
    (peak,) = (line for line in lines if line.startswith("VmHWM:"))
    return round(int(peak.split()[1]) / 1024, 1)


def rows_of(name: str, path: Path, done: set[tuple[str, str, Any]]) -> list[Row]:
    """Rows of one picture of the class ``name``, without those in ``done``."""
    samples = middle(path)
    height, width = samples.shape[:2]
    rows: list[Row] = []
    for label in CODECS:
        codec = codec_of(label, samples.ndim == 3)
        for point in codec.ladder:
            if (path.name, label, point) not in done:
                about = {"run": "summary", "codec": label, "picture": path.name, "class": name}
                size = {"width": width, "height": height, "point": point}
                rows.append(about | size | measured(samples, codec, point))
    return rows


def all_rows(
    classes: list[list[str]], done: set[tuple[str, str, Any]], processes: int
) -> Iterator[Row]:
    """Rows of all pictures that are not in ``done``, then the memory of each codec."""
    context = multiprocessing.get_context("spawn")
    places = context.Queue()
    for place in sorted(os.sched_getaffinity(0), reverse=True)[:processes]:
        places.put(place)
    with ProcessPoolExecutor(processes, context, keep_to_one, (places,)) as pool:
        named = [(name, Path(path)) for name, *paths in classes for path in paths]
        futures = [pool.submit(rows_of, name, path, done) for name, path in named]
        for future in as_completed(futures):
            yield from future.result()
    first = named[0][1]
    for label in CODECS:
        if (first.name, label, None) not in done:
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                peak = pool.submit(peak_mib, first, label).result()
            yield {"run": "memory", "codec": label, "picture": first.name, "peak_mib": peak}


def keep_to_one(places: "multiprocessing.Queue[int]") -> None:
    """Keep this process to one processor of ``places``, so that no codec gains from threads."""
    os.sched_setaffinity(0, {places.get()})


def heads(args: argparse.Namespace) -> Iterator[Row]:
    """What the two runs are: command, date, hardware, software."""
    command = ["python", "scripts/bench/codec/summary.py"]
    for name, *paths in args.pictures:
        command += ["--pictures", name, *(Path(path).name for path in paths)]
    command += ["--processes", str(args.processes), "--out", "ROWS"]
    versions: dict[str, str] = {}
    for label in CODECS:
        versions |= codec_of(label, colour=False).versions
    for run, about in KINDS.items():
        yield {
            "run": run,
            **about,
            "command": shlex.join(command),
            "date": str(date.today()),
            "hardware": machine(),
            "software": ", ".join(f"{name} {version}" for name, version in versions.items()),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", action="append", nargs="+", required=True, metavar="NAME")
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.touch()
    known = [json.loads(line) for line in args.out.read_text().splitlines()]
    done = {(row["picture"], row["codec"], row.get("point")) for row in known if "codec" in row}
    with args.out.open("a") as out:
        rows = all_rows(args.pictures, done, args.processes)
        for row in chain(() if known else heads(args), rows):
            out.write(json.dumps(row) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
