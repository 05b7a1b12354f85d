"""The output of ``mmp info``: header, layers, bits, dictionary elements, leaves and blocks."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mmpcodec.cli import output
from mmpcodec.cli.decoding.damage import damage
from mmpcodec.cli.printing import counted, tools_text
from mmpcodec.depth import coded_depth
from mmpcodec.format.container import VERSION
from mmpcodec.runtime.files import printable
from mmpcodec.tools import BlockTools, LosslessTools, Tools, TreeTools

if TYPE_CHECKING:
    import numpy as np

    from mmpcodec import Inspection
    from mmpcodec.codec.tile_coding import LayerCoding
    from mmpcodec.format.container import Header
    from mmpcodec.metadata import Metadata
    from mmpcodec.reference.lossless.source_colours.colours import SourceColours
    from mmpcodec.trace import Totals, Trace

SIDES = (16, 8, 4, 2, 1)
"""Heights and widths of dictionary scales in samples, by number of halvings."""

BLOCK_SIDES = (64, 32, 16, 8, 4)
"""Heights and widths of predicted blocks in samples."""


SOURCES = ("", "JPEG", "PhotoCD")
"""What made luma and chroma, by the number of the format."""


@dataclasses.dataclass(frozen=True)
class Described:
    """The content of a file, and the file name of its map if one was drawn."""

    input: str
    found: "Inspection"
    map: str | None
    of_mmp = True

    @property
    def overhead_bytes(self) -> int:
        """Bytes of headers, metadata and checksums; damaged tiles count as payload."""
        header, bad = self.found.header, {bad.tile.number for bad in self.found.bad_tiles}
        tiles = sum(size for tile, size in enumerate(header.tile_bytes) if tile not in bad)
        return max(0, header.size) + len(header.trailer) + tiles - self.found.payload_size

    @property
    def overhead_share(self) -> float:
        return self.overhead_bytes / self.found.file_size

    @property
    def traces(self) -> "list[Trace]":
        return [layer.trace for layer in self.found.layers if layer.trace is not None]

    @cached_property
    def totals(self) -> "Totals":
        """Sums over all layers."""
        from mmpcodec.trace import Totals

        return Totals(self.traces)

    def as_dict(self) -> dict[str, Any]:
        """Return the content as JSON can hold it; counts are summed over all layers.

        Tables of 5x5 have a row for each height and a column for each width, largest first.
        """
        from mmpcodec.codec.levels import Levels

        found, header = self.found, self.found.header
        facts: dict[str, Any] = {
            "input": self.input,
            "file_bytes": found.file_size,
            "bits_per_pixel": found.bits_per_pixel,
            "overhead_bytes": self.overhead_bytes,
            "overhead_share": self.overhead_share,
            "version": VERSION,
            "width": header.width,
            "height": header.height,
            "form": header.form.title,
            "depth": header.depth,
            "white": header.white,
            "range": list(Levels.of(header).range),
            "level_bits": header.level_depth,
            "first_level": header.first,
            "tile_size": header.tile_size,
            "tiles": len(header.tile_bytes),
            "metadata": metadata_facts(header.metadata),
            "layers": [_layer_facts(layer) for layer in found.layers],
            "bad_tiles": [
                {"tile": bad.tile.number, "error": str(bad.error), "missing": bad.missing}
                for bad in found.bad_tiles
            ],
            "header_faults": list(map(str, found.faults)),
        }
        if found.continues is not None:
            facts["continues"] = found.continues
        if traces := self.traces:
            facts["bits"] = dict(self.totals.bits)
            if trees := [trace for trace in traces if trace.dictionary_sizes is not None]:
                facts["dictionary_sizes"] = _by_scale(_sums(t.dictionary_sizes for t in trees))
                facts["leaves"] = _by_scale(_sums(trace.leaves() for trace in trees))
                facts["depths"] = _sums(trace.depths() for trace in trees)
            if blocks := [trace for trace in traces if trace.units is not None]:
                facts["blocks"] = {kind: table.tolist() for kind, table in _blocks(blocks).items()}
                facts["modes"] = dict(self.totals.modes)
            if changes := _delta_step(traces):
                facts["delta_step"] = {str(change): count for change, count in changes.items()}
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
        yield from _level_lines(header)
        yield from _metadata_lines(header.metadata)
        tiles = len(header.tile_bytes)
        size = f" of {header.tile_size}x{header.tile_size}" if tiles > 1 else ""
        yield f"format   version {VERSION}, {counted(tiles, 'tile')}{size}"
        yield f"file     {found.file_size} bytes, {found.bits_per_pixel:.3f} bits per pixel"
        if found.continues is not None:
            yield f"chain    continues page {found.continues}"
        yield (
            f"overhead {self.overhead_bytes} bytes of headers, metadata and checksums, "
            f"{self.overhead_share:.1%} of the file"
        )
        yield from _layer_lines(found.layers, coded_depth(header.level_depth))
        for line in damage(header, found.bad_tiles, found.faults):
            yield f"bad      {line}"
        if traces := self.traces:
            yield from ("", "bits by syntax element, and their share of the file")
            for syntax, bits in self.totals.bits.items():
                yield f"{syntax:>9}{bits:12.0f}{bits / (8 * found.file_size):9.1%}"
            if trees := [trace for trace in traces if trace.dictionary_sizes is not None]:
                yield from _tree_lines(trees)
            if blocks := [trace for trace in traces if trace.units is not None]:
                yield from _block_lines(blocks, self.totals.modes)
            if changes := _delta_step(traces):
                yield from ("", "fragments by step change, in quarters of a doubling of the step")
                yield from (f"{change:>20}{count:12}" for change, count in changes.items())
        if self.map is not None:
            yield from ("", *map_lines(self.map, found.layers))


def _level_lines(header: "Header") -> Iterator[str]:
    """Describe the levels that count as black and white, and those that are coded."""
    from mmpcodec.codec.levels import Levels

    levels = Levels.of(header)
    if not levels.whole:
        low, high = levels.range
        yield f"range    levels {low} to {high}, to which lambda and quality refer"
    if header.level_bits:
        bits = counted(header.level_bits, "bit")
        yield f"levels   {bits} are coded; level 0 is sample {header.first}"


def metadata_facts(metadata: "Metadata") -> dict[str, Any]:
    """Describe each kind of metadata in words, or by its size in bytes."""
    facts: dict[str, Any] = {
        name: f"{len(data)} bytes"
        for name, data in (("icc", metadata.icc), ("exif", metadata.exif), ("xmp", metadata.xmp))
        if data
    }
    if metadata.resolution is not None:
        found = metadata.resolution
        unit = "without unit" if found.unit == "none" else f"per {found.unit}"
        facts["resolution"] = f"{float(found.x):g}x{float(found.y):g} {unit}"
    if metadata.colours is not None:
        facts["colours"] = metadata.colours.text()
    if metadata.dicom:
        size = sum(map(len, metadata.dicom))
        facts["dicom"] = f"{size} bytes of attributes, which may name the patient"
    if metadata.text:
        facts["text"] = [list(pair) for pair in metadata.text]
    return facts


def _metadata_lines(metadata: "Metadata") -> Iterator[str]:
    """Describe the metadata, one kind per line."""
    facts = metadata_facts(metadata)
    texts = facts.pop("text", ())
    yield from (f"metadata {name}: {value}" for name, value in facts.items())
    yield from (f"metadata text {printable(key)}: {printable(value)}" for key, value in texts)


def _tools_facts(tools: Tools) -> dict[str, Any]:
    facts = {"coding": tools.coding, **vars(tools)}
    if isinstance(tools, TreeTools):
        facts["partition"] = tools.partition.name.lower()
    if isinstance(tools, BlockTools) and tools.trees:
        facts["trees"] = _tools_facts(tools.trees)
    return facts


def _layer_facts(layer: "LayerCoding") -> dict[str, Any]:
    facts = {
        "tile": layer.tile,
        "name": layer.name,
        "depth": layer.depth,
        "payload_bytes": layer.payload_bytes,
        "tools": _tools_facts(layer.tools),
        "coefficients": layer.coefficients,
        "cross_component_coefficients": layer.cross_component_coefficients,
    }
    if layer.source.kind:
        facts["source"] = {"kind": SOURCES[layer.source.kind], **_source_halves(layer.source)}
    if layer.jpeg_bytes:
        facts["jpeg_bytes"] = layer.jpeg_bytes
    if layer.entries:
        facts |= {"entries": layer.entries, "transparent": layer.transparent}
        if layer.trace is not None and layer.trace.drawn is not None:
            facts["clear_share"] = 1 - float(layer.trace.drawn.mean())
    return facts


def _layer_lines(layers: "Sequence[LayerCoding]", depth: int) -> Iterator[str]:
    """Yield one line for each pair of layer name and tools, summed over all tiles.

    Palettes come first. The names of layers with more than ``depth`` bits a sample tell their bits.
    """
    groups: dict[tuple[str, str], list[LayerCoding]] = {}
    yield from _palette_lines([layer for layer in layers if layer.entries])
    for layer in layers:
        if layer.entries:
            continue
        if layer.jpeg_bytes and isinstance(layer.tools, LosslessTools):
            share = layer.payload_bytes / layer.jpeg_bytes
            yield (
                f"kept     a JPEG file, kept, of {layer.jpeg_bytes} bytes in {layer.payload_bytes} "
                f"({share:.1%}): form {layer.tools.lossless_form}"
            )
            continue
        bits = f" of {counted(layer.depth, 'bit')}" if layer.depth > depth else ""
        tools = tools_text(layer.tools) + _source_text(layer.source)
        groups.setdefault((layer.name + bits, tools), []).append(layer)
    for (name, tools), group in groups.items():
        size = sum(layer.payload_bytes for layer in group)
        tiles = f" in {len(group)} tiles" if len(group) > 1 else ""
        yield f"layer    {name}, {size} bytes{tiles}: {tools}"


def _source_halves(source: "SourceColours") -> dict[str, bool]:
    """Return whether chroma has half the rows, and half the columns."""
    return dict(zip(("halved_rows", "halved_columns"), source.halved, strict=True))


def _source_text(source: "SourceColours") -> str:
    """Return what the colours of lossless samples were made from, or nothing."""
    if not source.kind:
        return ""
    halves = [name for name, half in zip(("rows", "columns"), source.halved, strict=True) if half]
    size = f"half the {' and '.join(halves)}" if halves else "all rows and columns"
    return f", made from luma and chroma of {SOURCES[source.kind]}, chroma with {size}"


def _palette_lines(palettes: "Sequence[LayerCoding]") -> Iterator[str]:
    """Yield one line for the palettes of each set of tools, summed over all tiles."""
    groups: dict[str, list[LayerCoding]] = {}
    for palette in palettes:
        groups.setdefault(tools_text(palette.tools), []).append(palette)
    for tools, group in groups.items():
        least, most = (choose(palette.entries for palette in group) for choose in (min, max))
        colours = counted(most, "colour")
        if least < most:
            colours = f"{least} to {colours}"
        drawn = [palette.trace.drawn for palette in group if palette.trace is not None]
        pixels = sum(own.size for own in drawn if own is not None)
        transparent = ""
        if pixels:
            shown = sum(int(own.sum()) for own in drawn if own is not None)
            transparent = f", transparent {1 - shown / pixels:.1%}"
        size = sum(palette.payload_bytes for palette in group)
        tiles = f" in {len(group)} tiles" if len(group) > 1 else ""
        yield f"palette  {colours}{transparent}, {size} bytes{tiles}: {tools}"


def _sums(rows: Iterable[Any]) -> list[int]:
    return [int(sum(column)) for column in zip(*rows, strict=True)]


def _blocks(traces: "Sequence[Trace]") -> "dict[str, np.ndarray]":
    """Return the numbers of blocks by height and width for each kind, summed over all layers."""
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
        yield f"{mode:>20}{count:12}"


def _delta_step(traces: "Sequence[Trace]") -> dict[int, int]:
    """Return the number of fragments of each step change, from the finest step on."""
    counts = Counter(
        change
        for trace in traces
        if trace.changes is not None
        for change in trace.changes.ravel().tolist()
    )
    return dict(sorted(counts.items()))


def _by_scale(values: Any) -> list[list[int]]:
    """Arrange 25 values, by number of the scale, in rows by height and columns by width."""
    numbers = [int(value) for value in values]
    return [numbers[row : row + len(SIDES)] for row in range(0, len(numbers), len(SIDES))]


def _table(rows: list[list[int]], sides: tuple[int, ...]) -> Iterator[str]:
    yield " " * 9 + "".join(f"{side:9}" for side in sides)
    for side, row in zip(sides, rows, strict=True):
        yield f"{side:9}" + "".join(f"{value:9}" for value in row)


def map_lines(target: str, layers: "Sequence[LayerCoding]") -> Iterator[str]:
    """Name the file of the map of these layers, and explain its colours and marks."""
    from mmpcodec.analysis.drawings.blocks import KINDS, MARKS, PALETTE
    from mmpcodec.analysis.drawings.file import outlined

    found = outlined(layers).values()
    predicted = any(isinstance(layer.tools, BlockTools) for layer in found)
    if predicted:
        yield f"blocks drawn in {target}; red lines are those of the fragments"
        yield from (f"{kind:>20}  {colour.name}" for kind, colour in KINDS.items())
    elif any(not layer.tools.lossless for layer in found):
        yield f"segmentation drawn in {target}"
    else:
        yield f"palette drawn in {target}"
    if any(layer.entries for layer in layers):
        yield f"{'palette':>20}  {PALETTE.name}"
    if predicted:
        yield from (f"{mode:>20}  {mark.name}" for mode, mark in MARKS.items())
