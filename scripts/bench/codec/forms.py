"""Rate and PSNR of samples of more than 8 bits and of tiles, beside other codecs.

    python scripts/bench/codec/forms.py deep|tiles PICTURE... --out ROWS [options]
    python scripts/bench/codec/forms.py table ROWS...

The first command writes one JSON line for each coded file; the second makes tables of these lines.
PSNR is computed over all samples of red, green and blue, with the peak 2**depth - 1. Bytes are
sizes of whole files. imagecodecs codes JPEG 2000, JPEG XL and JPEG-LS.
"""

import argparse
import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

import mmpcodec
from mmpcodec import pictures
from mmpcodec.bench.metrics.psnr import psnr

LAMBDAS = (0.5, 2, 8, 32, 128)
RATIOS = (4, 6, 9, 14, 22, 36, 60, 110)
DISTANCES = (0.3, 0.6, 1.2, 2.5, 5, 10)
ERRORS = (1, 2, 4, 8)
TILES = (64, 128, 256, 512, 1024)


Made = tuple[int, np.ndarray]
"""Size of a file in bytes, and its decoded samples."""


def ours(picture: pictures.Picture, lam: float, preset: str, effort: int, tile: int = 0) -> Made:
    data = mmpcodec.encode(
        picture.samples,
        lam,
        depth=picture.depth,
        preset=preset,
        effort=effort,
        tile_size=tile,
        backend="cpu",
        threads=1,
    )
    return len(data), mmpcodec.decode(data, threads=1)


def jpeg2000(picture: pictures.Picture, ratio: float) -> Made:
    import imagecodecs

    # imagecodecs takes a PSNR with the peak of 16 bits, which may have a fraction.
    level: Any = 110 - 20 * math.log10(ratio) - 6.02 * (16 - picture.depth)
    data = imagecodecs.jpeg2k_encode(
        picture.samples, level, codecformat="j2k", reversible=False, bitspersample=picture.depth
    )
    return len(data), imagecodecs.jpeg2k_decode(data)


def jpegxl(picture: pictures.Picture, distance: float, effort: int = 7) -> Made:
    import imagecodecs

    scaled = picture.samples << (16 - picture.depth) if picture.depth > 8 else picture.samples
    data = imagecodecs.jpegxl_encode(scaled, distance=distance, effort=effort)
    decoded = imagecodecs.jpegxl_decode(data)
    return len(data), decoded >> (16 - picture.depth) if picture.depth > 8 else decoded


def jpegls(picture: pictures.Picture, error: int) -> Made:
    import imagecodecs

    data = imagecodecs.jpegls_encode(picture.samples, error)
    return len(data), imagecodecs.jpegls_decode(data)


Job = tuple[str, str, float, Callable[..., Made], tuple[Any, ...]]


def jobs(args: argparse.Namespace) -> Iterator[Job]:
    """Yield jobs: path, codec, operating point, and the function and arguments that code it."""
    preset, effort = args.preset, args.effort
    name = f"mmp {preset}"
    for path in args.pictures:
        if args.what == "tiles":
            yield from ((path, f"tile {t}", 32, ours, (32, preset, effort, t)) for t in (0, *TILES))
        else:
            yield from ((path, name, lam, ours, (lam, preset, effort)) for lam in LAMBDAS)
            yield from ((path, "JPEG 2000", r, jpeg2000, (r,)) for r in RATIOS)
            yield from ((path, "JPEG XL", d, jpegxl, (d,)) for d in DISTANCES)
            yield from ((path, "JPEG-LS, near", e, jpegls, (e,)) for e in ERRORS)


def done(job: Job, depth: int | None) -> dict[str, Any]:
    """Run a job and return its row; ``depth``, if not None, replaces the picture's depth."""
    path, codec, point, made_by, arguments = job
    picture = pictures.read(path).without_alpha()
    if depth is not None:
        picture = pictures.Picture(picture.samples, depth)
    started = time.perf_counter()
    size, decoded = made_by(picture, *arguments)
    row: dict[str, Any] = {
        "picture": Path(path).stem,
        "codec": codec,
        "point": point,
        "bytes": size,
        "seconds": round(time.perf_counter() - started, 3),
        "pixels": picture.samples.shape[0] * picture.samples.shape[1],
        "depth": picture.depth,
    }
    if decoded is not None:
        white = (1 << picture.depth) - 1
        row["psnr"] = psnr(picture.samples, decoded, white=white)
    return row


def measure(args: argparse.Namespace) -> None:
    with ProcessPoolExecutor(args.jobs) as pool, Path(args.out).open("a") as out:
        waiting = {pool.submit(done, job, args.depth): job for job in jobs(args)}
        for future in as_completed(waiting):
            try:
                out.write(json.dumps(future.result()) + "\n")
            except Exception as error:
                path, codec, point, *_ = waiting[future]
                print(f"{path}, {codec} at {point}: {type(error).__name__}: {error}")
            out.flush()


Rows = list[dict[str, Any]]


def deltas(anchor: Rows, test: Rows) -> tuple[float, float]:
    """Return BD-PSNR in dB and BD-rate in per cent, by Akima's interpolation."""
    import bjontegaard

    curves = []
    for rows in (anchor, test):
        points = sorted((row["bytes"] / row["pixels"] * 8, row["psnr"]) for row in rows)
        kept: list[tuple[float, float]] = []
        for rate, quality in points:
            if quality is not None and (not kept or quality > kept[-1][1]):
                kept.append((rate, quality))
        curves += [[rate for rate, _ in kept], [quality for _, quality in kept]]
    options = {"method": "akima", "require_matching_points": False, "min_overlap": 0}
    return (
        float(bjontegaard.bd_psnr(*curves, **options)),
        float(bjontegaard.bd_rate(*curves, **options)),
    )


def table(args: argparse.Namespace) -> None:
    by_picture: dict[str, dict[str, Rows]] = defaultdict(lambda: defaultdict(list))
    for name in args.pictures:
        for line in Path(name).read_text().splitlines():
            row = json.loads(line)
            by_picture[row["picture"]][row["codec"]].append(row)
    codecs = list(dict.fromkeys(codec for one in by_picture.values() for codec in one))
    anchor = "JPEG 2000"
    for codec in sorted(codec for codec in codecs if codec != anchor):
        print(f"\n{codec} against {anchor}: BD-PSNR in dB, BD-rate\n")
        print("| picture | BD-PSNR, BD-rate |\n|---|---:|")
        found = []
        for picture, one in sorted(by_picture.items()):
            if codec in one and anchor in one:
                db, rate = deltas(one[anchor], one[codec])
                found.append((db, rate))
                print(f"| {picture} | {db:+.2f}, {rate:+.1f} % |")
        db, rate = np.nanmean(np.array(found), axis=0)
        print(f"| **mean of {len(found)}** | **{db:+.2f}, {rate:+.1f} %** |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("deep", "tiles", "table"))
    parser.add_argument("pictures", nargs="+")
    parser.add_argument("--out", default="rows.jsonl")
    parser.add_argument("--preset", default="photo")
    parser.add_argument("--effort", type=int, default=6)
    parser.add_argument("--depth", type=int, help="bits of a sample, if files do not say")
    parser.add_argument("--jobs", type=int, default=None)
    args = parser.parse_args()
    table(args) if args.what == "table" else measure(args)


if __name__ == "__main__":
    main()
