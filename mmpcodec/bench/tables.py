"""Tables of results in Markdown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mmpcodec.bench.curves import (
    METRICS,
    Delta,
    PictureCurves,
    codecs_in,
    delta,
    mean_delta,
)


def markdown(pictures: Sequence[PictureCurves], anchor: str, metric: str = "psnr") -> str:
    """Return all tables: deltas, quality at the rates of the first curve, failures, settings."""
    parts = [
        f"Anchor {anchor}, {METRICS[metric].partition(',')[0]}, Akima; negative BD-rate and "
        "positive BD-quality are better than the anchor.",
        *delta_tables(pictures, anchor, metric),
        *(
            f"{picture.name}, {picture.width}x{picture.height}\n\n{at_our_rates(picture, metric)}"
            for picture in pictures
        ),
        failures(pictures),
        settings(pictures),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(line)} |" for line in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def delta_tables(pictures: Sequence[PictureCurves], anchor: str, metric: str) -> Iterator[str]:
    """Yield the tables of BD-rate and of BD-quality: a column for each codec, means in the end."""
    found = deltas(pictures, anchor, metric)
    places = common(found)
    unit = "dB" if metric == "psnr" else "x 1000"
    for title, text in (
        ("BD-rate %", rate_text),
        (f"BD-{METRICS[metric].partition(',')[0]} {unit}", lambda d: quality_text(d, metric)),
    ):
        rows = [
            [picture.name, *(text(each[place]) for each in found.values())]
            for place, picture in enumerate(pictures)
        ]
        means = [mean_delta([each[place] for place in places]) for each in found.values()]
        rows.append([mean_title(places, pictures), *map(text, means)])
        yield table([title, *found], rows)


def deltas(pictures: Sequence[PictureCurves], anchor: str, metric: str) -> dict[str, list[Delta]]:
    """Return the deltas of each codec except the anchor, one for each picture."""
    return {
        codec: [_of_picture(picture, anchor, codec, metric) for picture in pictures]
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


def _of_picture(picture: PictureCurves, anchor: str, codec: str, metric: str) -> Delta:
    """Return the deltas of a codec on a picture."""
    curve = picture.curve(codec)
    if curve is None:
        return Delta(problem="not measured")
    return delta(picture.curve(anchor), curve, metric)


def rate_text(found: Delta) -> str:
    """Return the BD-rate in per cent as text, or the reason why there is none."""
    return _text(None if found.rate is None else f"{found.rate:+.1f}", found.problem)


def quality_text(found: Delta, metric: str) -> str:
    """Return the BD-quality as text, in dB or thousandths, or the reason why there is none."""
    if found.quality is None:
        return _text(None, found.problem)
    value = found.quality if metric == "psnr" else 1000 * found.quality
    return _text(f"{value:+.2f}", found.problem)


def _text(number: str | None, problem: str) -> str:
    if number is None:
        return problem or "none"
    return f"{number} ({problem})" if problem.startswith("without") else number


def at_our_rates(picture: PictureCurves, metric: str) -> str:
    """Return a table of the quality of all codecs at the rates of the first curve.

    The first curve is a curve of mmpcodec if there is one.
    """
    first, *others = picture.curves
    digits = 2 if metric == "psnr" else 4
    rows = []
    for row in first.good:
        values = [row[metric], *(curve.at(row["bpp"], metric) for curve in others)]
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
