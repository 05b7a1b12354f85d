"""Draw rate against encoding time from docs/benchmarks/data into docs/pictures/frontier.png.

    python scripts/bench/frontier.py

Each panel is a class of pictures. A line joins the speeds or efforts of one codec.
"""

import re

from matplotlib.figure import Figure
from pages import ROOT, by, per_megapixel, rate, read

from mmpcodec.bench.plot import COLOURS, save_as


def family_of(codec: str) -> str:
    """Return the name of a codec without its speed or effort."""
    return re.sub(", (speed|effort) [0-9]+$", "", codec)


def main() -> None:
    _, rows = read(ROOT / "docs/benchmarks/data")["frontier"]
    classes = by("class", rows)
    families = dict.fromkeys(family_of(codec) for codec in by("codec", rows))
    colours = dict(zip(families, COLOURS, strict=False))
    figure = Figure((9.0, 7.4), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True).flat
    for panel, (name, group) in zip(panels, classes.items(), strict=True):
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
        panel.set_title(name)
        panel.grid(alpha=0.3)
        panel.set_xlabel("encoding, processor seconds a megapixel")
        panel.set_ylabel("rate at equal PSNR, %")
        panel.axhline(100, color="black", linewidth=0.6)
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9)
    save_as(figure, ROOT / "docs/pictures/frontier.png")


if __name__ == "__main__":
    main()
