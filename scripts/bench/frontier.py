"""Draw rate against encoding time of the frontier, by default into docs/pictures/frontier.png.

    python scripts/bench/frontier.py [--data FOLDER] [--out PNG]

FOLDER has the rows of `summary.py --frontier`, by default docs/benchmarks/data. Each panel is a
class of pictures. A line joins the speeds, efforts, methods or presets of one codec.
"""

import argparse
import re
from pathlib import Path

from matplotlib.figure import Figure
from pages import ROOT, by, by_class, per_megapixel, rate, read

from mmpcodec.bench.plot import COLOURS, save_as


def family_of(codec: str) -> str:
    """Return the name of a codec without its speed, effort, method or preset.

    Examples
    --------
    >>> [family_of(codec) for codec in ("mmpcodec, photo, effort 6", "x265, preset medium")]
    ['mmpcodec, photo', 'x265']
    """
    return re.sub(", (speed|effort|method|preset) [0-9a-z]+$", "", codec)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / "docs/benchmarks/data")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/pictures/frontier.png")
    args = parser.parse_args()
    _, rows = read(args.data)["frontier"]
    classes = by_class(rows)
    families = dict.fromkeys(family_of(codec) for codec in by("codec", rows))
    colours = dict(zip(families, COLOURS, strict=False))
    lines_of_panels = -(-len(classes) // 2)
    figure = Figure((9.0, 0.8 + 3.5 * lines_of_panels), layout="constrained")
    panels = figure.subplots(lines_of_panels, 2, sharex=True, squeeze=False).flatten()
    for empty in panels[len(classes) :]:
        empty.set_visible(False)
    for panel, (name, group) in zip(panels, classes.items(), strict=False):
        lines: dict[str, list[tuple[float, float]]] = {}
        for codec, own in by("codec", group).items():
            found = rate(codec, group)
            if found is not None:
                point = per_megapixel("encode_cpu_s", own), found
                lines.setdefault(family_of(codec), []).append(point)
        for family, points in lines.items():
            ours = family.startswith("mmpcodec")
            panel.plot(
                *zip(*points, strict=True),
                marker="o" if ours else "s",
                linewidth=2.4 if ours else 1.2,
                color=colours[family],
                label=family,
            )
        panel.set_xscale("log")
        panel.tick_params(labelbottom=True)
        panel.set_title(name)
        panel.grid(alpha=0.3)
        panel.set_xlabel("encoding, processor seconds a megapixel")
        panel.set_ylabel("rate at equal PSNR, %")
        panel.axhline(100, color="black", linewidth=0.6)
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=9)
    save_as(figure, args.out)


if __name__ == "__main__":
    main()
