"""Tables of results in Markdown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from mmpcodec.bench.curves import (
    Delta,
    PictureCurves,
    Range,
    anchors_in,
    by_kind,
    codecs_in,
    delta,
    mean_delta,
)
from mmpcodec.bench.metrics import METRICS, Metric
from mmpcodec.bench.results import Row


def markdown(
    pictures: Sequence[PictureCurves],
    anchor: str | None = None,
    metric: str = "psnr",
    limits: Range | None = None,
) -> str:
    """Return all tables: deltas, means, quality at the first curve's rates, failures, settings.

    Each kind of pictures has tables of its own. ``anchors_in`` finds its anchor.
    """
    parts = []
    anchors = anchors_in(pictures, anchor)
    for kind, own in by_kind(pictures).items():
        count = f"{len(own)} picture{'' if len(own) == 1 else 's'}"
        parts += [
            f"{kind}, {count}: anchor {anchors[kind]}, {heading(metric, limits)}, Akima; "
            f"{better_text(metric)} are better than the anchor.",
            *delta_tables(own, anchors[kind], metric, limits),
            means(own),
            *(f"{picture.title}\n\n{at_our_rates(picture, metric)}" for picture in own),
        ]
    parts += [failures(pictures), settings(pictures)]
    return "\n\n".join(filter(None, parts)) + "\n"


def heading(metric: str, limits: Range | None) -> str:
    """Return the title of a metric, with the range that BD-rates count if it is limited."""
    title = METRICS[metric].title
    return title if limits is None else f"{title} from {limits[0]:g} to {limits[1]:g}"


def better_text(metric: str) -> str:
    """Return which signs of BD-rate and BD-quality are better than the anchor."""
    if METRICS[metric].more_is_better:
        return "negative BD-rate and positive BD-quality"
    return "negative BD-rate and negative BD-quality"


def metrics_in(pictures: Sequence[PictureCurves]) -> list[Metric]:
    """Return the metrics that a result has, in the order of the table of metrics."""
    rows = [row for picture in pictures for curve in picture.curves for row in curve.good]
    return [each for key, each in METRICS.items() if any(key in row for row in rows)]


def means(pictures: Sequence[PictureCurves]) -> str:
    """Return a table of the means of each codec at each operating point.

    The means are over the pictures with a result. A lossless result has no PSNR, a small picture no
    SSIM; a mean that leaves some out says over how many pictures it is.
    """
    rows, metrics = [], metrics_in(pictures)
    for codec in codecs_in(pictures):
        found: dict[float, list[Row]] = {}
        for picture in pictures:
            curve = picture.curve(codec)
            for row in curve.good if curve else ():
                found.setdefault(row["point"], []).append(row)
        for point, own in sorted(found.items()):
            qualities = [_mean([row.get(each.key) for row in own], each) for each in metrics]
            bytes_mean = f"{fmean(row['bytes'] for row in own):.0f}"
            bpp = f"{fmean(row['bpp'] for row in own):.4f}"
            rows.append([codec, f"{point:g}", str(len(own)), bytes_mean, bpp, *qualities])
    head = ["codec", "point", "pictures", "mean bytes", "mean bpp"]
    return table([*head, *(f"mean {each.axis}" for each in metrics)], rows) if rows else ""


def _mean(values: Sequence[float | None], metric: Metric) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return ""
    fewer = f" ({len(known)} of {len(values)})" if len(known) < len(values) else ""
    return f"{fmean(known):.{metric.digits}f}{fewer}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(line)} |" for line in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def delta_tables(
    pictures: Sequence[PictureCurves], anchor: str, metric: str, limits: Range | None = None
) -> Iterator[str]:
    """Yield the tables of BD-rate and of BD-quality: a column for each codec, means in the end."""
    found = deltas(pictures, anchor, metric, limits)
    places = common(found)
    chosen = METRICS[metric]
    unit = chosen.unit if chosen.delta_scale == 1 else f"x {chosen.delta_scale}"
    for title, text in (
        ("BD-rate %", rate_text),
        (f"BD-{chosen.title} {unit}".rstrip(), lambda d: quality_text(d, metric)),
    ):
        rows = [
            [picture.name, *(text(each[place]) for each in found.values())]
            for place, picture in enumerate(pictures)
        ]
        means = [mean_delta([each[place] for place in places]) for each in found.values()]
        rows.append([mean_title(places, pictures), *map(text, means)])
        yield table([title, *found], rows)


def deltas(
    pictures: Sequence[PictureCurves], anchor: str, metric: str, limits: Range | None = None
) -> dict[str, list[Delta]]:
    """Return the deltas of each codec except the anchor, one for each picture."""
    return {
        codec: [_of_picture(picture, anchor, codec, metric, limits) for picture in pictures]
        for codec in codecs_in(pictures)
        if codec != anchor
    }


def common(found: Mapping[str, Sequence[Delta]]) -> list[int]:
    """Return the indices of the pictures over which means are taken, equal for all codecs.

    These are the pictures on which each codec has a BD-rate; codecs without any BD-rate are
    ignored. If there is no such picture, means are taken over all pictures.
    """
    count = max((len(each) for each in found.values()), default=0)
    compared = [each for each in found.values() if any(d.rate is not None for d in each)]
    shared = [place for place in range(count) if all(e[place].rate is not None for e in compared)]
    return shared or list(range(count))


def mean_title(places: Sequence[int], pictures: Sequence[PictureCurves]) -> str:
    """Return the heading of the row of means, with the number of its pictures."""
    return "mean" if len(places) == len(pictures) else f"mean of {len(places)} that all have"


def _of_picture(
    picture: PictureCurves, anchor: str, codec: str, metric: str, limits: Range | None
) -> Delta:
    """Return the deltas of a codec on a picture."""
    curve = picture.curve(codec)
    if curve is None:
        return Delta(problem="not measured")
    return delta(picture.curve(anchor), curve, metric, limits)


def rate_text(found: Delta) -> str:
    """Return the BD-rate in per cent as text, or the reason why there is none."""
    return _text(None if found.rate is None else f"{found.rate:+.1f}", found.problem)


def quality_text(found: Delta, metric: str) -> str:
    """Return the BD-quality as text, SSIM in thousandths, or the reason why there is none."""
    if found.quality is None:
        return _text(None, found.problem)
    value = METRICS[metric].delta_scale * found.quality
    return _text(f"{value:+.{delta_digits(metric)}f}", found.problem)


def delta_digits(metric: str) -> int:
    """Return the decimals of differences of a metric in tables."""
    return 2 if METRICS[metric].delta_scale > 1 else METRICS[metric].digits


def _text(number: str | None, problem: str) -> str:
    if number is None:
        return problem or "none"
    return f"{number} ({problem})" if problem.startswith("without") else number


def at_our_rates(picture: PictureCurves, metric: str) -> str:
    """Return a table of the quality of all codecs at the rates of the first curve.

    The first curve is a curve of mmpcodec if there is one.
    """
    first, *others = picture.curves
    digits = METRICS[metric].digits
    rows = []
    for row in first.good:
        values = [row.get(metric), *(curve.at(row["bpp"], metric) for curve in others)]
        texts = ["" if value is None else f"{value:.{digits}f}" for value in values]
        if row["max_error"] == 0:
            texts[0] = "lossless"
        rows.append([f"{row['point']:g}", str(row["bytes"]), f"{row['bpp']:.4f}", *texts])
    names = [curve.codec for curve in picture.curves]
    return table([first.rows[0]["knob"], "bytes", "bpp", *names], rows)


def failures(pictures: Sequence[PictureCurves]) -> str:
    """Return a table of the failed operating points, or an empty string."""
    rows = [
        [picture.name, curve.codec, f"{row['point']:g}", row["error"].replace("|", "\\|")]
        for picture in pictures
        for curve in picture.curves
        for row in curve.rows
        if "error" in row
    ]
    return table(["picture", "codec", "point", "bug"], rows) if rows else ""


def settings(pictures: Sequence[PictureCurves]) -> str:
    """Return a table of the settings, versions, backends and machines of each codec."""
    found: dict[str, dict[str, None]] = {}
    for picture in pictures:
        for curve in picture.curves:
            for row in curve.rows:
                versions = ", ".join(f"{name} {v}" for name, v in row["versions"].items())
                cells = (row["settings"], versions, row["backend"], row["machine"])
                line = "| " + " | ".join(cell.replace("|", "\\|") for cell in cells)
                found.setdefault(curve.codec, {})[line] = None
    head = ["codec", "settings", "versions", "backend", "machine"]
    lines = [f"| {codec} {line} |" for codec, ways in found.items() for line in ways]
    return "\n".join([table(head, []), *lines])
