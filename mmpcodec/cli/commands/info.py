"""``mmp info``: what mmp files hold."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mmpcodec.cli import options, output, run
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.jobs import Job, check
from mmpcodec.cli.printing import Printer, counted, tools_text
from mmpcodec.errors import ParameterError
from mmpcodec.params import DecodeLimits

if TYPE_CHECKING:
    import numpy as np

    from mmpcodec import Inspection
    from mmpcodec.codec.encoding import LayerCoding
    from mmpcodec.metadata import Metadata
    from mmpcodec.trace import Totals, Trace

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
        """All that is no payload, but for bad tiles."""
        header, bad = self.found.header, {bad.tile.number for bad in self.found.bad_tiles}
        tiles = sum(size for tile, size in enumerate(header.tile_bytes) if tile not in bad)
        return header.size + tiles - self.found.payload_size

    @property
    def header_share(self) -> float:
        return self.header_bytes / self.found.file_size

    @property
    def traces(self) -> "list[Trace]":
        return [layer.trace for layer in self.found.layers if layer.trace is not None]

    @cached_property
    def totals(self) -> "Totals":
        """Sums over all layers."""
        from mmpcodec.trace import Totals

        return Totals(self.traces)

    def as_dict(self) -> dict[str, Any]:
        """Facts for machines; 5x5 tables are rows by height and columns by width, largest first.

        Counts are those of all layers.
        """
        found, header = self.found, self.found.header
        facts: dict[str, Any] = {
            "input": self.input,
            "file_bytes": found.file_size,
            "bits_per_pixel": found.bits_per_pixel,
            "header_bytes": self.header_bytes,
            "header_share": self.header_share,
            "version": header.version,
            "width": header.width,
            "height": header.height,
            "form": header.form.title,
            "depth": header.depth,
            "white": header.white,
            "tile_size": header.tile_size,
            "tiles": len(header.tile_bytes),
            "metadata": metadata_facts(header.metadata),
            "layers": [_layer_facts(layer) for layer in found.layers],
            "bad_tiles": [
                {"tile": bad.tile.number, "error": str(bad.error)} for bad in found.bad_tiles
            ],
        }
        if traces := self.traces:
            facts["bits"] = dict(self.totals.bits)
            if trees := [trace for trace in traces if trace.dictionary_sizes is not None]:
                facts["dictionary_sizes"] = _by_scale(_sums(t.dictionary_sizes for t in trees))
                facts["leaves"] = _by_scale(_sums(trace.leaves() for trace in trees))
                facts["depths"] = _sums(trace.depths() for trace in trees)
            if blocks := [trace for trace in traces if trace.units is not None]:
                facts["blocks"] = {kind: table.tolist() for kind, table in _blocks(blocks).items()}
                facts["modes"] = dict(self.totals.modes)
        if self.map is not None:
            facts["map"] = self.map
        return facts

    def text(self, verbose: bool) -> str:
        shown = output.shown(self.input, "stdin")
        return "\n".join([f"{shown}:", *(f"  {line}".rstrip() for line in self._lines())])

    def _lines(self) -> Iterator[str]:
        found, header = self.found, self.found.header
        yield (
            f"picture  {header.width}x{header.height}, {header.form.title} of "
            f"{counted(header.depth, 'bit')}, "
            f"white {header.white}"
        )
        yield from _metadata_lines(header.metadata)
        tiles = len(header.tile_bytes)
        size = f" of {header.tile_size}x{header.tile_size}" if tiles > 1 else ""
        yield f"format   version {header.version}, {counted(tiles, 'tile')}{size}"
        yield f"file     {found.file_size} bytes, {found.bits_per_pixel:.3f} bits per pixel"
        yield f"header   {self.header_bytes} bytes, {self.header_share:.1%} of the file"
        yield from _layer_lines(found.layers)
        for bad in found.bad_tiles:
            yield f"bad      {bad.error}"
        if traces := self.traces:
            yield from ("", "bits by syntax element, and their share of the file")
            for syntax, bits in self.totals.bits.items():
                yield f"{syntax:>9}{bits:12.0f}{bits / (8 * found.file_size):9.1%}"
            if trees := [trace for trace in traces if trace.dictionary_sizes is not None]:
                yield from _tree_lines(trees)
            if blocks := [trace for trace in traces if trace.units is not None]:
                yield from _block_lines(blocks, self.totals.modes)
        if self.map is not None:
            yield from ("", *map_lines(self.map, found.layers[0].tools.prediction))


def metadata_facts(metadata: "Metadata") -> dict[str, Any]:
    """What there is, in words or as numbers of bytes."""
    facts: dict[str, Any] = {
        name: f"{len(data)} bytes"
        for name, data in (("icc", metadata.icc), ("exif", metadata.exif), ("xmp", metadata.xmp))
        if data
    }
    if metadata.resolution is not None:
        found = metadata.resolution
        unit = "without unit" if found.unit == "none" else f"per {found.unit}"
        facts["resolution"] = f"{float(found.x):g}x{float(found.y):g} {unit}"
    if metadata.text:
        facts["text"] = [list(pair) for pair in metadata.text]
    return facts


def _metadata_lines(metadata: "Metadata") -> Iterator[str]:
    """The same, a line each."""
    facts = metadata_facts(metadata)
    texts = facts.pop("text", ())
    yield from (f"metadata {name}: {value}" for name, value in facts.items())
    yield from (f"metadata text {_harmless(key)}: {_harmless(value)}" for key, value in texts)


def _harmless(text: str) -> str:
    """What a file says, without what would steer a terminal or begin a line."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def _layer_facts(layer: "LayerCoding") -> dict[str, Any]:
    tools = dataclasses.asdict(layer.tools)
    tools["partition"] = layer.tools.partition.name.lower()
    return {
        "tile": layer.tile,
        "name": layer.name,
        "payload_bytes": layer.payload_bytes,
        "tools": tools,
        "coefficients": layer.coefficients,
    }


