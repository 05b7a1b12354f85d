"""``mmp info``: what mmp files hold."""

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mmpcodec.cli import batch, options, output
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.plan import Job, check
from mmpcodec.cli.printing import Printer, tools_text
from mmpcodec.errors import ParameterError
from mmpcodec.params import DecodeLimits

if TYPE_CHECKING:
    from mmpcodec import Inspection
    from mmpcodec.backends.base import Trace

SIDES = (16, 8, 4, 2, 1)
"""Heights and widths of the scales, by number of halvings."""

BLOCK_SIDES = (64, 32, 16, 8, 4)
"""Heights and widths of blocks."""


@dataclasses.dataclass(frozen=True)
class Described:
    """What a file says of itself, and where its map was drawn."""

    input: str
    found: "Inspection"
    map: str | None

    @property
    def header_bytes(self) -> int:
        return self.found.file_size - self.found.header.payload_size

    @property
    def header_share(self) -> float:
        return self.header_bytes / self.found.file_size

    def as_dict(self) -> dict[str, Any]:
        """Facts for machines; 5x5 tables are rows by height and columns by width, largest first."""
        header = dataclasses.asdict(self.found.header)
        header["tools"]["partition"] = self.found.header.tools.partition.name.lower()
        facts = {
            "input": self.input,
            "file_bytes": self.found.file_size,
            "bits_per_pixel": self.found.bits_per_pixel,
            "header_bytes": self.header_bytes,
            "header_share": self.header_share,
            "header": header,
        }
        trace = self.found.trace
        if trace is not None:
            facts["bits"] = trace.bits
            if trace.dictionary_sizes is not None:
                facts["dictionary_sizes"] = _by_scale(trace.dictionary_sizes)
                facts["leaves"] = _by_scale(trace.leaves())
                facts["depths"] = trace.depths()
            if trace.units is not None:
                facts["blocks"] = {kind: table.tolist() for kind, table in trace.blocks().items()}
                facts["modes"] = trace.modes()
        if self.map is not None:
            facts["map"] = self.map
        return facts

    def text(self, verbose: bool) -> str:
        shown = output.shown(self.input, "stdin")
        return "\n".join([f"{shown}:", *(f"  {line}".rstrip() for line in self._lines())])

    def _lines(self) -> Iterator[str]:
        found, header = self.found, self.found.header
        yield (
            f"picture  {header.width}x{header.height}, "
            f"{header.planes} plane{'s' * (header.planes > 1)} of {header.bit_depth} "
            f"bit{'s' * (header.bit_depth > 1)}"
        )
        yield (
            f"format   version {header.version}, profile {header.profile}, "
            f"fragments of {header.tools.fragment_size}x{header.tools.fragment_size}"
            + (f", tiles of {header.tile_size}" if header.tile_size else "")
        )
        yield f"tools    {tools_text(header.tools)}"
        yield f"file     {found.file_size} bytes, {found.bits_per_pixel:.3f} bits per pixel"
        yield f"header   {self.header_bytes} bytes, {self.header_share:.1%} of the file"
        yield f"payload  {header.payload_size} bytes"
        yield f"samples  CRC {header.samples_crc:08x}"
        if found.trace is not None:
            yield from ("", "bits by syntax element, and their share of the file")
            for syntax, bits in found.trace.bits.items():
                yield f"{syntax:>9}{bits:12.0f}{bits / (8 * found.file_size):9.1%}"
            if found.trace.dictionary_sizes is not None:
                yield from _tree_lines(found.trace)
            if found.trace.units is not None:
                yield from _block_lines(found.trace)
        if self.map is not None:
            yield from ("", *map_lines(self.map, header.tools.prediction))


def _tree_lines(trace: "Trace") -> Iterator[str]:
    yield from ("", "elements in the dictionaries, by height (rows) and width")
    yield from _table(_by_scale(trace.dictionary_sizes), SIDES)
    yield from ("", "leaves, by height (rows) and width")
    yield from _table(_by_scale(trace.leaves()), SIDES)
    yield from ("", "leaves by depth in the segmentation tree")
    for depth, leaves in enumerate(trace.depths()):
        yield f"{depth:9}{leaves:12}"


