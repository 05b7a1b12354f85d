"""What ``mmp highlight`` has found: in a picture, in each page of a book, in a series of slices."""

import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import Printer, counted
from mmpcodec.runtime.files import printable

if TYPE_CHECKING:
    import numpy as np

    from mmpcodec.analysis.regions import Region, Regions
    from mmpcodec.analysis.volumes import Boxes, BrightBox, Spacing
    from mmpcodec.metadata import Metadata

COLUMNS = (
    "input", "rank", "left", "top", "right", "bottom", "width", "height", "area", "sum", "mean",
    "offset", "deviation", "min", "max", "unit", "value_mean", "value_deviation", "value_min",
    "value_max", "left_mm", "top_mm", "width_mm", "height_mm", "first_slice", "last_slice",
    "front_mm", "depth_mm",
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

    @property
    def pages(self) -> "tuple[Highlighted, ...]":
        """The searches of which this is the result: itself."""
        return (self,)

    @property
    def smalls(self) -> "list[tuple[str, np.ndarray]]":
        """Names and small drawings for a sheet."""
        return [] if self.small is None else [(self.input, self.small)]

    @property
    def total(self) -> int:
        """Number of regions."""
        return len(self.found.regions)

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
        return facts_of(region, self.metadata)

    def lines_of(self, region: "Region") -> Iterator[str]:
        """Yield the lines of text about a region."""
        yield (
            f"  {region.rank}: {region.width}x{region.height} at column {region.left}, row "
            f"{region.top}; mean {region.mean:.1f}, sum {region.sum:.0f}"
        )
        facts = self.described(region)
        yield from value_lines(facts)
        if facts["width_mm"] is not None:
            yield (
                f"     {facts['width_mm']:.1f}x{facts['height_mm']:.1f} mm, "
                f"{facts['left_mm']:.1f} mm from the left, {facts['top_mm']:.1f} mm from the top"
            )


class HighlightedBook(NamedTuple):
    """The regions of the pages of a book, each searched on its own."""

    input: str
    pages: tuple[Highlighted, ...]

    @property
    def smalls(self) -> "list[tuple[str, np.ndarray]]":
        """Names and small drawings for a sheet."""
        return [small for page in self.pages for small in page.smalls]

    @property
    def total(self) -> int:
        """Number of regions."""
        return sum(page.total for page in self.pages)

    def rows(self) -> list[dict[str, Any]]:
        """Return a table row for each region."""
        return [row for page in self.pages for row in page.rows()]

    def as_dict(self) -> dict[str, Any]:
        return {"input": self.input, "pages": [page.as_dict() for page in self.pages]}

    def text(self, verbose: bool) -> str:
        return "\n".join(page.text(verbose) for page in self.pages)


class HighlightedSeries(NamedTuple):
    """The boxes of a series of slices, and the files of their drawings.

    Parameters
    ----------
    input : str
    name : str
        Of the input in messages; it may be several files.
    outputs : tuple of str
        Drawings of the slices that a box touches.
    size : (int, int, int)
        Slices, rows and columns.
    white, highest : int
    found : Boxes
    spacing : Spacing
    metadata : Metadata
        Of the first slice.
    seconds : float
    backend : str
    smalls : list of (str, array)
        Names and small drawings for a sheet: of the middle of each box.
    """

    input: str
    name: str
    outputs: tuple[str, ...]
    size: tuple[int, int, int]
    white: int
    highest: int
    found: "Boxes"
    spacing: "Spacing"
    metadata: "Metadata"
    seconds: float
    backend: str
    smalls: "list[tuple[str, np.ndarray]]"

    @property
    def total(self) -> int:
        """Number of boxes."""
        return len(self.found.boxes)

    def rows(self) -> list[dict[str, Any]]:
        """Return a table row for each box."""
        facts = [self.described(box) for box in self.found.boxes]
        return [
            {
                "input": no_formula(self.input),
                **{name: value for name, value in each.items() if name in COLUMNS},
                "offset": self.found.offset,
                "unit": no_formula(each["unit"] or ""),
            }
            for each in facts
        ]

    def as_dict(self) -> dict[str, Any]:
        slices, height, width = self.size
        return {
            "input": self.input,
            "outputs": list(self.outputs),
            "width": width,
            "height": height,
            "slices": slices,
            "slice_distance_mm": self.spacing.distance,
            "evenly_spaced": self.spacing.is_even,
            "white": self.white,
            "highest": self.highest,
            "offset": self.found.offset,
            "scale": self.found.scale,
            "boxes": [self.described(box) for box in self.found.boxes],
            "seconds": self.seconds,
            "backend": self.backend,
        }

    def described(self, box: "BrightBox") -> dict[str, Any]:
        """Return a box as JSON can hold it. Slices are numbered from 1."""
        extent = self.spacing.extent(box.front, box.back)
        return {
            **facts_of(box.region, self.metadata),
            "first_slice": box.front + 1,
            "last_slice": box.back + 1,
            "depth": box.depth,
            "volume": box.depth * box.region.area,
            "front_mm": None if extent is None else extent[0],
            "depth_mm": None if extent is None else extent[1],
        }

    def text(self, verbose: bool) -> str:
        slices, height, width = self.size
        drawn = f", {counted(len(self.outputs), 'drawing')}" if self.outputs else ""
        lines = [
            f"{self.name}: {slices} slices of {width}x{height}, {self.total} "
            f"box{'' if self.total == 1 else 'es'} beyond level {self.found.offset:g} of "
            f"{self.white}{drawn}, {self.seconds:.2f} s, backend {self.backend}"
        ]
        if self.outputs:
            ends = dict.fromkeys((self.outputs[0], self.outputs[-1]))
            lines.append(f"  drawn in {' to '.join(ends)}")
        if not self.spacing.is_even:
            lines.append("  the slices are not evenly spaced; each counts alike in the sums")
        if not self.total and 2 * self.highest < self.white:
            lines.append(
                f"  the highest level is {self.highest}; set the level of white with --white"
            )
        return "\n".join([*lines, *(line for box in self.found.boxes for line in self._lines(box))])

    def _lines(self, box: "BrightBox") -> Iterator[str]:
        facts = self.described(box)
        region = box.region
        yield (
            f"  {region.rank}: {region.width}x{region.height}x{box.depth} at column {region.left}, "
            f"row {region.top}, slices {box.front + 1} to {box.back + 1}; mean {region.mean:.1f}, "
            f"sum {region.sum:.0f}"
        )
        yield from value_lines(facts)
        sides = [facts[name] for name in ("width_mm", "height_mm", "depth_mm")]
        if sides[0] is not None:
            known = [f"{side:.1f}" for side in sides if side is not None]
            along = "" if sides[2] is None else f", slices from {facts['front_mm']:.1f} mm"
            yield (
                f"     {'x'.join(known)} mm, {facts['left_mm']:.1f} mm from the left, "
                f"{facts['top_mm']:.1f} mm from the top{along}"
            )
        elif sides[2] is not None:
            yield f"     {sides[2]:.1f} mm along the slices, from {facts['front_mm']:.1f} mm"


Found = Highlighted | HighlightedBook | HighlightedSeries


def facts_of(region: "Region", metadata: "Metadata") -> dict[str, Any]:
    """Return a region as JSON can hold it."""
    from mmpcodec.analysis.measures import measured

    names = ("rank", "left", "top", "right", "bottom", "width", "height", "area", "sum", "mean")
    return {
        **{name: getattr(region, name) for name in names},
        "deviation": region.deviation,
        "min": region.least,
        "max": region.most,
        **asdict(measured(region, metadata)),
    }


def value_lines(facts: dict[str, Any]) -> Iterator[str]:
    """Yield the line about the values of a region, if its picture says what samples measure."""
    if facts["value_mean"] is not None:
        unit = f" {printable(facts['unit'])}" if facts["unit"] else ""
        yield (
            f"     mean {facts['value_mean']:.1f}{unit}, SD {facts['value_deviation']:.1f}, "
            f"min {facts['value_min']:g}, max {facts['value_max']:g}"
        )


def summarise(
    files: Sequence[Job],
    done: list[Found],
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
        total = sum(result.total for result in done)
        printer.note(f"pictures: {len(done)}, regions: {total}")


def write_summaries(
    done: Sequence[Found], table: str | None, sheet: str | None, *, force: bool
) -> None:
    """Write the table and the sheet of all pictures, if they were asked for."""
    from mmpcodec import pictures
    from mmpcodec.analysis import outlines

    if table is not None and done:
        output.write(table, as_csv(done).encode(errors="surrogateescape"), force=force)
    if sheet is not None and done:
        shown = [
            (os.path.basename(name), small) for result in done for name, small in result.smalls
        ]
        output.write(sheet, pictures.to_bytes(outlines.contact_sheet(shown), "png"), force=force)


def no_formula(text: str) -> str:
    """Return a text for a cell of a table, quoted if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def as_csv(done: Sequence[Found]) -> str:
    """Return all regions as a CSV table with a header line."""
    import csv

    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for result in done:
        writer.writerows(result.rows())
    return stream.getvalue()
