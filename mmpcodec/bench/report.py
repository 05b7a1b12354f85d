"""The report: curves as files, and one HTML page that needs neither server nor network.

Pictures are read and written one after the other, so memory does not grow with their number.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

import mmpcodec
from mmpcodec import pictures as files
from mmpcodec.bench import plot
from mmpcodec.bench.curves import (
    Curve,
    Delta,
    PictureCurves,
    Range,
    anchors_in,
    by_kind,
    codecs_in,
    mean_delta,
)
from mmpcodec.bench.map_images import fits, ramp
from mmpcodec.bench.metrics import METRICS, MetricMap
from mmpcodec.bench.page_images import has_mmp, images_of, notes
from mmpcodec.bench.results import Results, Row, key_of
from mmpcodec.bench.tables import better_text, common, deltas, heading, mean_title, metrics_in
from mmpcodec.depth import BYTE
from mmpcodec.errors import MissingExtra, install
from mmpcodec.limits import UNLIMITED
from mmpcodec.runtime.files import written_whole
from mmpcodec.web.pages import SHARED_SCRIPTS, policy
from mmpcodec.web.parts import shared

PAGE = "report.html"
SCRIPTS = (
    *("drawing.js", "legend.js", "chart.js"),
    *("decoding.js", "images.js", "maps.js", "viewer.js"),
    *("tables.js", "address.js", "main.js"),
)
FOLDER = resources.files(mmpcodec).joinpath("bench", "page")
VIEWS = 2
_STEM_BYTES = 200

_POINT = (
    "point",
    "bytes",
    "bpp",
    "max_error",
    "alpha_error",
    "encode_seconds",
    "decode_seconds",
    "encode_megapixels_per_second",
    "decode_megapixels_per_second",
    "backend",
    "error",
)


def file_stems(pictures: Sequence[PictureCurves]) -> dict[str, str]:
    """Return the stem of each picture's curve files, by SHA-256; equal names get a number.

    Long names are cut, so that the system takes them with the number and the suffix.
    """
    stems: dict[str, str] = {}
    for picture in pictures:
        plain = "curves-" + "".join(c if c.isalnum() or c in "-_" else "-" for c in picture.name)
        plain = plain.encode()[:_STEM_BYTES].decode(errors="ignore")
        stem, number = plain, 2
        while stem in stems.values():
            stem, number = f"{plain}-{number}", number + 1
        stems[picture.sha256] = stem
    return stems


def file_names(pictures: Sequence[PictureCurves]) -> list[str]:
    """Return the names of all files of a report: the page, and the curves of each picture."""
    stems = file_stems(pictures).values()
    return [PAGE, *(f"{stem}.{kind}" for stem in stems for kind in ("png", "svg"))]


def _numbers(pictures: Sequence[PictureCurves]) -> dict[str, int]:
    """Return the number of each codec, which decides its colour and marker."""
    drawn = [[curve.codec for curve in picture.curves if curve.good] for picture in pictures]
    failed = [[codec] for codec in codecs_in(pictures)]  # in the legend only
    return plot.numbers_of([*drawn, *failed])


def write_curves(
    pictures: Sequence[PictureCurves], folder: Path, metric: str = "psnr"
) -> Iterator[str]:
    """Draw the curves of each picture as PNG and SVG, and yield the stem of the two files."""
    numbers = _numbers(pictures)
    for picture in pictures:
        stem = file_stems(pictures)[picture.sha256]
        plot.save(plot.draw_curves(picture.title, picture.curves, numbers, metric), folder / stem)
        yield stem


def write_page(
    pictures: Sequence[PictureCurves],
    results: Results,
    target: Path,
    anchor: str | None = None,
    metric: str = "psnr",
    *,
    views: int = VIEWS,
    limits: Range | None = None,
    maps: Sequence[MetricMap] = (),
    decoder: str | None = None,
) -> None:
    """Write the HTML page.

    Parameters
    ----------
    pictures : sequence of PictureCurves
    results : Results
        Results with the decoded pictures.
    target : Path
    anchor : str or None
        Codec string that the other codecs are compared with; see ``anchors_in``.
    metric : str
        Key of the metric that the page shows at first.
    views : int
        Number of rates at which the page shows decoded pictures; 0 leaves pictures out.
    limits : tuple of two float or None
        Least and largest value of ``metric`` that its BD-rates count.
    maps : sequence of MetricMap
        Maps that the page can show over the decoded pictures.
    decoder : str or None
        Script that decodes mmp files, as ``mmpcodec.web.parts.decoder_script`` returns it. None
        shows what they decode to. Pages without mmp files leave it out.

    Raises
    ------
    MissingExtra
        When jinja2 or bjontegaard is missing, or what a map needs.
    """
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise MissingExtra(f"report: needs jinja2; {install('bench')}") from error
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    template = environment.from_string(FOLDER.joinpath("report.html").read_text())
    anchors, numbers = anchors_in(pictures, anchor), _numbers(pictures)
    there = {metric, *(each.key for each in metrics_in(pictures))}
    keys = [key for key in METRICS if key in there]
    shown = [(each, shown_rows(each, results, views)) for each in pictures]
    rows = [row for _, own in shown for row in own]
    decodes = decoder is not None and has_mmp(rows, results)
    theme = f'"use strict";\n{shared("theme.js")}'
    style, script = _style(), _script(decoder if decodes else None)
    chunks = template.generate(
        version=mmpcodec.__version__,
        anchor=anchors_text(anchors),
        policy=policy([theme, script], style, asks=False),
        style=style,
        theme=theme,
        script=script,
        notes=notes(rows, results, decodes=decodes),
        settings=_settings(pictures),
        pictures=pictures,
        data={
            "metric": metric,
            "metrics": {key: _on_page(key, limits if key == metric else None) for key in keys},
            "codecs": [
                dict(
                    zip(
                        ("codec", "colour", "marker"),
                        (codec, *plot.style_of(numbers[codec])),
                        strict=True,
                    )
                )
                for codec in codecs_in(pictures)
            ],
            "maps": {
                each.metric.key: {
                    "title": each.metric.title,
                    "meaning": each.meaning,
                    "side": each.side,
                }
                for each in maps
            },
            "ramp": ramp() if maps else [],
            "pictures": [_facts(picture, results, views, keys, maps) for picture in pictures],
            "deltas": {
                key: list(_deltas(pictures, anchors, key, limits if key == metric else None))
                for key in keys
            },
        },
        images=_images(shown, results, maps, decodes=decodes),
    )
    with written_whole(target) as stream:
        for chunk in chunks:
            stream.write(chunk.encode())


def _on_page(key: str, limits: Range | None) -> dict[str, Any]:
    """Return what the page needs to know of a metric."""
    metric = METRICS[key]
    return {
        "title": metric.title,
        "axis": metric.axis,
        "unit": metric.unit,
        "digits": metric.digits,
        "falls": not metric.more_is_better,
        "deltas": heading(key, limits),
        "better": better_text(key),
    }


def _settings(pictures: Sequence[PictureCurves]) -> list[dict[str, str]]:
    """Return each combination of codec, settings, backend, machine and versions once."""
    found = {}
    for picture in pictures:
        for curve in picture.curves:
            for row in curve.rows:
                way = {name: row[name] for name in ("codec", "settings", "backend", "machine")}
                way["versions"] = ", ".join(f"{name} {v}" for name, v in row["versions"].items())
                found[tuple(way.values())] = way
    return list(found.values())


def _facts(
    picture: PictureCurves,
    results: Results,
    views: int,
    metrics: Sequence[str],
    maps: Sequence[MetricMap],
) -> dict[str, Any]:
    """Return the data of a picture for the page: its curves, and the keys of its images."""
    names = (*_POINT, *metrics)
    chosen = chosen_views(picture, results, views)
    return {
        "id": picture.sha256[:16],
        "name": picture.name,
        "title": picture.title,
        "width": picture.width,
        "height": picture.height,
        "curves": [
            {
                "codec": curve.codec,
                "ours": curve.ours,
                "knob": curve.rows[0]["knob"],
                "points": [{name: row.get(name) for name in names} for row in curve.rows],
            }
            for curve in picture.curves
        ],
        "views": [
            [
                {
                    "codec": row["codec"],
                    "point": row["point"],
                    "key": key_of(row),
                    "tree": results.tree(key_of(row)).is_file(),
                }
                for row in view
            ]
            for view in chosen
        ],
        "levels": _levels(picture, results) if chosen else None,
        "maps": [each.metric.key for each in _own_maps(picture, maps)],
    }


def _levels(picture: PictureCurves, results: Results) -> tuple[int, int] | None:
    """Return the least and the largest sample of an original of more than 8 bits, without alpha.

    None for other depths, and if both are equal. The page shows them as black and white, so that
    samples that use a few of their levels are not black.
    """
    if picture.curves[0].rows[0].get("depth", BYTE) <= BYTE:
        return None
    original = files.read(results.original(picture.sha256), limits=UNLIMITED).without_alpha()
    low, high = int(original.samples.min()), int(original.samples.max())
    return None if low == high else (low, high)


def _own_maps(picture: PictureCurves, maps: Sequence[MetricMap]) -> list[MetricMap]:
    """Return the maps that a picture is large enough for."""
    return [each for each in maps if fits(each, picture.width, picture.height)]


def anchors_text(anchors: Mapping[str, str]) -> str:
    """Return the anchors in words, with their kinds of pictures if they differ."""
    names = set(anchors.values())
    if len(names) == 1:
        return names.pop()
    return ", ".join(f"{name} ({kind})" for kind, name in anchors.items())


def _deltas(
    pictures: Sequence[PictureCurves],
    anchors: Mapping[str, str],
    metric: str,
    limits: Range | None,
) -> Iterator[dict[str, Any]]:
    """Yield the deltas of each kind of pictures; means name the kind if there are several."""
    for kind, own in by_kind(pictures).items():
        found = deltas(own, anchors[kind], metric, limits)
        yield from _deltas_of(own, found, f", {kind}" if len(anchors) > 1 else "")


def _deltas_of(
    pictures: Sequence[PictureCurves], found: Mapping[str, Sequence[Delta]], kind: str
) -> Iterator[dict[str, Any]]:
    """Yield the deltas of each codec: the mean, then one for each picture."""
    places = common(found)
    for codec, each in found.items():
        bugs = [
            sum("error" in row for row in curve.rows) if (curve := p.curve(codec)) else 0
            for p in pictures
        ]
        mean = mean_delta([each[place] for place in places])
        title = mean_title(places, pictures) + kind
        yield {"picture": title, "mean": True, "codec": codec, "bugs": sum(bugs), **asdict(mean)}
        for picture, one, count in zip(pictures, each, bugs, strict=True):
            yield {"picture": picture.name, "codec": codec, "bugs": count, **asdict(one)}


def chosen_views(picture: PictureCurves, results: Results, views: int) -> list[list[Row]]:
    """Choose results to compare side by side, with nearly equal bytes in each view.

    The points of the first curve are split by rate into ``views`` parts. Each part gives one point:
    the point whose bytes differ least, as a ratio, from the nearest points of the other codecs. The
    codec with the largest ratio decides.

    Returns
    -------
    list of lists of dict
        One list for each view, from the lowest rate, with one row for each codec.
    """

    def shown(curve: Curve) -> list[Row]:
        return [row for row in curve.good if results.decoded(key_of(row)).is_file()]

    curves = [rows for rows in map(shown, picture.curves) if rows]
    if not curves or not views:
        return []
    leading, others = curves[0], curves[1:]

    def nearest(row: Row) -> list[Row]:
        return [min(rows, key=lambda other: _mismatch(row, other)) for rows in others]

    def worst(row: Row) -> float:
        return max((_mismatch(row, other) for other in nearest(row)), default=0.0)

    parts = min(views, len(leading))
    bounds = [round(part * len(leading) / parts) for part in range(parts + 1)]
    best = [min(leading[low:high], key=worst) for low, high in itertools.pairwise(bounds)]
    return [[row, *nearest(row)] for row in best]


def shown_rows(picture: PictureCurves, results: Results, views: int) -> list[Row]:
    """Return the results of all views of a picture, see ``chosen_views``."""
    return list(itertools.chain(*chosen_views(picture, results, views)))


def shows_mmp(pictures: Sequence[PictureCurves], results: Results, views: int) -> bool:
    """Return whether a page with the decoder of mmp files would show some."""
    return any(has_mmp(shown_rows(picture, results, views), results) for picture in pictures)


def _mismatch(a: Row, b: Row) -> float:
    """Return the absolute logarithm of the ratio of two files' bytes."""
    return abs(math.log(a["bytes"] / b["bytes"]))


def _images(
    shown: Sequence[tuple[PictureCurves, Sequence[Row]]],
    results: Results,
    maps: Sequence[MetricMap],
    *,
    decodes: bool,
) -> Iterator[dict[str, Any]]:
    """Yield name and contents of each image of the page, one file at a time."""
    for picture, rows in shown:
        if rows:
            yield from images_of(rows, results, _own_maps(picture, maps), decodes=decodes)


def _style() -> str:
    """Return the style of the page, with the colours of curves on light and dark pages."""
    page = FOLDER.joinpath("report.css").read_text(encoding="utf-8")
    light, dark = (
        " ".join(f"--curve-{number}: {colour};" for number, colour in enumerate(colours))
        for colours in (plot.COLOURS, plot.DARK_COLOURS)
    )
    return (
        f"{shared('base.css')}{page}:root {{ {light} }}\n"
        f'@media screen {{ :root[data-theme="dark"] {{ {dark} }} }}\n'
    )


def _script(decoder: str | None) -> str:
    """Return the script of the page, with the decoder of mmp files if it has one."""
    own = (FOLDER.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    return "\n".join(['"use strict";', decoder or "", *map(shared, SHARED_SCRIPTS), *own])
