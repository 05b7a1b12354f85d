"""``mmp highlight``: find and draw bright regions of x-rays and other pictures."""

import io
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mmpcodec.analysis.denoise import check_median_radius
from mmpcodec.cli import options, output, run
from mmpcodec.cli.cluster.devices import implied, numbers_of, on_devices
from mmpcodec.cli.cluster.manifest import sha256_of
from mmpcodec.cli.cluster.places import on_this_machine, spread
from mmpcodec.cli.completion import files as files_ending
from mmpcodec.cli.completion import words
from mmpcodec.cli.encoding import reading
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import OUTPUT
from mmpcodec.cli.inputs.folders import PICTURE
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
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import LimitExceeded, ParameterError
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures import registry
from mmpcodec.runtime.files import STANDARD, printable

if TYPE_CHECKING:
    import numpy as np

    from mmpcodec.analysis.regions import Limits, Region, Regions
    from mmpcodec.metadata import Metadata
    from mmpcodec.picture import Picture

SUFFIX = ".regions.png"
COLUMNS = (
    "input", "rank", "left", "top", "right", "bottom", "width", "height", "area", "sum", "mean",
    "offset", "deviation", "min", "max", "unit", "value_mean", "value_deviation", "value_min",
    "value_max", "left_mm", "top_mm", "width_mm", "height_mm",
)  # fmt: skip


class Highlighted(NamedTuple):
    """The regions of one picture, and the file of their drawing."""

    input: str
    output: str
    width: int
    height: int
    white: int
    highest: int
    found: "Regions"
    metadata: "Metadata"
    seconds: float
    backend: str
    small: "np.ndarray | None"

    def rows(self) -> list[dict[str, Any]]:
        """Return a table row for each region; right and bottom are its last column and row."""
        return [
            {
                "input": no_formula(self.input),
                **facts,
                "offset": self.found.offset,
                "unit": no_formula(facts["unit"] or ""),
            }
            for facts in map(self.described, self.found.regions)
        ]

    def as_dict(self) -> dict[str, Any]:
        return {
            "input": self.input,
            "output": self.output,
            "width": self.width,
            "height": self.height,
            "white": self.white,
            "highest": self.highest,
            "offset": self.found.offset,
            "scale": self.found.scale,
            "regions": [self.described(region) for region in self.found.regions],
            "seconds": self.seconds,
            "backend": self.backend,
        }

    def text(self, verbose: bool) -> str:
        regions = self.found.regions
        count = f"{len(regions)} region{'' if len(regions) == 1 else 's'}"
        lines = [
            f"{output.shown_pair(self.input, self.output)}: {self.width}x{self.height}, {count} "
            f"beyond level {self.found.offset:g} of {self.white}, {self.seconds:.2f} s, "
            f"backend {self.backend}"
        ]
        if not regions and 2 * self.highest < self.white:
            lines.append(
                f"  the highest level is {self.highest}; set the level of white with --white"
            )
        lines += [line for region in regions for line in self.lines_of(region)]
        return "\n".join(lines)

    def described(self, region: "Region") -> dict[str, Any]:
        """Return a region as JSON can hold it."""
        from mmpcodec.analysis.measures import measured

        names = ("rank", "left", "top", "right", "bottom", "width", "height", "area", "sum", "mean")
        return {
            **{name: getattr(region, name) for name in names},
            "deviation": region.deviation,
            "min": region.least,
            "max": region.most,
            **asdict(measured(region, self.metadata)),
        }

    def lines_of(self, region: "Region") -> Iterator[str]:
        """Yield the lines of text about a region."""
        from mmpcodec.analysis.measures import measured

        yield (
            f"  {region.rank}: {region.width}x{region.height} at column {region.left}, row "
            f"{region.top}; mean {region.mean:.1f}, sum {region.sum:.0f}"
        )
        found = measured(region, self.metadata)
        if found.value_mean is not None:
            unit = f" {printable(found.unit)}" if found.unit else ""
            yield (
                f"     mean {found.value_mean:.1f}{unit}, SD {found.value_deviation:.1f}, "
                f"min {found.value_min:g}, max {found.value_max:g}"
            )
        if found.width_mm is not None:
            yield (
                f"     {found.width_mm:.1f}x{found.height_mm:.1f} mm, {found.left_mm:.1f} mm from "
                f"the left, {found.top_mm:.1f} mm from the top"
            )


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


