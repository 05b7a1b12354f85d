"""Decoding of tiles: by one call of a backend that decodes tiles, otherwise layer by layer."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from mmpcodec.backends.base import Backend
from mmpcodec.backends.tiles import TileFault, TilesTask, TileTask, TileTraces
from mmpcodec.codec import kept_jpeg
from mmpcodec.codec.borders import drawn_mask
from mmpcodec.codec.colour import joined
from mmpcodec.codec.levels import Levels
from mmpcodec.codec.palettes.layer import coding_of, decode_palette, error_of, trace_of
from mmpcodec.codec.tile_coding import LayerCoding, source_of
from mmpcodec.codec.tiles.chains import Chain, ChainPage
from mmpcodec.errors import CorruptStream, FormatError, TruncatedStream
from mmpcodec.format import layers
from mmpcodec.format.container import Header
from mmpcodec.format.jpeg import KeptJpeg
from mmpcodec.format.layers import Layer, TileStream, depth_of
from mmpcodec.format.layouts import Layout
from mmpcodec.format.palette import Palette
from mmpcodec.format.tiles import Area, Tile
from mmpcodec.reference.blocks.steps import steps_of
from mmpcodec.reference.colour import narrowed
from mmpcodec.reference.palette import PaletteSamples, drawn_over
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.progress import Progress, in_turn, report_progress
from mmpcodec.trace import Trace


class TilePlace(NamedTuple):
    """A tile to decode, and where its samples go.

    Parameters
    ----------
    tile : Tile
    stream : TileStream
    samples : (H, W) or (H, W, C) array
        Receives the samples of a part of the tile, or zeros if the tile is damaged.
    first : (int, int)
        Row and column of the first pixel of this part in the tile.
    drawn : (H, W) bool array or None
        Receives which pixels of the whole tile its palette draws.
    """

    tile: Tile
    stream: TileStream
    samples: np.ndarray
    first: tuple[int, int] = (0, 0)
    drawn: np.ndarray | None = None

    @classmethod
    def within(
        cls, samples: np.ndarray, area: Area, tile: Tile, stream: TileStream, header: Header
    ) -> "TilePlace":
        """Return the place of a tile in the samples of an area that it touches."""
        common = tile.common(area)
        assert common is not None
        first = common.within(tile)
        part, drawn = samples[common.within(area).slices], drawn_mask(header, tile, stream)
        return cls(tile, stream, part, (first.y, first.x), drawn)


def described(tile: Tile, stream: TileStream, depth: int) -> list[LayerCoding]:
    """Describe the palette and the layers of a tile; ``depth`` is that of the picture."""
    return _codings(tile, stream, depth, [None] * len(stream.parts))


def _codings(
    tile: Tile,
    stream: TileStream,
    depth: int,
    traces: Sequence[Trace | None],
    backend: str = "",
) -> list[LayerCoding]:
    """Describe the parts of a tile with their traces."""
    return [
        kept_jpeg.coding_of(part, backend, tile.number)
        if isinstance(part, KeptJpeg)
        else coding_of(part, trace, backend, tile.number)
        if isinstance(part, Palette)
        else LayerCoding.of(
            part,
            depth_of(part, stream.layout, depth),
            trace and trace.with_filter(part.filter_bits),
            backend,
            tile.number,
            source_of(part, (tile.height, tile.width), depth),
        )
        for part, trace in zip(stream.parts, traces, strict=True)
    ]


def decode_tiles(
    places: Sequence[TilePlace],
    header: Header,
    backend: Backend,
    threads: int | None,
    progress: Progress | None,
    *,
    chain: Chain | None = None,
    traced: bool = False,
) -> list[list[LayerCoding] | FormatError]:
    """Decode tiles to their places.

    With a chain, the picture is one tile that continues it.

    Returns
    -------
    list
        The palette and the layers of each tile, none without ``traced``, or its error.
    """
    if places and places[0].stream.jpeg is not None:  # which is the only tile of its picture
        return [_decode_jpeg(header, places[0], backend, threads, progress, traced=traced)]
    if backend.decodes_tiles and chain is None:
        task = tiles_task(places, header, traced)
        decoded = backend.decode_tiles(task, threads=threads, progress=progress)
        return found_in_tiles(places, header, backend, decoded)
    shares = [_share(header, *place[:2]) for place in places]
    found: list[list[LayerCoding] | FormatError] = []
    for place, part in zip(places, in_turn(progress, shares), strict=True):
        try:
            samples, coded = _decode_tile(header, place, backend, threads, part, chain)
        except FormatError as error:
            place.samples[...] = 0
            found.append(error)
            continue
        (row, column), (height, width) = place.first, place.samples.shape[:2]
        place.samples[...] = samples[row : row + height, column : column + width]
        found.append(coded if traced else [])
    return found


def tiles_task(places: Sequence[TilePlace], header: Header, traced: bool) -> TilesTask:
    """Return tiles as a backend takes them that decodes whole tiles."""
    tasks = [
        TileTask(stream, (tile.height, tile.width), samples, first, drawn)
        for tile, stream, samples, first, drawn in places
    ]
    return TilesTask(header, tasks, traced)


def found_in_tiles(
    places: Sequence[TilePlace],
    header: Header,
    backend: Backend,
    decoded: Sequence[TileFault | TileTraces],
) -> list[list[LayerCoding] | FormatError]:
    """Return what ``decode_tiles`` returns for what a backend found in whole tiles."""
    return [
        _error_of(header, place, one)
        if isinstance(one, TileFault)
        else _with_traces(header, place, one, backend.name)
        for place, one in zip(places, decoded, strict=True)
    ]


def _decode_jpeg(
    header: Header,
    place: TilePlace,
    backend: Backend,
    threads: int | None,
    progress: Progress | None,
    *,
    traced: bool,
) -> list[LayerCoding] | FormatError:
    """Decode the tile of a kept JPEG file to its place."""
    (tile, stream, shown, (row, column), _), (height, width) = place, place.samples.shape[:2]
    try:
        file = kept_jpeg.file_of(stream, header, backend=backend.name, threads=threads)
        samples = kept_jpeg.samples_of(file, header)
    except FormatError as error:
        shown[...] = 0
        return error
    shown[...] = samples[row : row + height, column : column + width]
    report_progress(progress, 1, 1)
    return _codings(tile, stream, header.depth, [None], backend.name) if traced else []


def _error_of(header: Header, place: TilePlace, fault: TileFault) -> FormatError:
    """Return the error of a tile for what a backend found."""
    tile, stream, *_ = place
    if fault.part == "checksum":
        return _wrong_samples(header, tile, stream.samples_crc, fault.crc)
    error: FormatError = (TruncatedStream if fault.truncated else CorruptStream)(
        fault.section, fault.text
    )
    if fault.part == "layer":
        return _of_layer(header, stream.layers[fault.layer], error)
    assert stream.palette is not None
    return error_of(stream.palette, fault.part, error)


def _with_traces(
    header: Header, place: TilePlace, traces: Sequence[Trace], backend: str
) -> list[LayerCoding]:
    """Describe a tile with the traces of its streams; none without traces."""
    tile, stream, *_ = place
    if not traces:
        return []
    if stream.palette is not None:
        of_colours, of_numbers, *others = traces
        traces = [trace_of(of_colours, of_numbers), *others]
    return _codings(tile, stream, header.level_depth, traces, backend)


def _share(header: Header, tile: Tile, stream: TileStream) -> int:
    """Return the number of fragments of the palette and of all layers of a tile."""
    planes = header.planes if stream.layout is Layout.TOGETHER else 1
    of_parts = planes * len(stream.layers) + (stream.palette is not None)
    return of_parts * fragments_in((tile.height, tile.width))


def _decode_tile(
    header: Header,
    place: TilePlace,
    backend: Backend,
    threads: int | None,
    progress: Progress,
    chain: Chain | None,
) -> tuple[np.ndarray, list[LayerCoding]]:
    """Return the samples of a tile, and its palette and layers.

    Raises
    ------
    FormatError
        The first error in the order of the parts of the tile.
    """
    (tile, stream, *_), levels = place, header.of_levels
    steps: Iterator[Progress] = in_turn(progress, [1] * len(stream.parts))
    traces: list[Trace | None] = []
    drawn: PaletteSamples | None = None
    if stream.palette is not None:
        shape, colours = (tile.height, tile.width), header.form.colours
        drawn, trace = decode_palette(
            backend, stream.palette, shape, colours, levels.depth, threads, next(steps)
        )
        traces.append(trace)
    planes: list[np.ndarray] = []
    if chain is not None:
        page = chain.fitting(ChainPage(header, stream))
        coded = chain.decoded(backend, page, next(steps))
        planes.append(coded.samples)
        traces.append(coded.trace)
    for layer in stream.layers[len(planes) :]:
        samples, trace = _decode_layer(
            backend, levels, tile, stream.layout, layer, planes, threads, next(steps)
        )
        planes.append(samples)
        traces.append(trace)
    shown = _of_layers(levels, stream, planes, threads)
    if drawn is not None:
        assert stream.palette is not None
        shown = drawn_over(shown, drawn, stream.palette.transparent, levels.depth)
        if place.drawn is not None:
            place.drawn[...] = drawn.drawn
    assert shown is not None
    computed = layers.samples_crc(shown)
    if header.samples_crc(computed) != header.samples_crc(stream.samples_crc):
        raise _wrong_samples(header, tile, stream.samples_crc, computed)
    codings = _codings(tile, stream, levels.depth, traces, backend.name)
    return Levels.of(header).samples(shown), codings


def _decode_layer(
    backend: Backend,
    header: Header,
    tile: Tile,
    layout: Layout,
    layer: Layer,
    earlier: Sequence[np.ndarray],
    threads: int | None,
    progress: Progress,
) -> tuple[np.ndarray, Trace]:
    """Return the filtered samples of a layer, and its trace."""
    before = earlier[: layer.tools.cross_component]
    shape: tuple[int, ...] = tile.height, tile.width
    if layer.tools.lossless and layout is Layout.TOGETHER and header.planes > 1:
        shape = *shape, header.planes
    depth = depth_of(layer, layout, header.depth)
    try:
        coded = backend.decode(
            bytes(layer.payload),
            shape,
            layer.tools,
            depth=depth,
            earlier=before,
            threads=threads,
            progress=progress,
        )
    except FormatError as error:
        raise _of_layer(header, layer, error) from None
    samples = coded.samples
    if not layer.tools.lossless:
        samples = filtered(
            backend, samples, before, layer, depth, threads, changes=coded.trace.changes
        )
    return samples, coded.trace


def filtered(
    backend: Backend,
    samples: np.ndarray,
    earlier: Sequence[np.ndarray],
    layer: Layer,
    depth: int,
    threads: int | None = 1,
    *,
    changes: np.ndarray | None = None,
) -> np.ndarray:
    """Filter the decoded samples of a layer: by fixed filters, post filter and cross-component
    filter.

    ``earlier`` are the planes that predict it, ``changes`` the delta step of its fragments.
    """
    bank, steps = layer.tools.fixed_filters or 0, steps_of(layer.tools, changes)
    samples = backend.fixed_filters.apply(samples, bank, steps, depth, threads=threads)
    samples = backend.post_filter.apply(samples, layer.coefficients, depth, threads=threads)
    coefficients = layer.cross_component_coefficients
    return backend.cross_component_filter.apply(
        samples, earlier, coefficients, depth, threads=threads
    )


def _of_layers(
    header: Header, stream: TileStream, planes: list[np.ndarray], threads: int | None
) -> np.ndarray | None:
    """Return the samples of the layers: of alpha alone, or None, below a palette without
    transparent pixels."""
    if stream.palette is not None and not stream.palette.transparent:
        return narrowed(planes[0], header.depth) if planes else None
    if stream.layout is Layout.TOGETHER and stream.layers[0].tools.lossless:
        return planes[0]
    form, layout, rotation = header.form, stream.layout, stream.rotation
    return joined(planes, form, header.depth, layout, rotation, threads=threads)


def _of_layer(header: Header, layer: Layer, error: FormatError) -> FormatError:
    """Return the error of a layer; it names the layer if the picture has several planes."""
    return error if header.planes == 1 else error.within(layer.name)


def _wrong_samples(header: Header, tile: Tile, stored: int, computed: int) -> CorruptStream:
    """Return the error of samples whose CRC differs from the stored one."""
    found, wanted = header.samples_crc(computed).hex(), header.samples_crc(stored).hex()
    return CorruptStream(
        layers.SECTION,
        f"samples CRC is {wanted}, the samples have {found}",
        header.tile_offsets[tile.number] + header.crc_bytes[0],
    )