def _layer_lines(layers: "Sequence[LayerCoding]") -> Iterator[str]:
    """A line for each name and set of tools, with the layers of all tiles together."""
    groups: dict[tuple[str, str], list[LayerCoding]] = {}
    for layer in layers:
        groups.setdefault((layer.name, tools_text(layer.tools)), []).append(layer)
    for (name, tools), group in groups.items():
        size = sum(layer.payload_bytes for layer in group)
        tiles = f" in {len(group)} tiles" if len(group) > 1 else ""
        yield f"layer    {name}, {size} bytes{tiles}: {tools}"


def _sums(rows: Iterable[Any]) -> list[int]:
    return [int(sum(column)) for column in zip(*rows, strict=True)]


def _blocks(traces: "Sequence[Trace]") -> "dict[str, np.ndarray]":
    """Numbers of blocks by kind, of all layers."""
    import numpy as np

    each = [trace.blocks() for trace in traces]
    return {kind: np.sum([own[kind] for own in each], axis=0) for kind in each[0]}


def _tree_lines(traces: "Sequence[Trace]") -> Iterator[str]:
    yield from ("", "elements in the dictionaries, by height (rows) and width")
    yield from _table(_by_scale(_sums(trace.dictionary_sizes for trace in traces)), SIDES)
    yield from ("", "leaves, by height (rows) and width")
    yield from _table(_by_scale(_sums(trace.leaves() for trace in traces)), SIDES)
    yield from ("", "leaves by depth in the segmentation tree")
    for depth, leaves in enumerate(_sums(trace.depths() for trace in traces)):
        yield f"{depth:9}{leaves:12}"


def _block_lines(traces: "Sequence[Trace]", modes: "Mapping[str, int]") -> Iterator[str]:
    for kind, table in _blocks(traces).items():
        yield from ("", f"{table.sum()} {kind} blocks, by height (rows) and width")
        yield from _table(table.tolist(), BLOCK_SIDES)
    yield from ("", "blocks by mode")
    for mode, count in modes.items():
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
    allow_partial: options.AllowPartial = False,
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

    chosen = backends.get(backend, decodes=True)
    partial = False

    def work(job: Job, progress: run.Progress) -> Described:
        nonlocal partial
        data = output.read(job.source)
        found = mmpcodec.inspect(
            data,
            decode=not header_only,
            allow_partial=allow_partial,
            limits=limits,
            backend=chosen.name,
            progress=progress,
        )
        partial |= bool(found.bad_tiles)
        if job.target is not None:
            draw_map(found, job.target, force=force)
        return Described(job.source, found, job.target)

    printer = Printer(as_json, to_stderr=map == output.STANDARD)
    code = run.run(files, work, printer, at_once=jobs)
    return ExitCode.PARTLY_FAILED if partial and code == ExitCode.DONE else code


def draw_map(found: "Inspection", target: str, *, force: bool) -> None:
    """Write the decoded picture with its leaves or blocks drawn over it, as PNG."""
    from mmpcodec import pictures
    from mmpcodec.analysis.drawings.file import draw_file

    drawn = draw_file(found)
    if drawn is None:
        raise ParameterError("--map: the file holds exact samples, which have no leaves or blocks")
    output.write(target, pictures.to_bytes(drawn, "png"), force=force)


def map_lines(target: str, prediction: bool) -> Iterator[str]:
    """Where the map is, and what its colours and marks mean."""
    if not prediction:
        yield f"segmentation drawn in {target}"
        return
    from mmpcodec.analysis.drawings.blocks import KINDS, MARKS

    yield f"blocks drawn in {target}; red lines are those of the fragments"
    for kind, colour in KINDS.items():
        yield f"{kind:>13}  {colour.name}"
    for mode, mark in MARKS.items():
        yield f"{mode:>13}  {mark.name}"