class Sides(NamedTuple):
    """Limits of the sides of regions, and the border, as given: in pixels or per cent."""

    min_width: str | None
    max_width: str | None
    min_height: str | None
    max_height: str | None
    exclude_border: str

    def check(self) -> None:
        """Check all of them before the work.

        Raises
        ------
        ParameterError
            If one is neither pixels nor per cent.
        """
        for name, side in self._asdict().items():
            pixels(name, side, 1)

    def limits(self, width: int, height: int) -> "Limits":
        """Return the limits for a picture of this size."""
        from mmpcodec.analysis.regions import Limits

        return Limits(
            pixels("min_width", self.min_width, width) or 1,
            pixels("max_width", self.max_width, width),
            pixels("min_height", self.min_height, height) or 1,
            pixels("max_height", self.max_height, height),
        )

    def border(self, width: int, height: int) -> int:
        """Return the border in pixels of a picture of this size."""
        return pixels("exclude_border", self.exclude_border, min(width, height)) or 0


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
    page: reading.Page = None,
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
    names another. The regions show brightness; they are no diagnosis.
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
    files = assign(files, SUFFIX, out=out, folder=folder, keep_extension=True)
    named = {"--csv": table, "--sheet": sheet}
    extras = [Job(option, name) for option, name in named.items() if name is not None]
    output.check_png("-o", out)
    output.check_png("--sheet", sheet)
    check_pairs([*files, *([] if mask is None else [Job(mask)]), *extras])
    check(extras, force=force)
    sides = Sides(min_width, max_width, min_height, max_height, exclude_border)
    sides.check()

    from mmpcodec import pictures
    from mmpcodec.analysis import outlines
    from mmpcodec.analysis.denoise import denoise as without_specks
    from mmpcodec.solvers import dispatch, max_sum

    backend = implied(backend, device)
    backend = dispatch.resolved(max_sum.__name__, backend) if cluster is None else backend
    numbers = () if cluster else numbers_of(backend, device)
    check_offset(offset)
    mask = checked_mask(mask, limits, cluster)
    done: list[Highlighted] = []

    def work(job: Job, progress: JobProgress) -> Highlighted:
        picture = output.read_picture(job.source, limits, page).without_alpha()
        height, width = picture.samples.shape[:2]
        started = time.perf_counter()
        searched = picture
        if denoise is not None:
            samples = without_specks(picture.samples, denoise, backend=backend)
            searched = replace(picture, samples=samples)
        found = found_in_time(
            searched,
            seconds,
            offset=offset,
            white=white,
            dark=dark,
            k=regions,
            limits=sides.limits(width, height),
            mask=None if mask is None else read_mask(mask, limits),
            border=sides.border(width, height),
            backend=backend,
        )
        taken = time.perf_counter() - started
        drawn = outlines.draw_regions(picture, found.regions, white=white)
        assert job.target is not None
        output.write(job.target, pictures.to_bytes(drawn, "png"), force=job.overwrite)
        return Highlighted(
            job.source,
            job.target,
            width,
            height,
            picture.white if white is None else white,
            int(searched.samples.max()),
            found,
            picture.metadata,
            taken,
            dispatch.resolved(max_sum.__name__, backend),
            None if sheet is None else outlines.thumbnail(drawn),
        )

    printer = Printer(as_json, quiet, False, STANDARD in [job.target for job in (*files, *extras)])
    mask_hash = mask and manifest and sha256_of(mask)  # only a manifest asks what decides
    parameters = repr((denoise, offset, white, dark, regions, sides, mask_hash, page))
    doing, at_once = on_devices(work, backend, numbers, jobs)
    with spread("highlight", cluster, workers, batch, manifest, parameters, device, jobs) as place:
        there = outputs_at(folder)
        files = settle(place.resumed(files, there), existing, folder, there)
        code = run.run(files, doing, printer, at_once=at_once, place=place, seen=done.append)
    summarise(files, done, table, sheet, printer, force=force)
    return code


