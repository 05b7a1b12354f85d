"""Bytes and PSNR that the post filter gains, and the time that it takes.

    python scripts/bench/codec/postfilter.py PICTURE... [--lambdas 16 48 144 432]

The script prints Markdown tables: bytes and PSNR of whole files of preset plain without and with
the filter, and the median time of the filter in ms on one thread, after a warm-up.
"""

import argparse
import math
from functools import partial
from pathlib import Path

import numpy as np

import mmpcodec
from mmpcodec import EncodeParams, pictures
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.bench.metrics.psnr import psnr
from mmpcodec.bench.timing import median_seconds


def point(picture: np.ndarray, lam: float, post_filter: bool) -> tuple[int, float, int]:
    """Return the size of a file in bytes, its PSNR in dB and the number of filtered classes."""
    data = mmpcodec.encode(picture, lam, preset="plain", backend="cpu", post_filter=post_filter)
    found = mmpcodec.inspect(data, decode=True, backend="cpu")
    assert found.samples is not None
    quality = psnr(picture, found.samples, white=255) or math.inf
    return len(data), quality, sum(map(bool, found.layers[0].coefficients))


def times(picture: np.ndarray, lam: float) -> tuple[float, float]:
    """Return the times that the filter takes to fit and to apply, in seconds."""
    backend, params = CpuBackend(), EncodeParams.from_options(lam, preset="plain")
    samples = backend.encode(PlaneTask(picture, params)).samples
    fit = partial(backend.post_filter.fit_and_apply, picture, samples, params.lambda_fixed)
    apply = partial(backend.post_filter.apply, samples, fit()[0])
    return median_seconds(fit), median_seconds(apply)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--lambdas", nargs="+", type=float, default=[16, 48, 144, 432])
    args = parser.parse_args()
    loaded = {path.name: pictures.read(path).samples for path in args.pictures}
    print("| picture | lambda | bytes | filter | PSNR dB | filtered | gain | classes |")
    print("|---|---|---|---|---|---|---|---|")
    for name, picture in loaded.items():
        for lam in args.lambdas:
            size, plain, _ = point(picture, lam, False)
            filtered_size, filtered, classes = point(picture, lam, True)
            print(
                f"| {name} | {lam:g} | {size} | {filtered_size - size:+} | {plain:.2f} "
                f"| {filtered:.2f} | {filtered - plain:+.2f} | {classes} |"
            )
    print("\n| picture | fit ms | apply ms |\n|---|---|---|")
    for name, picture in loaded.items():
        fit, apply = times(picture, args.lambdas[0])
        print(f"| {name} | {1000 * fit:.1f} | {1000 * apply:.1f} |")


if __name__ == "__main__":
    main()
