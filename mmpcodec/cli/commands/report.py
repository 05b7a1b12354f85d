"""``mmp report``: show the results of a sweep as curves, tables and an HTML page."""

import math
import os
from pathlib import Path
from typing import Annotated

import typer

from mmpcodec.cli import options, output
from mmpcodec.cli.completion import lists, words
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import OUTPUT
from mmpcodec.cli.printing import Printer, counted
from mmpcodec.errors import FileError, ParameterError


def map_names() -> list[str]:
    """Return the names of the metrics that have maps."""
    from mmpcodec.bench.metrics import MAPS

    return list(MAPS)


def report(
    results: Annotated[str, typer.Argument(metavar="DIR", help="Folder that `mmp sweep` filled.")],
    folder: Annotated[
        str | None,
        typer.Option(
            "--output-dir",
            "-O",
            metavar="OUT",
            rich_help_panel=OUTPUT,
            help="Folder to write to, made if it is missing; by default DIR.",
        ),
    ] = None,
    anchor: Annotated[
        str | None,
        typer.Option(
            metavar="CODEC", help="Codec to compare with; by default the first one that is not mmp."
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Quality of curves and Bjontegaard deltas, such as ssimulacra2; one of those of "
            "`mmp sweep --metrics`.",
            autocompletion=words(options.metric_names),
        ),
    ] = "psnr",
    span: Annotated[
        str | None,
        typer.Option(
            "--range",
            metavar="LOW:HIGH",
            help="Count in BD-rates only this range of the metric, as in 40:90.",
        ),
    ] = None,
    views: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Number of rates at which the page shows decoded pictures; 0 shows none.",
        ),
    ] = 2,
    maps: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Maps of errors that the page can show: ssim, ssimulacra2, butteraugli, or all. "
            "A map adds 90 to 170 kB a megapixel for each decoded picture of the page.",
            autocompletion=lists(lambda: [*map_names(), "all"]),
        ),
    ] = None,
    container: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODEC=BYTES",
            help="Subtract BYTES, the size of its container, from each file of CODEC; can be "
            "repeated.",
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables in Markdown; write nothing.")
    ] = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Draw a sweep as curves, tables and an HTML page.

    Writes report.html, which shows the pictures and needs no network, and the curves of each
    picture as PNG and SVG. Needs the extra "bench".
    """
    from mmpcodec.bench import report as pages
    from mmpcodec.bench import tables
    from mmpcodec.bench.curves import anchors_in, grouped, without_container
    from mmpcodec.bench.metrics import check_libraries, maps_of, metric_of
    from mmpcodec.bench.results import Results
    from mmpcodec.web import parts

    chosen, shown = metric_of(metric), maps_of(maps)
    check_libraries([each.metric for each in shown])
    limits = None if span is None else range_of(span)
    found = Results(results)
    try:
        pictures = grouped(without_container(found.rows(), containers_of(container or [])))
    except OSError as error:
        raise FileError.from_os(str(found.path), error) from error
    there = tables.metrics_in(pictures)
    if there and chosen not in there:
        raise ParameterError(
            f"--metric {metric}: no result has it; mmp sweep --metrics {chosen.name} measures it"
        )
    against = pages.anchors_text(anchors_in(pictures, anchor))
    printer = Printer(quiet=quiet)
    _note_unused(printer, folder, views, bool(shown), markdown)
    if markdown:
        print(tables.markdown(pictures, anchor, chosen.key, limits), end="")
        return ExitCode.DONE
    target = folder or results
    for name in pages.file_names(pictures):
        output.check(os.path.join(target, name), force=force, new_folder=True)
    try:
        os.makedirs(target, exist_ok=True)
        for stem in pages.write_curves(pictures, Path(target), chosen.key):
            printer.note(f"{os.path.join(target, stem)}.png and .svg")
        page = Path(target, pages.PAGE)
        if not parts.has_decoder() and pages.shows_mmp(pictures, found, views):
            printer.note(f"{page}: shows mmp files as PNGs; else it needs {parts.NOT_BUILT}")
        pages.write_page(
            *(pictures, found, page, anchor, chosen.key),
            views=views,
            limits=limits,
            maps=shown,
            decoder=parts.decoder_script() if parts.has_decoder() else None,
        )
        size = page.stat().st_size / 1e6
    except OSError as error:
        raise FileError.from_os(error.filename or target, error) from error
    if not quiet:
        print(f"{page}: {counted(len(pictures), 'picture')}, anchor {against}, {size:.1f} MB")
    return ExitCode.DONE


def _note_unused(
    printer: Printer, folder: str | None, views: int, maps: bool, markdown: bool
) -> None:
    """Say which options have no effect."""
    from mmpcodec.bench.report import VIEWS

    if markdown and folder is not None:
        printer.note("-O: has no effect with --markdown, which writes nothing")
    if markdown and views != VIEWS:
        printer.note("--views: has no effect with --markdown, which shows no pictures")
    if maps and (markdown or not views):
        other = "--markdown" if markdown else "--views 0"
        printer.note(f"--maps: has no effect with {other}, which shows no pictures")


def containers_of(texts: list[str]) -> dict[str, int]:
    """Parse the size of each container, in bytes by codec, from texts such as ``avif=269``.

    Raises
    ------
    ParameterError
        If a text has another form.
    """
    found = {}
    for text in texts:
        codec, _, size = text.rpartition("=")
        if not codec or not size.isdecimal() or int(size) == 0:
            raise ParameterError(f"--container {text}: must be CODEC=BYTES, such as avif=269")
        found[codec] = int(size)
    return found


def range_of(text: str) -> tuple[float, float]:
    """Parse the range of a metric, from a text such as ``40:90``.

    Raises
    ------
    ParameterError
        If a text has another form, or the range is empty.
    """
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low = high = math.nan
    if not low < high or math.isinf(high - low):
        raise ParameterError(f"--range {text}: must be LOW:HIGH with LOW < HIGH, such as 40:90")
    return low, high