def _block_lines(trace: "Trace") -> Iterator[str]:
    for kind, table in trace.blocks().items():
        yield from ("", f"{table.sum()} {kind} blocks, by height (rows) and width")
        yield from _table(table.tolist(), BLOCK_SIDES)
    yield from ("", "blocks by mode")
    for mode, count in trace.modes().items():
        yield f"{mode:>13}{count:12}"


def _by_scale(values: Any) -> list[list[int]]:
    """25 values by scale number as rows by height and columns by width."""
    numbers = [int(value) for value in values]
    return [numbers[row : row + len(SIDES)] for row in range(0, len(numbers), len(SIDES))]


def _table(rows: list[list[int]], sides: tuple[int, ...]) -> Iterator[str]:
    yield " " * 9 + "".join(f"{side:9}" for side in sides)
    for side, row in zip(sides, rows, strict=True):
        yield f"{side:9}" + "".join(f"{value:9}" for value in row)


def info(
    inputs: options.Inputs,
    header_only: Annotated[
        bool, typer.Option("--header-only", help="Read header and checksum, decode nothing.")
    ] = False,
    map: Annotated[
        str | None,
        typer.Option(metavar="PNG", help="Draw leaves or blocks over the decoded picture."),
    ] = None,
    backend: options.BackendName = "auto",
    size_limit: options.SizeLimit = options.DEFAULT_LIMITS.max_pixels,
    dimension_limit: options.DimensionLimit = options.DEFAULT_LIMITS.max_dimension,
    jobs: options.Jobs = 1,
    force: options.Force = False,
    as_json: options.Json = False,
) -> ExitCode:
    """Show the headers of mmp files, and where their bits, elements, leaves and blocks are."""
    limits = DecodeLimits(size_limit, dimension_limit)
    if map is not None and (header_only or len(inputs) > 1):
        raise ParameterError("--map: needs a single input, and not --header-only")
    if map is not None and map != output.STANDARD and not map.lower().endswith(".png"):
        raise ParameterError(f"--map: {map} must end in .png, or be {output.STANDARD}")
    files = [Job(source, map) for source in inputs]
    check(files, force=force)

    import mmpcodec
    from mmpcodec import backends

    chosen = backends.get(backend)

    def work(job: Job, progress: batch.Progress) -> Described:
        data = output.read(job.source)
        found = mmpcodec.inspect(
            data, decode=not header_only, limits=limits, backend=chosen.name, progress=progress
        )
        if job.target is not None:
            draw_map(found, job.target, force=force)
        return Described(job.source, found, job.target)

    return batch.run(files, work, Printer(as_json, to_stderr=map == output.STANDARD), at_once=jobs)


def draw_map(found: "Inspection", target: str, *, force: bool) -> None:
    """Write the decoded picture with its leaves or blocks drawn over it, as PNG."""
    from mmpcodec import pictures
    from mmpcodec.analysis.block_map import draw_blocks
    from mmpcodec.analysis.overlay import draw_tree

    samples, trace = found.samples, found.trace
    assert samples is not None
    assert trace is not None
    edges = trace.edges()
    if edges is None:
        raise ParameterError("--map: the file holds exact samples, which have no leaves or blocks")
    if trace.units is None:
        drawn = draw_tree(samples, edges)
    else:
        drawn = draw_blocks(samples, trace.units, found.header.tools.fragment_size)
    output.write(target, pictures.to_bytes(drawn, "png"), force=force)


def map_lines(target: str, prediction: bool) -> Iterator[str]:
    """Where the map is, and what its colours and marks mean."""
    if not prediction:
        yield f"segmentation drawn in {target}"
        return
    from mmpcodec.analysis.block_map import KINDS, MARKS

    yield f"blocks drawn in {target}; red lines are those of the fragments"
    for kind, colour in KINDS.items():
        yield f"{kind:>13}  {colour.name}"
    for mode, mark in MARKS.items():
        yield f"{mode:>13}  {mark.name}"
