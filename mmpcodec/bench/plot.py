"""Drawings of rate-distortion curves, as PNG and SVG."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mmpcodec.bench.curves import Curve
from mmpcodec.bench.metrics import METRICS
from mmpcodec.errors import MissingExtra, install
from mmpcodec.runtime.files import written_whole

COLOURS = (
    "#d43d00",
    "#2266dd",
    "#007755",
    "#bb6688",
    "#0099cc",
    "#441166",
    "#888855",
    "#333333",
    "#884433",
    "#443300",
)
"""Colours of the codecs on white, in order.

Each has a contrast of at least 3:1. Any two differ by at least 10 in CIEDE2000, also as protanopes,
deuteranopes and tritanopes see them.
"""

DARK_COLOURS = (
    "#ff5c33",
    "#556699",
    "#77bb99",
    "#cc88bb",
    "#77eeff",
    "#aa66ff",
    "#ddeeaa",
    "#777777",
    "#995544",
    "#ffcc00",
)
"""Colours of the codecs on the dark page, in order, with the same contrast and difference."""

MARKERS = "osD^vP*X<>"
"""Shapes of the points, as matplotlib names them."""

_OUR_LINES = ("-", "--", ":", "-.")  # curves of our codec may coincide
_INCHES = (8.0, 5.5)
_DPI = 110


def style_of(number: int) -> tuple[int, str]:
    """Return the place of a codec's colour in ``COLOURS``, and its marker.

    Up to 100 codecs have different pairs of colour and marker.
    """
    turns, colour = divmod(number, len(COLOURS))
    return colour, MARKERS[(colour + turns) % len(MARKERS)]


def numbers_of(drawings: Iterable[Iterable[str]]) -> dict[str, int]:
    """Number codecs for ``style_of``, so that those of one drawing differ in colour.

    A drawing of more codecs than ``COLOURS`` repeats the colours of its last codecs.

    Parameters
    ----------
    drawings : iterable of iterables of str
        The codec strings of each drawing.

    Returns
    -------
    dict
        The number of each codec string, the same in all drawings.

    Examples
    --------
    >>> from mmpcodec.bench.plot import numbers_of
    >>> numbers_of([["mmp", "jpeg"], ["mmp", "jpeg:chroma=444", "jpeg:chroma=420"]])
    {'mmp': 0, 'jpeg': 1, 'jpeg:chroma=444': 2, 'jpeg:chroma=420': 3}
    """
    together: dict[str, set[str]] = {}
    for drawing in drawings:
        codecs = list(drawing)
        for codec in codecs:
            together.setdefault(codec, set()).update(codecs)
    found: dict[str, int] = {}
    for codec, others in together.items():
        near = [found[other] % len(COLOURS) for other in others if other in found]
        all_uses = [number % len(COLOURS) for number in found.values()]
        least = min(near.count(colour) for colour in range(len(COLOURS)))
        free = [colour for colour in range(len(COLOURS)) if near.count(colour) == least]
        if least:
            free.reverse()  # the first colours are those of mmpcodec
        colour = min(free, key=all_uses.count)
        found[codec] = colour + len(COLOURS) * all_uses.count(colour)
    return found


def draw_curves(
    title: str, curves: Sequence[Curve], numbers: Mapping[str, int], metric: str = "psnr"
) -> Any:
    """Draw quality against rate of one picture.

    Parameters
    ----------
    title : str
    curves : sequence of Curve
    numbers : mapping
        From ``numbers_of``, for the codecs of all drawings of a report.
    metric : str
        Key of a metric; where less is better, its axis points down.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtra
        When matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
    except ImportError as error:
        raise MissingExtra(f"curves: need matplotlib; {install('bench')}") from error
    figure = Figure(_INCHES, dpi=_DPI, layout="constrained")
    axes = figure.add_subplot()
    lowest, highest = [], []
    for curve in curves:
        points = [(row["bpp"], row[metric]) for row in curve.good if row.get(metric) is not None]
        if not points:
            continue
        number = numbers[curve.codec]
        colour, marker = style_of(number)
        axes.plot(
            *zip(*points, strict=True),
            color=COLOURS[colour],
            marker=marker,
            markersize=5 if curve.ours else 4,
            linewidth=2.4 if curve.ours else 1.2,
            linestyle=_OUR_LINES[number % len(_OUR_LINES)] if curve.ours else "-",
            label=curve.codec,
            zorder=3 if curve.ours else 2,
        )
        lowest.append(points[0][0])
        highest.append(points[-1][0])
    axes.set_xscale("log", base=2)
    if lowest:
        axes.set_xlim(min(lowest) / 1.1, max(highest) * 1.1)
    axes.xaxis.set_major_locator(FixedLocator([2.0**k for k in range(-8, 6)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
    axes.set_xlabel("bits per pixel, whole file")
    axes.set_ylabel(METRICS[metric].axis)
    if not METRICS[metric].more_is_better:
        axes.invert_yaxis()
    axes.set_title(title)
    axes.grid(alpha=0.3)
    if lowest:
        axes.legend(fontsize=9, loc="lower right")
    return figure


def save_as(figure: Any, path: Path) -> None:
    """Write a drawing as .png or .svg, by the suffix; equal drawings give equal bytes."""
    import matplotlib

    metadata = {"Date": None} if path.suffix == ".svg" else None
    with (
        matplotlib.rc_context({"svg.hashsalt": "mmpcodec", "svg.fonttype": "none"}),
        written_whole(path) as stream,
    ):
        figure.savefig(stream, format=path.suffix[1:], metadata=metadata)


def save(figure: Any, stem: Path) -> None:
    """Write a drawing as ``stem``.png and ``stem``.svg."""
    for suffix in (".png", ".svg"):
        save_as(figure, stem.with_name(stem.name + suffix))
