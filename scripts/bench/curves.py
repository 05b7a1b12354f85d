"""Draw rates of whole files beside those of AVIF, by default into docs/pictures/curves.png.

    python scripts/bench/curves.py [--data FOLDER] [--out PNG]

FOLDER has the run `curves`, by default docs/benchmarks/data: size and PSNR of each file, and points
of VTM, the reference encoder of VVC. These were measured once, as a part of the rate that format 1
needed at the same PSNR. Each panel is a picture, over the PSNRs of format 1; a line joins the
operating points of one codec.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from pages import ROOT, Row, by, read
from scipy.interpolate import Akima1DInterpolator

from mmpcodec.bench.plot import COLOURS, save_as

ANCHOR, BASE, VTM = "AVIF, speed 0", "mmpcodec, format 1", "VTM 24"


def log_rate(rows: Sequence[Row], psnr: np.ndarray) -> np.ndarray:
    """Return the logarithm of a codec's bytes at some PSNRs; NaN outside its points."""
    points = sorted((row["psnr_db"], np.log(row["bytes"])) for row in rows)
    return Akima1DInterpolator(*np.transpose(points), extrapolate=False)(psnr)


def percent(rows: Sequence[Row], others: Sequence[Row], psnr: np.ndarray) -> np.ndarray:
    """Return how many bytes more than the others a codec needs at some PSNRs, in per cent."""
    return 100 * np.expm1(log_rate(rows, psnr) - log_rate(others, psnr))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / "docs/benchmarks/data")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/pictures/curves.png")
    args = parser.parse_args()
    _, rows = read(args.data)["curves"]
    pictures = by("picture", rows)
    codecs = [codec for codec in by("codec", rows) if codec != ANCHOR]
    colours = dict(zip(codecs, COLOURS, strict=False))
    lines = -(-len(pictures) // 2)
    figure = Figure((9.0, 0.8 + 3.4 * lines), layout="constrained")
    panels = figure.subplots(lines, 2, squeeze=False).flatten()
    for empty in panels[len(pictures) :]:
        empty.set_visible(False)
    named = {}
    for panel, (name, group) in zip(panels, pictures.items(), strict=False):
        files = by("codec", group)
        ends = [row["psnr_db"] for row in files[BASE]]
        psnr = np.linspace(min(ends), max(ends), 400)
        for codec in codecs:
            if codec == VTM:
                continue
            width = 2.2 if codec.startswith("mmpcodec") else 1.2
            values = percent(files[codec], files[ANCHOR], psnr)
            (named[codec],) = panel.plot(psnr, values, color=colours[codec], linewidth=width)
        for row in files.get(VTM, ()):
            of_base = 100 + percent(files[BASE], files[ANCHOR], np.array([row["psnr_db"]]))
            of_vtm = of_base * (1 + row["bd_format_1_percent"] / 100) - 100
            (named[VTM],) = panel.plot(row["psnr_db"], of_vtm, "D", color=colours[VTM])
        panel.axhline(0, color="black", linewidth=0.6)
        panel.set_title(name)
        panel.grid(alpha=0.3)
        panel.set_xlabel("PSNR, dB")
        panel.set_ylabel(f"rate beside {ANCHOR}, %")
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=5, fontsize=9)
    save_as(figure, args.out)


if __name__ == "__main__":
    main()
