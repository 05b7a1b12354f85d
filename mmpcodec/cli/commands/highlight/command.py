"""``mmp highlight``: find and draw bright regions of x-rays and other pictures."""

from typing import Annotated

import typer

from mmpcodec.analysis.denoise import check_median_radius
from mmpcodec.cli import options, output, run
from mmpcodec.cli.cluster.devices import implied, numbers_of, on_devices
from mmpcodec.cli.cluster.manifest import sha256_of
from mmpcodec.cli.cluster.places import on_this_machine, spread
from mmpcodec.cli.commands.highlight.results import Found, summarise
from mmpcodec.cli.commands.highlight.searching import SUFFIX, HighlightInput, Sides, read_mask
from mmpcodec.cli.completion import files as files_ending
from mmpcodec.cli.completion import words
from mmpcodec.cli.encoding.series import in_series
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import OUTPUT
from mmpcodec.cli.inputs.folders import PICTURE
from mmpcodec.cli.inputs.pages import Page
from mmpcodec.cli.jobs import (
    Existing,
    Job,
    assign,
    check,
    check_pairs,
    inputs_of,
    outputs_at,
    settle,
)
from mmpcodec.cli.printing import Printer
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures import registry
from mmpcodec.runtime.files import STANDARD

Offset = Annotated[
    str,
    typer.Option(
        metavar="LEVEL",
        help="Level that a region must exceed: a part of white (up to 1), a level (above 1), mean, "
        "median, otsu (Otsu's threshold), or p90 for the 90th percentile.",
        autocompletion=words(("mean", "median", "otsu", "p90")),
    ),
]
White = Annotated[
    int | None,
    typer.Option(metavar="LEVEL", help="Level of white: 4095 for 12 bits stored in 16."),
]
Dark = Annotated[bool, typer.Option("--dark", help="Find the darkest regions.")]
Count = Annotated[
    int, typer.Option("--regions", "-k", min=1, metavar="K", help="Largest number of regions.")
]
Least = Annotated[
    str | None, typer.Option(metavar="N|N%", help="Least side of a region, in pixels or per cent.")
]
Most = Annotated[
    str | None, typer.Option(metavar="N|N%", help="Longest side of a region, likewise.")
]
Mask = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Picture that is black where pixels do not count.",
        autocompletion=files_ending(registry.suffixes()),
    ),
]
Border = Annotated[
    str,
    typer.Option(metavar="N|N%", help="Border to leave out at each side, in pixels or per cent."),
]
Table = Annotated[
    str | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        help="Write all regions as a CSV table.",
        rich_help_panel=OUTPUT,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        metavar="PNG", help="Draw all pictures on a single sheet.", rich_help_panel=OUTPUT
    ),
]


Seconds = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="S",
        help="Time limit of the search in a picture, which then fails; none by default.",
    ),
]


def highlight(
    inputs: options.Pictures,
    out: options.Output = None,
    folder: options.Folder = None,
    offset: Offset = "0.5",
    white: White = None,
    dark: Dark = False,
    regions: Count = 1,
    min_width: Least = None,
    max_width: Most = None,
    min_height: Least = None,
    max_height: Most = None,
    mask: Mask = None,
    exclude_border: Border = "0",
    table: Table = None,
    sheet: Sheet = None,
    denoise: options.Denoise = None,
    page: Page = None,
    seconds: Seconds = None,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_seconds: options.MaxSeconds = None,
    backend: options.BackendName = "auto",
    device: options.Device = None,
    jobs: options.Jobs = 1,
    force: options.Force = False,
    skip_existing: options.SkipExisting = False,
    update: options.Update = False,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    batch: options.Batch = None,
    manifest: options.ManifestFile = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Find and draw the brightest rectangles of pictures.

    Pictures are gray or in colour, of 1 to 16 bits; the search uses all bits, and the drawing has
    8. Transparency is ignored. The drawing is IN with the suffix .regions.png, unless -o or -O
    names another. Each page of a file of several pictures is searched on its own. The slices of a
    series, of one file or of DICOM files, are one volume: its brightest boxes are drawn on the
    slices that they touch, and have their sides in millimetres if the file says them. Drawings are
    then numbered, as in x-007.png. The regions show brightness; they are no diagnosis.
    """
    if denoise is not None:
        check_median_radius(denoise, "denoise")
    limits = options.limits_of(max_samples, max_dimension, max_seconds=max_seconds)
    existing = Existing.of(force, skip_existing, update)
    partly = {"--skip-existing": skip_existing, "--update": update, "--manifest": manifest}
    for option, given in partly.items():
        if given:  # the table and the sheet are of all pictures
            options.check_alone(option, {"--csv": table, "--sheet": sheet})
    files = inputs_of(inputs, PICTURE.without(SUFFIX))
    files, series = in_series(files, limits) if page is None else (files, [])
    files = assign(files, SUFFIX, out=out, folder=folder, keep_extension=True)
    named = {"--csv": table, "--sheet": sheet}
    extras = [Job(option, name) for option, name in named.items() if name is not None]
    output.check_png("-o", out)
    output.check_png("--sheet", sheet)
    check_pairs([*files, *([] if mask is None else [Job(mask)]), *extras])
    check(extras, force=force)
    sides = Sides(min_width, max_width, min_height, max_height, exclude_border)
    sides.check()

    from mmpcodec.solvers import dispatch, max_sum

    backend = implied(backend, device)
    backend = dispatch.resolved(max_sum.__name__, backend) if cluster is None else backend
    numbers = () if cluster else numbers_of(backend, device)
    check_offset(offset)
    mask = checked_mask(mask, limits, cluster)
    done: list[Found] = []
    work = HighlightInput(
        offset,
        white,
        dark,
        regions,
        sides,
        mask,
        denoise,
        page,
        seconds,
        sheet is not None,
        limits,
        backend,
    )
    printer = Printer(as_json, quiet, False, STANDARD in [job.target for job in (*files, *extras)])
    for remark in series:
        printer.note(remark)
    mask_hash = mask and manifest and sha256_of(mask)  # only a manifest asks what decides
    parameters = repr((denoise, offset, white, dark, regions, sides, mask_hash, page))
    doing, at_once = on_devices(work, backend, numbers, jobs)
    with spread("highlight", cluster, workers, batch, manifest, parameters, device, jobs) as place:
        there = outputs_at(folder)
        files = settle(place.resumed(files, there), existing, folder, there)
        code = run.run(files, doing, printer, at_once=at_once, place=place, seen=done.append)
    summarise(files, done, table, sheet, printer, force=force)
    return code


def checked_mask(mask: str | None, limits: DecodeLimits, cluster: str | None) -> str | None:
    """Check that the mask can be read, and return its name for the machines that do the work."""
    if mask is None:
        return None
    read_mask(mask, limits)
    return on_this_machine(mask) if cluster else mask


def check_offset(offset: str) -> None:
    """Check before the work that an offset is a word, a percentile, or a level up to 65535.

    Raises
    ------
    ParameterError
        If it is not.
    """
    import numpy as np

    from mmpcodec.analysis.regions import offset_level

    offset_level(offset, np.zeros(1, np.int64), 1, 65535)
