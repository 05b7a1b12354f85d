"""The choice of a palette for a tile.

A tile is first coded without a palette. Its cells of 16x16 pixels then have costs without a
palette; a trial with a palette gives the others. Where the palette is cheaper it draws, and the
layers below are coded again, without the pixels that are drawn. Decision 39 has measurements.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mmpcodec.backends.base import Backend, PlaneTask
from mmpcodec.codec.colour import split
from mmpcodec.codec.distortion import seen_pixels
from mmpcodec.codec.palettes.cells import cell_sums, colours_of, looks_drawn
from mmpcodec.codec.palettes.layer import coding_of
from mmpcodec.codec.palettes.search import Costs, PaletteSearch, PaletteTrial, form_of_effort
from mmpcodec.codec.tile_coding import LayerCoding, TileEncoding, TileSource, header_of_tile
from mmpcodec.codec.weighting.filling import filled
from mmpcodec.codec.weighting.tuned_errors import seen_cells
from mmpcodec.depth import extra_bits
from mmpcodec.format import layers
from mmpcodec.format.layers import Layer, TileStream
from mmpcodec.format.layouts import ALPHA, Layout
from mmpcodec.params import EYE, EncodeParams
from mmpcodec.reference.palette import drawn_over
from mmpcodec.runtime.progress import OpenProgress, Progress


def tries_palettes(candidates: Sequence[EncodeParams]) -> bool:
    """Return whether any tile may get a palette.

    Without loss and with a maximal error, whole pixels that repeat are as good; decision 83 has
    measurements.
    """
    params = candidates[0]
    lossless = params.lam == 0 or all(candidate.tools.lossless for candidate in candidates)
    return params.palette and not lossless


def may_have_palette(tile: TileSource) -> bool:
    """Return whether a palette is tried on a tile: if it looks drawn and has no importance."""
    return tile.roi is None and looks_drawn(tile.on_host, tile.depth)


def chosen_palette(
    tile: TileSource,
    found: TileEncoding,
    candidates: Sequence[EncodeParams],
    backend: Backend,
    threads: int | None,
    progress: Progress | None = None,
) -> PaletteTrial | None:
    """Return the best palette of a tile, or None if none pays.

    ``found`` is the tile without a palette; ``backend`` codes lossless samples. See
    ``encode_tiles`` for the other parameters.

    Raises
    ------
    Cancelled
        When the callback returns False.
    """
    parts, params = OpenProgress(progress), candidates[0]
    trial = _trial(tile, found, params, backend, threads, parts)
    parts.end()
    return trial


def _trial(
    tile: TileSource,
    found: TileEncoding,
    params: EncodeParams,
    backend: Backend,
    threads: int | None,
    parts: OpenProgress,
) -> PaletteTrial | None:
    """Return the palette of the least cost with the layers below it, or None if none pays."""
    seen = seen_pixels(tile.on_host)
    colours = colours_of(tile.on_host if seen is None else filled(tile.on_host, seen))
    rates = []
    for layer in found.layers:
        if layer.name != ALPHA:
            if layer.trace is None or layer.trace.cell_rates is None:
                return None
            rates.append(layer.trace.cell_rates)
    costs = Costs(params.lambda_fixed, colours.shape[2], tile.depth)
    errors = _errors_below(tile, found, params, colours, seen, backend, threads)
    below = costs(errors, np.sum(rates, axis=0))
    # Layers below a palette have losses. Cells that cost little among lossless ones say nothing.
    whole = all(layer.tools.lossless for layer in found.layers)
    search = PaletteSearch(colours, tile.depth, costs, below, whole, backend, threads, parts)
    chosen = search.find(params.effort)
    return None if chosen is None else search.best_order(*chosen, params.effort)


def _errors_below(
    tile: TileSource,
    found: TileEncoding,
    params: EncodeParams,
    colours: np.ndarray,
    seen: NDArray[np.bool_] | None,
    backend: Backend,
    threads: int | None,
) -> NDArray[np.int64]:
    """Return the errors of cells without a palette, sums over the colours."""
    if params.tune == EYE and found.layers[0].tools.quantisation_matrix:
        scale = colours.shape[2] * 4.0 ** extra_bits(tile.depth)
        errors = seen_cells(tile, found.samples, params, backend, threads)
        return np.rint(errors * scale).astype(np.int64)
    difference = colours.astype(np.int64) - colours_of(found.samples)
    errors = (difference * difference).sum(axis=2)
    if seen is not None:
        errors[~seen] = 0
    return cell_sums(errors)


def with_palette(
    tile: TileSource,
    trial: PaletteTrial,
    found: TileEncoding,
    below: TileEncoding | None,
    candidates: Sequence[EncodeParams],
    backend: Backend,
    threads: int | None,
) -> TileEncoding:
    """Return a tile with a palette over the tile ``below``; None if no pixel is transparent.

    See ``chosen_palette`` for the other parameters.
    """
    header, palette = header_of_tile(tile, candidates), trial.palette
    samples, codings = None, [coding_of(palette, trial.trace, backend.name)]
    if below is not None:
        stream, samples, codings = below.stream, below.samples, [*codings, *below.layers]
    elif header.form.has_alpha:
        layer, coding = _alpha(tile, found, candidates[0].effort, backend, threads)
        stream = TileStream(Layout.APART, (layer,), 0)
        samples, codings = tile.on_host[..., -1:], [*codings, coding]
    else:
        stream = TileStream(Layout.APART if header.form else Layout.TOGETHER, (), 0)
    samples = drawn_over(samples, trial.samples, palette.transparent, tile.depth)
    stream = replace(stream, samples_crc=layers.samples_crc(samples), palette=palette)
    data = layers.write(
        header, stream.layout, stream.layers, stream.samples_crc, stream.rotation, palette
    )
    return replace(found, data=data, samples=samples, layers=tuple(codings), stream=stream)


def _alpha(
    tile: TileSource, found: TileEncoding, effort: int, backend: Backend, threads: int | None
) -> tuple[Layer, LayerCoding]:
    """Return the layer of alpha, coded anew if the tile has all planes together."""
    for layer, coding in zip(found.stream.layers, found.layers, strict=True):
        if layer.name == ALPHA:
            return layer, coding
    tools, depth = form_of_effort(effort), Layout.APART.depth_of(ALPHA, tile.depth)
    plane = split(tile.on_host, tile.depth, Layout.APART)[-1]
    task = PlaneTask(plane, EncodeParams(tools=tools), depth)
    coded = backend.encode(task, threads=threads)
    layer = Layer(ALPHA, tools, coded.payload)
    return layer, LayerCoding.of(layer, depth, coded.trace.with_filter(0), backend.name)
