"""Tables of results in Markdown."""

from collections.abc import Iterable, Iterator, Sequence

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
            f"{picture.name}, {picture.width}x{picture.height}\n\n{table}"
            for picture in pictures
            for table in at_our_rates(picture, metric)
        ),
        failures(pictures),
        settings(pictures),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def delta_tables(pictures: Sequence[PictureCurves], anchor: str, metric: str) -> Iterator[str]:
    """BD-rate and BD-quality of each codec on each picture, and their means."""
    codecs = [codec for codec in codecs_in(pictures) if codec != anchor]
    found = {codec: [of_picture(p, anchor, codec, metric) for p in pictures] for codec in codecs}
    unit = "dB" if metric == "psnr" else "x 1000"
    for title, text in (
        ("BD-rate %", rate_text),
        (f"BD-{METRICS[metric].partition(',')[0]} {unit}", lambda d: quality_text(d, metric)),
    ):
        yield table(
            [title, *codecs],
            [
                [picture.name, *(text(found[codec][place]) for codec in codecs)]
                for place, picture in enumerate(pictures)
            ]
            + [["mean", *(text(mean_delta(found[codec])) for codec in codecs)]],
        )


def of_picture(picture: PictureCurves, anchor: str, codec: str, metric: str) -> Delta:
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


def at_our_rates(picture: PictureCurves, metric: str) -> Iterator[str]:
    """Quality of all codecs at the rates of each of our curves, or those of the first curve."""
    leading = [curve for curve in picture.curves if curve.ours] or list(picture.curves[:1])
    digits = 2 if metric == "psnr" else 4
    for ours in leading:
        others = [curve for curve in picture.curves if curve not in leading]
        rows = []
        for row in ours.good:
            values = [row[metric], *(curve.at(row["bpp"], metric) for curve in others)]
            texts = ["" if value is None else f"{value:.{digits}f}" for value in values]
            times = [f"{row[f'{step}_seconds']:.3f}" for step in ("encode", "decode")]
            rows.append([f"{row['point']:g}", str(row["bytes"]), f"{row['bpp']:.4f}", *texts])
            rows[-1] += times
        head = [ours.rows[0]["knob"], "bytes", "bpp", ours.codec]
        yield table([*head, *(curve.codec for curve in others), "encode s", "decode s"], rows)


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
