"""Passes and time of the search for a target, and its miss.

    python scripts/bench/codec/targets.py PICTURE... [--preset NAME] [--size BYTES] [--psnr DB]
        [--ssimulacra2 S]

The script prints the Markdown table of docs/guide/targets.md. Passes are counted at effort 1 and at
full effort. A miss is the distance of a file below its target size or above its target of PSNR or
SSIMULACRA2. The last column is the time of the search divided by the time of one encoding at the
lambda found.
"""

import argparse
import math
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import mmpcodec
from mmpcodec import EncodeParams, Target, pictures
from mmpcodec.bench.metrics.psnr import psnr


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--preset", default="photo")
    parser.add_argument("--size", type=int, action="append", default=[])
    parser.add_argument("--psnr", type=float, action="append", default=[])
    parser.add_argument("--ssimulacra2", type=float, action="append", default=[])
    args = parser.parse_args()
    targets = [Target("size", size) for size in args.size]
    targets += [Target("psnr", decibels) for decibels in args.psnr]
    targets += [Target("ssimulacra2", score) for score in args.ssimulacra2]
    titles = "picture, preset, target, miss, lambda, bytes, PSNR dB, passes, times one encoding"
    print(f"{date.today()}\n\n| {' | '.join(titles.split(', '))} |\n|{'---|' * 9}")
    for path in args.pictures:
        for target in targets:
            print(f"| {' | '.join(row(path, args.preset, target))} |", flush=True)


if __name__ == "__main__":
    main()
