"""Rate and time of each tool of predicted blocks, alone and together, or of one beside all others.

    python scripts/bench/codec/block_tools.py PICTURE... [--effort 2] [--preset photo] [--colour]
        [--beside TOOL] [-l LAMBDA]...

Pictures are cut to their middle of 512x512, and turned into gray without --colour. The script
prints a Markdown table: the Bjontegaard difference of the rate of whole files against the preset
without the tools, and how many times the processor time is. With --beside, it compares all tools
with all but one.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import mmpcodec
from mmpcodec import EncodeParams, pictures
from mmpcodec.bench.codecs.base import machine
from mmpcodec.bench.codecs.conversion import luma_of
from mmpcodec.bench.curves import Curve, delta
from mmpcodec.bench.metrics.psnr import psnr
from mmpcodec.tools import BLOCK_TOOLS

SIDE = 512
LAMBDAS = (16.0, 48.0, 144.0, 432.0)
ALWAYS = ("fragment_size", "templates", "step", "dictionary", "post_filter")
"""Tools that stay as the preset has them."""
TOOLS = tuple(name for name in BLOCK_TOOLS if name not in ALWAYS)
OFF: Mapping[str, Any] = {name: BLOCK_TOOLS[name].default for name in TOOLS}
ALL: Mapping[str, Any] = {name: BLOCK_TOOLS[name].fullest for name in TOOLS}
SETS: Mapping[str, Mapping[str, Any]] = {
    **{name: {**OFF, name: ALL[name]} for name in TOOLS},
    "all": ALL,
}


def middle(path: Path, *, colour: bool) -> np.ndarray:
    """Return the middle of a picture of 8 bits."""
    samples = pictures.read(path).samples
    if samples.ndim == 3:
        samples = samples[..., :3] if colour else luma_of(samples[..., :3])
    top, left = (max(0, (side - SIDE) // 2) for side in samples.shape[:2])
    return np.ascontiguousarray(samples[top : top + SIDE, left : left + SIDE])


def measured(
    samples: np.ndarray, lambdas: Sequence[float], options: Mapping[str, Any]
) -> tuple[Curve, float]:
    """Return the curve of an encoder with these options, and its processor seconds."""
    height, width = samples.shape[:2]
    rows: list[dict[str, Any]] = []
    start = time.process_time()
    for lam in lambdas:
        params = EncodeParams.from_options(lam, **options)
        found = mmpcodec.encode_picture(samples, params, backend="cpu", threads=1)
        size, quality = len(found.data), psnr(samples, found.samples, white=255)
        rows.append({"bytes": size, "bpp": 8 * size / (height * width), "psnr": quality})
    seconds = time.process_time() - start
    return Curve("mmp", tuple(sorted(rows, key=lambda row: row["bytes"]))), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--effort", type=int, default=2)
    parser.add_argument("--preset", default="photo")
    parser.add_argument("--colour", action="store_true")
    parser.add_argument("--beside", choices=TOOLS)
    parser.add_argument("-l", "--lambda", dest="lambdas", type=float, action="append")
    args = parser.parse_args()
    lambdas = args.lambdas or LAMBDAS
    options = {"preset": args.preset, "effort": args.effort}
    off, sets = OFF, SETS
    if args.beside:
        off, sets = {args.beside: OFF[args.beside]}, {args.beside: {args.beside: ALL[args.beside]}}
    shown = [middle(path, colour=args.colour) for path in args.pictures]
    print(f"{date.today()}, {machine()}, preset {args.preset}, effort {args.effort}\n")
    print("| picture |" + "".join(f" {name}, rate | time |" for name in sets))
    print("|---|" + "---|---|" * len(sets))
    rates: dict[str, list[float]] = {name: [] for name in sets}
    times: dict[str, list[float]] = {name: [] for name in sets}
    measured(shown[0], lambdas[:1], options)  # imports what is needed
    for path, samples in zip(args.pictures, shown, strict=True):
        anchor, seconds = measured(samples, lambdas, {**options, **off})
        cells = []
        for name, tools in sets.items():
            curve, own = measured(samples, lambdas, {**options, **tools})
            rate = delta(anchor, curve).rate
            assert rate is not None
            rates[name].append(rate)
            times[name].append(own / seconds)
            cells.append(f" {rate:+.2f} % | {own / seconds:.2f} |")
        print(f"| {path.stem} |" + "".join(cells), flush=True)
    means = (f" {mean(rates[name]):+.2f} % | {mean(times[name]):.2f} |" for name in sets)
    print("| mean |" + "".join(means))


if __name__ == "__main__":
    main()
