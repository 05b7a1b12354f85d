"""Rate, time and memory of mmpcodec beside other codecs, measured in one run as `mmp sweep` does.

    python scripts/bench/codec/summary.py --pictures CLASS PICTURE... [--pictures ...] --out ROWS
    python scripts/bench/codec/summary.py --frontier --pictures ... --out ROWS

CLASS is the class of the pictures after it, for example "text". Of a larger picture only the middle
512x512 pixels are coded. The script appends one JSON object for each coded file to ROWS, codec by
codec, so a stopped run continues. `make bench-pages` turns ROWS into the summary tables, which keep
gray and RGB apart. RGB is coded at 4:4:4, by WebP at 4:2:0.

``--frontier`` measures more speeds, efforts and presets, for a table and a drawing of rate against
time, also of WebP and x265. A codec whose library is missing is left out, and a message says so.

``--processes N`` measures N pictures at once, each on its own processor core. Times are processor
seconds: the smallest of 3 runs, or of fewer runs that together take 1 s. Memory is the peak of a
new process that encodes and decodes the first picture, with Python and all libraries.
"""

import argparse
import json
import multiprocessing
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from mmpcodec import pictures
from mmpcodec.bench.codecs.base import GRAY, OURS, Codec, SampleKind, machine, parse
from mmpcodec.bench.codecs.ours import ours
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.bench.sweep import Original, coded
from mmpcodec.errors import MissingExtra

SIDE = 512
RUNS = 3
ENOUGH_SECONDS = 1.0

_QUALITIES = "quality=10/28/48/68"
_DISTANCES = "distance=0.6/1.4/3/7"
_OURS = "backend=cpu,threads=1,lambda=12/40/130/432"
CODECS = {
    **{f"AVIF, speed {n}": f"avif:tune=psnr,speed={n},{_QUALITIES}" for n in (0, 2, 4, 6, 8)},
    **{f"JPEG XL, effort {n}": f"jxl:effort={n},{_DISTANCES}" for n in (9, 7, 5, 3)},
    **{f"WebP, method {n}": f"webp:method={n},quality=2/20/50/80/93" for n in (6, 4, 0)},
    **{
        f"x265, preset {name}": f"hevc:preset={name},threads=1,qp=27/33/39/45"
        for name in ("veryslow", "medium", "ultrafast")
    },
    "JPEG": "jpeg:quality=15/35/60/80/92",
    "JPEG 2000": "jpeg2000:ratio=5/9/16/28/50/90",
    **{f"mmpcodec, effort {n}": f"mmp:effort={n},{_OURS}" for n in (6, 2, 1)},
    **{
        f"mmpcodec, {preset}, effort {n}": f"mmp:preset={preset},effort={n},{_OURS}"
        for preset, efforts in (("photo", (9, 6, 4, 3, 2, 1)), ("mixed", (6, 2)))
        for n in efforts
    },
    **{f"mmpcodec, {name}": f"mmp:preset={name},{_OURS}" for name in ("text", "plain")},
}
"""Codec strings by the names in the tables. Rates are compared with the first."""

FRONTIER = tuple(label for label in CODECS if label != "JPEG")
"""Names of the codecs of the frontier."""
SUMMARY = (
    *("AVIF, speed 0", "AVIF, speed 6", "JPEG XL, effort 9", "JPEG XL, effort 7", "JPEG 2000"),
    *("WebP, method 6", "JPEG"),
    *("mmpcodec, effort 6", "mmpcodec, effort 2", "mmpcodec, effort 1", "mmpcodec, plain"),
)
"""Names of the codecs of the summary."""

Row = dict[str, Any]
Key = tuple[str, str, Any]
"""Picture, codec and operating point of a row; the point of a row of memory is None."""

KINDS: dict[str, Row] = {
    "summary": {"what": "Size, PSNR and times of each file", "columns": {}},
    "frontier": {"what": "Size, PSNR and times of each file", "columns": {}},
    "memory": {
        "what": "Peak memory of a process that encodes and decodes one picture of 512x512 pixels, "
        "with Python and all libraries",
        "columns": {"codec": "codec", "picture": "picture", "peak_mib": "MiB"},
    },
}
"""Title and columns of each kind of rows, for `scripts/bench/pages.py`."""


def codec_of(label: str, kind: SampleKind = GRAY) -> Codec:
    name, options = parse(CODECS[label])
    return ours(options, kind=kind) if name == OURS else peers(CODECS[label], kind)[0]


def available(labels: Sequence[str]) -> list[str]:
    """Return the codecs whose libraries are there; name the others on standard error.

    Raises
    ------
    MissingExtra
        If the library of the first codec is missing, with which all rates are compared.
    """
    found = []
    for label in labels:
        try:
            codec_of(label)
        except MissingExtra as error:
            if label == labels[0]:
                raise
            print(f"{label} is left out: {error}", file=sys.stderr)
        else:
            found.append(label)
    return found


