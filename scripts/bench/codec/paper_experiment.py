"""The dissertation's experiment: rate model log2 against adaptive, processor against device.

    python scripts/bench/codec/paper_experiment.py PICTURE --out DIR [--repeat N]

PICTURE is 512x512 and gray; the dissertation took Lena. The script measures lambda 10, 16, 24, 32,
64 and 128 into DIR as `mmp sweep` does, so a stopped run continues. It draws the curves of figure
6.24 of the dissertation into DIR/paper.png and .svg, and prints Markdown tables with the times of
the dissertation beside the measured times. Without a CUDA device, the rows of the device are
missing, and the script prints the reason.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mmpcodec import backends, pictures
from mmpcodec.bench import plot
from mmpcodec.bench.codecs.base import Codec
from mmpcodec.bench.codecs.ours import ours
from mmpcodec.bench.curves import Curve, delta, grouped
from mmpcodec.bench.results import Results, Row
from mmpcodec.bench.sweep import Original, sweep, warm_up
from mmpcodec.bench.tables import table
from mmpcodec.fingerprints import sha256_of

LAMBDAS = (10.0, 16.0, 24.0, 32.0, 64.0, 128.0)
RATE_MODELS = ("adaptive", "log2")
REPEAT = 10  # the dissertation's tables are means of ten runs

ONE_THREAD = "cpu, 1 thread"
WAYS = {
    ONE_THREAD: {"backend": "cpu", "threads": "1"},
    "cpu": {"backend": "cpu"},
    "cuda": {"backend": "cuda"},
}
"""Ways to run the codec, and their options."""

PAPER_SECONDS = {
    "i7 860, 1 thread": (751.61, 486.38, 329.97),
    "i7 860, 8 threads": (279.57, 177.42, 117.88),
    "i7 860 and GTX 580": (118.46, 80.35, 58.82),
    "i7 2600, 1 thread": (619.46, 383.45, 255.50),
    "i7 2600, 8 threads": (266.91, 160.02, 103.75),
    "i7 2600 and GTX 480": (118.49, 81.90, 61.77),
}
"""Times of the dissertation for Lena 512x512 on 64 bits, in s, at lambda 16, 32 and 64."""

Curves = dict[tuple[str, str], Curve]
"""Curves by way to run and rate model."""


def codec_of(way: str, rate_model: str) -> Codec:
    """Return mmpcodec with the tools of the dissertation: preset classic and a rate model."""
    options = {"preset": "classic", "rate_model": rate_model, **WAYS[way]}
    return ours(options, LAMBDAS)


def measure(picture: Original, results: Results, ways: Sequence[str], repeat: int) -> Curves:
    """Return the curves of the experiment; measure the points that the results lack."""
    codecs = {(way, model): codec_of(way, model) for way in ways for model in RATE_MODELS}
    for codec in codecs.values():
        warm_up(codec)
        for row in sweep(picture, [codec], results, repeat=repeat):
            done = row.get("error") or f"{row['encode_seconds']:.3f} s"
            print(f"{codec.name}, lambda {row['point']:g}: {done}", file=sys.stderr)
    sha256 = sha256_of(picture.samples)
    (found,) = (each for each in grouped(results.rows()) if each.sha256 == sha256)
    curves = {key: found.curve(codec.name) for key, codec in codecs.items()}
    if any(curve is None or len(curve.good) < len(LAMBDAS) for curve in curves.values()):
        sys.exit("some results failed or are being measured by another process")
    return {
        key: Curve(
            f"mmp: {key[1]}, {key[0]}", tuple(r for r in curve.good if r["point"] in LAMBDAS)
        )
        for key, curve in curves.items()
        if curve is not None
    }


def rate_table(curves: Curves) -> str:
    """Return a table of rate and PSNR of both rate models."""
    points = [{row["point"]: row for row in curves["cpu", model].rows} for model in RATE_MODELS]
    rows = [
        [f"{lam:g}", *(cell(p[lam]) for p in points for cell in (bpp_text, psnr_text))]
        for lam in LAMBDAS
    ]
    head = [f"{model}: {what}" for model in RATE_MODELS for what in ("bpp", "PSNR dB")]
    return table(["lambda", *head], rows)


def bpp_text(row: Row) -> str:
    return f"{row['bpp']:.4f}"


def psnr_text(row: Row) -> str:
    return f"{row['psnr']:.2f}"


def time_table(curves: Curves) -> str:
    """Return a table of the dissertation's times and the measured times, in seconds."""
    lambdas = (16, 32, 64)
    rows = [
        [f"dissertation, {name}", *(f"{seconds:.2f}" for seconds in times)]
        for name, times in PAPER_SECONDS.items()
    ]
    for (way, model), curve in curves.items():
        seconds = {row["point"]: row["encode_seconds"] for row in curve.rows}
        rows.append([f"mmp, {way}, {model}", *(f"{seconds[lam]:.3f}" for lam in lambdas)])
    return table(["encoding, s", *(f"lambda {lam}" for lam in lambdas)], rows)


def sources(curves: Curves) -> str:
    """Return dates, machines and numbers of runs of the results, earlier runs included."""
    rows = [row for curve in curves.values() for row in curve.rows]
    facts = {f"{row['time'][:10]}; {row['machine']}; medians of {row['runs']} runs" for row in rows}
    return "; ".join(sorted(facts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--repeat", type=int, default=REPEAT)
    arguments = parser.parse_args()
    picture = Original(arguments.picture.name, pictures.read(arguments.picture).samples)
    no_device = backends.status()["cuda"]
    ways = [way for way in WAYS if way != "cuda" or no_device is None]
    curves = measure(picture, Results(arguments.out, create=True), ways, arguments.repeat)

    height, width = picture.samples.shape
    overlaid = [curve for (way, _), curve in curves.items() if way != ONE_THREAD]
    title = f"{picture.name}, {width}x{height}: rate models and backends"
    numbers = plot.numbers_of([[curve.codec for curve in overlaid]])
    figure = plot.draw_curves(title, overlaid, numbers)
    plot.save(figure, arguments.out / "paper")

    print(f"{picture.name}, {width}x{height}, preset classic; {sources(curves)}.")
    print(f"\n{rate_table(curves)}\n")
    change = delta(curves["cpu", "adaptive"], curves["cpu", "log2"])
    print(f"log2 against adaptive: BD-rate {change.rate:+.2f} %, BD-PSNR {change.quality:+.3f} dB.")
    sizes = {
        model: {tuple(row["bytes"] for row in curves[way, model].rows) for way in ways}
        for model in RATE_MODELS
    }
    same = all(len(found) == 1 for found in sizes.values())
    print(f"All backends write files of {'the same' if same else 'DIFFERENT'} sizes.")
    print(f"\n{time_table(curves)}")
    if no_device is not None:
        print(f"\ncuda did not run: {no_device}")


if __name__ == "__main__":
    main()
