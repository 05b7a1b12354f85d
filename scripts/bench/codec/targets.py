"""Passes and time of the search for a target, and its miss.

    python scripts/bench/codec/targets.py PICTURE... [--preset NAME] [--size BYTES] [--psnr DB]
        [--ssimulacra2 S] [--quality Q] [--tile-size N]

The script prints the Markdown table of docs/guide/targets.md. Passes are counted at effort 1 and at
full effort. A miss is the distance of a file below its target size or above its target of PSNR or
SSIMULACRA2. The last column is the time of the search divided by the time of one encoding at the
lambda found.

With --quality the script prints a second table: the lambda of each picture and its SSIMULACRA2, and
below it how far the scores are from the quality. --tile-size counts for it alone.
"""

import argparse
import math
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np

import mmpcodec
from mmpcodec import DecodeLimits, EncodeParams, Target, pictures
from mmpcodec.bench.metrics.psnr import psnr
from mmpcodec.codec.rate_control.targets import request_of
from mmpcodec.metrics.ssimulacra2 import ssimulacra2

LIMITS = DecodeLimits(max_samples=2**28)
NEAR = 1.0
"""Points of SSIMULACRA2 within which a score is near its quality."""


def row(path: Path, preset: str, target: Target) -> Iterator[str]:
    """Yield the cells of the row of one picture and target."""
    picture = pictures.read(path).samples
    params = EncodeParams.from_options(preset=preset)
    started = time.perf_counter()
    found = mmpcodec.encode_picture(picture, params, target=target)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    mmpcodec.encode_picture(picture, params.at(found.lam))
    alone = time.perf_counter() - started
    size, quality = len(found.data), psnr(picture, found.samples, white=255) or math.inf
    full = sum(one.effort == params.effort for one in found.passes)
    yield from (path.name, preset)
    if target.name == "psnr":
        yield from (f"{target.value:g} dB", f"{quality - target.value:.3f} dB")
    elif found.ssimulacra2 is not None:
        yield from (f"SSIMULACRA2 {target.value:g}", f"{found.ssimulacra2 - target.value:.2f}")
    else:
        yield from (f"{target.value} bytes", f"{100 * (1 - size / target.value):.2f} %")
    yield from (f"{found.lam:g}", str(size), f"{quality:.2f}")
    yield f"{len(found.passes) - full} + {full}"
    yield f"{seconds / alone:.1f}"


def print_qualities(paths: list[Path], qualities: list[float], tile_size: int | None) -> None:
    """Print the scores of pictures of 8 bits at qualities; lossless files count as 100."""
    print("| picture | quality | lambda | bytes | SSIMULACRA2 |\n|---|---|---|---|---|")
    misses: dict[float, list[float]] = {quality: [] for quality in qualities}
    for path in paths:
        picture = pictures.read(path, limits=LIMITS).samples
        for quality in qualities:
            params = request_of(quality=quality).params
            found = mmpcodec.encode_picture(picture, params, tile_size=tile_size)
            score = ssimulacra2(picture, found.samples, white=255) or math.nan
            score = 100.0 if np.array_equal(picture, found.samples) else score
            misses[quality].append(score - quality)
            cells = path.stem, f"{quality:g}", f"{found.lam:g}", len(found.data), f"{score:.2f}"
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
    print(
        "\n| quality | within 1.0 | mean miss | standard deviation | worst |\n|---|---|---|---|---|"
    )
    for quality, own in misses.items():
        near, worst = np.mean(np.abs(own) <= NEAR), max(own, key=abs)
        mean, spread = np.mean(own), np.std(own)
        print(f"| {quality:g} | {near:.0%} | {mean:+.2f} | {spread:.2f} | {worst:+.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--preset", default="photo")
    parser.add_argument("--size", type=int, action="append", default=[])
    parser.add_argument("--psnr", type=float, action="append", default=[])
    parser.add_argument("--ssimulacra2", type=float, action="append", default=[])
    parser.add_argument("--quality", type=float, action="append", default=[])
    parser.add_argument("--tile-size", type=int)
    args = parser.parse_args()
    targets = [Target("size", size) for size in args.size]
    targets += [Target("psnr", decibels) for decibels in args.psnr]
    targets += [Target("ssimulacra2", score) for score in args.ssimulacra2]
    titles = "picture, preset, target, miss, lambda, bytes, PSNR dB, passes, times one encoding"
    print(f"{date.today()}\n")
    if targets:
        print(f"| {' | '.join(titles.split(', '))} |\n|{'---|' * 9}")
    for path in args.pictures:
        for target in targets:
            print(f"| {' | '.join(row(path, args.preset, target))} |", flush=True)
    if args.quality:
        print_qualities(args.pictures, args.quality, args.tile_size)


if __name__ == "__main__":
    main()
