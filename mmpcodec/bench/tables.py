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
    """All tables: deltas, each picture at our rates, settings and machines."""
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
    """A Markdown table."""
    lines = [f"| {' | '.join(line)} |" for line in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def delta_tables(pictures: Sequence[PictureCurves], anchor: str, metric: str) -> Iterator[str]:
    """BD-rate and BD-quality of each codec on each picture, and their means."""
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
    """For each codec but the anchor its deltas, one a picture."""
    return {
        codec: [_of_picture(picture, anchor, codec, metric) for picture in pictures]
        for codec in codecs_in(pictures)
        if codec != anchor
    }


def common(found: Mapping[str, Sequence[Delta]]) -> list[int]:
    """Places of the pictures to take means over, so that they can be compared.

    These are the pictures on which every codec has a number, codecs without any left aside; all
    pictures where there is no such picture.
    """
    count = max((len(each) for each in found.values()), default=0)
    compared = [each for each in found.values() if any(d.rate is not None for d in each)]
    shared = [place for place in range(count) if all(e[place].rate is not None for e in compared)]
    return shared or list(range(count))


def mean_title(places: Sequence[int], pictures: Sequence[PictureCurves]) -> str:
    """What a mean is over."""
    return "mean" if len(places) == len(pictures) else f"mean of {len(places)} that all have"


def _of_picture(picture: PictureCurves, anchor: str, codec: str, metric: str) -> Delta:
    """Deltas of a codec on a picture."""
    curve = picture.curve(codec)
    if curve is None:
        return Delta(problem="not measured")
    return delta(picture.curve(anchor), curve, metric)


def rate_text(found: Delta) -> str:
    """BD-rate, or why there is none."""
    return _text(None if found.rate is None else f"{found.rate:+.1f}", found.problem)


def quality_text(found: Delta, metric: str) -> str:
    """BD-quality, or why there is none."""
    if found.quality is None:
        return _text(None, found.problem)
    value = found.quality if metric == "psnr" else 1000 * found.quality
    return _text(f"{value:+.2f}", found.problem)


def _text(number: str | None, problem: str) -> str:
    if number is None:
        return problem or "none"
    return f"{number} ({problem})" if problem.startswith("without") else number


def at_our_rates(picture: PictureCurves, metric: str) -> str:
    """Quality of all codecs at the rates of the first curve, which is ours where there is one."""
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
    """What failed, or an empty string."""
    rows = [
        [picture.name, curve.codec, f"{row['point']:g}", row["error"].replace("|", "\\|")]
        for picture in pictures
        for curve in picture.curves
        for row in curve.rows
        if "error" in row
    ]
    return table(["picture", "codec", "point", "bug"], rows) if rows else ""


def settings(pictures: Sequence[PictureCurves]) -> str:
    """Settings, versions and machines of each codec."""
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
