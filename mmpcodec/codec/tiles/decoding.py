"""Decoding of tiles: palettes and layers as tasks in threads, then the samples of each tile."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mmpcodec.backends.base import Backend
from mmpcodec.codec.borders import Fixed, fixed_of
from mmpcodec.codec.colour import joined
from mmpcodec.codec.levels import Levels
from mmpcodec.codec.palettes.layer import coding_of, decode_palette
from mmpcodec.codec.tile_coding import LayerCoding
from mmpcodec.errors import CorruptStream, FormatError
from mmpcodec.format import layers
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer, TileStream, depth_of
from mmpcodec.format.layouts import Layout
from mmpcodec.format.palette import Palette
from mmpcodec.format.tiles import Tile
from mmpcodec.reference.blocks.steps import steps_of
from mmpcodec.reference.colour import narrowed
from mmpcodec.reference.palette import PaletteSamples, drawn_over
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.progress import Progress, in_turn
from mmpcodec.runtime.tasks import Task, run_all


def described(tile: Tile, stream: TileStream, depth: int) -> list[LayerCoding]:
    """Describe the palette and the layers of a tile; ``depth`` is that of the picture."""
    return [
        coding_of(part, tile=tile.number)
        if isinstance(part, Palette)
        else LayerCoding.of(part, depth_of(part, stream.layout, depth), tile=tile.number)
        for part in stream.parts
    ]


class DecodedTile(NamedTuple):
    """A decoded tile.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        Without the border filter.
    layers : list of LayerCoding
    fixed : Fixed
        Pixels that the border filter leaves.
    """

    samples: np.ndarray
    layers: list[LayerCoding]
    fixed: Fixed


_DecodedLayer = tuple[np.ndarray, LayerCoding]
_DecodedPalette = tuple[PaletteSamples, LayerCoding]


def decode_tiles(
    streams: Sequence[tuple[Tile, TileStream]],
    header: Header,
    backend: Backend,
    threads: int | None,
    progress: Progress | None,
) -> list[DecodedTile | FormatError]:
    """Return the samples and layers of each tile, or its error."""
    found = _decoded_levels(streams, header.of_levels, backend, threads, progress)
    if not header.level_bits:
        return found
    levels = Levels.of(header)
    return [
        one if isinstance(one, FormatError) else one._replace(samples=levels.samples(one.samples))
        for one in found
    ]


def _decoded_levels(
    streams: Sequence[tuple[Tile, TileStream]],
    header: Header,
    backend: Backend,
    threads: int | None,
    progress: Progress | None,
) -> list[DecodedTile | FormatError]:
    """Return what ``decode_tiles`` does, with coded levels for samples."""
    rounds = _rounds([stream for _, stream in streams])
    found: list[list[_DecodedLayer | FormatError]] = [[] for _ in streams]
    palettes: dict[int, _DecodedPalette | FormatError] = {}

    def fragments(number: int) -> int:
        tile, stream = streams[number]
        planes = header.planes if stream.layout is Layout.TOGETHER else 1
        return planes * fragments_in((tile.height, tile.width))

    shares = [sum(fragments(number) for number, _ in each) for each in rounds]
    for jobs, part in zip(rounds, in_turn(progress, shares), strict=True):
        tasks = []
        for number, job in jobs:
            tile, stream = streams[number]
            run: Callable[[int | None, Progress], Any]
            if isinstance(job, Palette):
                run = partial(_decode_palette, backend, header, tile, job)
            else:
                earlier = found[number][: job.tools.cross_component]
                run = partial(_decode_layer, backend, header, tile, stream.layout, job, earlier)
            tasks.append(Task(run, fragments(number), aside=backend.releases_gil))
        for (number, job), one in zip(jobs, run_all(tasks, threads, part), strict=True):
            if isinstance(job, Palette):
                palettes[number] = one
            else:
                found[number].append(one)
    return [
        _joined(header, tile, stream, palettes.get(number), own, threads)
        for number, ((tile, stream), own) in enumerate(zip(streams, found, strict=True))
    ]


def _rounds(streams: Sequence[TileStream]) -> list[list[tuple[int, Palette | Layer]]]:
    """Return the palettes and layers, each with the number of its tile, in rounds.

    Those of a round can be decoded side by side. A layer that earlier planes predict, and all
    after it, come in a later round than the layers before it.
    """
    rounds: list[list[tuple[int, Palette | Layer]]] = []
    for number, stream in enumerate(streams):
        place = 0
        for part in stream.parts:
            place += part.tools.cross_component > 0
            while len(rounds) <= place:
                rounds.append([])
            rounds[place].append((number, part))
    return rounds


def _decode_layer(
    backend: Backend,
    header: Header,
    tile: Tile,
    layout: Layout,
    layer: Layer,
    earlier: Sequence[_DecodedLayer | FormatError],
    threads: int | None,
    progress: Progress,
) -> _DecodedLayer | FormatError:
    """Return the samples of a layer, or its error, or that of an earlier plane that predicts it."""
    before = []
    for one in earlier:
        if isinstance(one, FormatError):
            return one
        before.append(one[0])
    shape: tuple[int, ...] = tile.height, tile.width
    if layer.tools.lossless and layout is Layout.TOGETHER and header.planes > 1:
        shape = *shape, header.planes
    depth = depth_of(layer, layout, header.depth)
    payload = bytes(layer.payload)
    try:
        coded = backend.decode(
            payload,
            shape,
            layer.tools,
            depth=depth,
            earlier=before,
            threads=threads,
            progress=progress,
        )
    except FormatError as error:
        if header.planes == 1:
            return error
        return error.within(layer.name)
    samples, trace = coded.samples, coded.trace.with_filter(layer.filter_bits)
    if not layer.tools.lossless:
        samples = filtered(
            backend, samples, before, layer, depth, threads, changes=coded.trace.changes
        )
    return samples, LayerCoding.of(layer, depth, trace, backend.name, tile.number)


def _decode_palette(
    backend: Backend,
    header: Header,
    tile: Tile,
    palette: Palette,
    threads: int | None,
    progress: Progress,
) -> _DecodedPalette | FormatError:
    """Return the colours and numbers of a palette, or its error."""
    shape, count = (tile.height, tile.width), header.form.colours
    try:
        found, trace = decode_palette(
            backend, palette, shape, count, header.depth, threads, progress
        )
    except FormatError as error:
        return error
    return found, coding_of(palette, trace, backend.name, tile.number)


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


def _joined(
    header: Header,
    tile: Tile,
    stream: TileStream,
    palette: _DecodedPalette | FormatError | None,
    parts: Sequence[_DecodedLayer | FormatError],
    threads: int | None,
) -> DecodedTile | FormatError:
    """Return the samples of a tile, compared with their checksum, or the first error."""
    if isinstance(palette, FormatError):
        return palette
    good: list[_DecodedLayer] = []
    for part in parts:
        if isinstance(part, FormatError):
            return part
        good.append(part)
    samples = _of_layers(header, stream, [plane for plane, _ in good], threads)
    coded, drawn = [layer for _, layer in good], None
    if palette is not None:
        found, coding = palette
        samples = drawn_over(samples, found, coding.transparent, header.depth)
        drawn = found.drawn
        coded = [coding, *coded]
    assert samples is not None
    stored = header.samples_crc(stream.samples_crc)
    computed = header.samples_crc(layers.samples_crc(samples))
    if computed != stored:
        return CorruptStream(
            layers.SECTION,
            f"samples CRC is {stored.hex()}, the samples have {computed.hex()}",
            header.tile_offsets[tile.number] + header.crc_bytes[0],
        )
    return DecodedTile(samples, coded, fixed_of(stream, drawn))


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