def middle(path: Path) -> Original:
    """Return the middle of a picture without alpha, at most SIDE rows and columns."""
    picture = pictures.read(path).without_alpha()
    top, left = (max(0, (size - SIDE) // 2) for size in picture.samples.shape[:2])
    samples = np.ascontiguousarray(picture.samples[top : top + SIDE, left : left + SIDE])
    return Original.of(path.name, replace(picture, samples=samples))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the smallest processor time of several runs in seconds, and the last result."""
    seconds: list[float] = []
    while len(seconds) < RUNS and sum(seconds) < ENOUGH_SECONDS:
        started = time.process_time()
        result = work()
        seconds.append(time.process_time() - started)
    return round(min(seconds), 5), result


def measured(picture: Original, codec: Codec, point: float) -> Row:
    """Return size, PSNR and times of one file."""
    found = coded(picture, codec, point, timed)
    psnr = found.quality.values["psnr"]
    return {
        "bytes": len(found.data),
        "psnr_db": None if psnr is None else round(psnr, 4),
        "encode_cpu_s": found.encode_seconds,
        "decode_cpu_s": found.decode_seconds,
    }


def peak_mib(path: Path, label: str) -> float:
    """Encode and decode a picture; return the peak resident memory of this process in MiB."""
    picture = middle(path)
    codec = codec_of(label, picture.kind)
    codec.decode(codec.encode(picture.samples, codec.ladder[1]))
    # ru_maxrss would include the memory that the parent held before exec.
    lines = Path("/proc/self/status").read_text().splitlines()
    (peak,) = (line for line in lines if line.startswith("VmHWM:"))
    return round(int(peak.split()[1]) / 1024, 1)


def rows_of(run: str, name: str, path: Path, label: str, done: set[Key]) -> list[Row]:
    """Measure one codec on one picture of the class ``name``; return its rows not in ``done``."""
    picture = middle(path)
    height, width = picture.samples.shape[:2]
    codec = codec_of(label, picture.kind)
    about: Row = {"run": run, "codec": label, "picture": path.name, "class": name}
    about |= {"form": picture.kind.planes, "depth": picture.depth}
    return [
        {**about, "width": width, "height": height, "point": point}
        | measured(picture, codec, point)
        for point in codec.ladder
        if (path.name, label, point) not in done
    ]


def all_rows(args: argparse.Namespace, codecs: Sequence[str], done: set[Key]) -> Iterator[Row]:
    """Yield the rows of all files that are not in ``done``; for the summary, of memory too."""
    run = "frontier" if args.frontier else "summary"
    named = [(name, Path(path)) for name, *paths in args.pictures for path in paths]
    context = multiprocessing.get_context("spawn")
    places = context.Queue()
    for place in sorted(os.sched_getaffinity(0), reverse=True)[: args.processes]:
        places.put(place)
    with ProcessPoolExecutor(args.processes, context, keep_to_one, (places,)) as pool:
        futures = [
            pool.submit(rows_of, run, name, path, label, done)
            for label in codecs
            for name, path in named
        ]
        for future in futures:
            yield from future.result()
    first = named[0][1]
    for label in () if args.frontier else codecs:
        if (first.name, label, None) not in done:
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                peak = pool.submit(peak_mib, first, label).result()
            yield {"run": "memory", "codec": label, "picture": first.name, "peak_mib": peak}


def keep_to_one(places: "multiprocessing.Queue[int]") -> None:
    """Pin this process to one processor core of ``places``, so that no codec gains from threads."""
    os.sched_setaffinity(0, {places.get()})


def heads(args: argparse.Namespace, codecs: Sequence[str]) -> Iterator[Row]:
    """Yield the descriptions of the runs: title, columns, command, date, hardware, software."""
    command = ["python", "scripts/bench/codec/summary.py", *(["--frontier"] * args.frontier)]
    for name, *paths in args.pictures:
        command += ["--pictures", name, *(Path(path).name for path in paths)]
    command += ["--processes", str(args.processes), "--out", "ROWS"]
    versions: dict[str, str] = {}
    for label in codecs:
        versions |= codec_of(label).versions
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    for run in ("frontier",) if args.frontier else ("summary", "memory"):
        yield {
            "run": run,
            **KINDS[run],
            "command": shlex.join(command),
            "date": str(date.today()),
            "commit": commit.stdout.strip(),
            "hardware": machine(),
            "software": ", ".join(f"{name} {version}" for name, version in versions.items()),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", action="append", nargs="+", required=True, metavar="NAME")
    parser.add_argument("--frontier", action="store_true")
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.touch()
    known = [json.loads(line) for line in args.out.read_text().splitlines()]
    done = {(row["picture"], row["codec"], row.get("point")) for row in known if "codec" in row}
    codecs = available(FRONTIER if args.frontier else SUMMARY)
    with args.out.open("a") as out:
        for row in chain(() if known else heads(args, codecs), all_rows(args, codecs, done)):
            out.write(json.dumps(row) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
