"""Compare rate and PSNR of the presets with known figures, for whole files.

    python scripts/check/compression.py FOLDER

FOLDER contains lena_512.pgm, cc0_camera_512.png and pp1205_512.pgm, which the project may not
ship. The script prints a Markdown table and exits with 1 if a file is worse than its figure.
"""

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

import mmpcodec
from mmpcodec.bench.metrics.psnr import psnr


@dataclass(frozen=True)
class Target:
    """PSNR in dB that a file must reach at a rate; ``slope`` corrects it for another rate."""

    picture: str
    preset: str
    lam: float
    bpp: float
    psnr: float
    slope: float  # gain in dB for twice the rate


TARGETS = (
    Target("lena_512.pgm", "classic", 32, 0.5185, 35.49, 3.2),
    Target("cc0_camera_512.png", "classic", 32, 0.7586, 35.90, 4.0),
    Target("cc0_camera_512.png", "classic", 128, 0.2977, 31.11, 3.5),
    Target("pp1205_512.pgm", "plain", 144, 0.60, 32.1, 7.5),
)
RATE_SLACK = 1.01
LENA_GAIN_DB = 0.15


def measure(picture: np.ndarray, preset: str, lam: float) -> tuple[float, float]:
    """Return bits per pixel of the whole file, and PSNR of the decoded picture in dB."""
    data = mmpcodec.encode(picture, lam, preset=preset)
    decoded = mmpcodec.decode(data)
    return 8 * len(data) / picture.size, psnr(picture, decoded, white=255) or math.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    failed = False
    print("| picture | preset | lambda | bpp | PSNR dB | target | dB above target at its rate |")
    print("|---|---|---|---|---|---|---|")
    for t in TARGETS:
        picture = np.asarray(Image.open(folder / t.picture))
        bpp, quality = measure(picture, t.preset, t.lam)
        gain = quality - t.psnr - t.slope * math.log2(bpp / t.bpp)
        slack = t.slope * math.log2(RATE_SLACK)
        failed |= gain < -slack
        print(
            f"| {t.picture} | {t.preset} | {t.lam:g} | {bpp:.4f} | {quality:.2f} "
            f"| {t.bpp} / {t.psnr} | {gain:+.2f} |"
        )
    lena = np.asarray(Image.open(folder / "lena_512.pgm"))
    (old_bpp, old_psnr), (bpp, new_psnr) = (measure(lena, p, 32) for p in ("classic", "plain"))
    gain = new_psnr - old_psnr - TARGETS[0].slope * math.log2(bpp / old_bpp)
    print(f"\nlena_512.pgm, lambda 32: plain is {gain:+.2f} dB over classic at equal rate")
    failed |= gain < LENA_GAIN_DB
    sys.exit(failed)


if __name__ == "__main__":
    main()