def found_in_time(picture: "Picture", seconds: float | None, **options: Any) -> "Regions":
    """Find the regions of a picture; see ``find_regions``.

    Raises
    ------
    LimitExceeded
        If that takes too long. The message says what makes it faster.
    """
    from mmpcodec.analysis.regions import find_regions

    try:
        return find_regions(picture, time_limit=seconds, **options)
    except LimitExceeded as error:
        if seconds is None:
            raise
        reason = "more seconds, fewer regions or limits of their sides give one"
        raise LimitExceeded("Regions", f"no answer in --seconds {seconds:g}; {reason}") from error


def summarise(
    files: Sequence[Job],
    done: "list[Highlighted]",
    table: str | None,
    sheet: str | None,
    printer: Printer,
    *,
    force: bool,
) -> None:
    """Write the table and the sheet in the order of the inputs, and note the numbers."""
    places = {source: place for place, source in enumerate(job.source for job in files)}
    done.sort(key=lambda result: places[result.input])
    write_summaries(done, table, sheet, force=force)
    if sum(job.left_out is None for job in files) > 1:
        total = sum(len(result.found.regions) for result in done)
        printer.note(f"pictures: {len(done)}, regions: {total}")


def checked_mask(mask: str | None, limits: DecodeLimits, cluster: str | None) -> str | None:
    """Check that the mask can be read, and return its name for the machines that do the work."""
    if mask is None:
        return None
    read_mask(mask, limits)
    return on_this_machine(mask) if cluster else mask


@lru_cache(maxsize=1)
def read_mask(mask: str, limits: DecodeLimits) -> "np.ndarray":
    """Read the mask, (H, W), 0 where pixels do not count; of colours the largest sample counts."""
    samples = output.read_picture(mask, limits).without_alpha().samples
    return samples if samples.ndim == 2 else samples.max(axis=2)


def write_summaries(
    done: Sequence[Highlighted], table: str | None, sheet: str | None, *, force: bool
) -> None:
    """Write the table and the sheet of all pictures, if they were asked for."""
    from mmpcodec import pictures
    from mmpcodec.analysis import outlines

    if table is not None and done:
        output.write(table, as_csv(done).encode(errors="surrogateescape"), force=force)
    if sheet is not None and done:
        shown = [
            (os.path.basename(result.input), result.small)
            for result in done
            if result.small is not None
        ]
        output.write(sheet, pictures.to_bytes(outlines.contact_sheet(shown), "png"), force=force)


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


def pixels(name: str, side: str | None, whole: int) -> int | None:
    """Parse a length in pixels, or in per cent of ``whole``; the result is in pixels.

    Raises
    ------
    ParameterError
        If it is neither.
    """
    if side is None:
        return None
    number = side.removesuffix("%")
    try:
        value = float(number) if side.endswith("%") else int(number)
    except ValueError:
        value = -1
    if not value >= 0 or (side.endswith("%") and value > 100):
        raise ParameterError(
            f"{name} = {side!r}: must be pixels (40) or per cent from 0 to 100 (12.5%)"
        )
    return round(value * whole / 100) if side.endswith("%") else int(value)


def no_formula(text: str) -> str:
    """Return a text for a cell of a table, quoted if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def as_csv(done: Sequence[Highlighted]) -> str:
    """Return all regions as a CSV table with a header line."""
    import csv

    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for result in done:
        writer.writerows(result.rows())
    return stream.getvalue()
