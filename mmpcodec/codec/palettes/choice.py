"""The choice of a palette for a tile.

A tile is first coded without a palette. Its cells of 16x16 pixels then have costs without a
palette; a trial with a palette gives the others. Where the palette is cheaper it draws, and the
layers below are coded again, without the pixels that are drawn. Decision 39 has measurements.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mmpcodec.backends.base import Backend
from mmpcodec.codec.classification import strips_of
from mmpcodec.codec.colour import split
from mmpcodec.codec.distortion import seen_pixels
from mmpcodec.codec.encoding import LayerCoding
from mmpcodec.codec.palette_layer import coding_of, drawn_over
from mmpcodec.codec.palettes.cells import LOOKED_AT, cell_sums, colours_of, looks_drawn
from mmpcodec.codec.palettes.colours import Histogram
from mmpcodec.codec.palettes.search import Costs, PaletteSearch, PaletteTrial, form_of_effort
from mmpcodec.codec.tile_coding import TileEncoding, TileSource, header_of_tile
from mmpcodec.codec.weighting.filling import filled
from mmpcodec.codec.weighting.tuned_errors import error_of, seen_cells
from mmpcodec.depth import extra_bits
from mmpcodec.format import layers
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer, TileStream
from mmpcodec.format.layouts import ALPHA, Layout
from mmpcodec.params import EYE, EncodeParams
from mmpcodec.reference.lossless.planes import to_planes
from mmpcodec.runtime.progress import OpenProgress, Progress
from mmpcodec.samples import Form

CodeBelow = Callable[[TileSource, Progress], TileEncoding]
MOST_LOSSLESS = 1024
"""Most colours of a palette without loss; the time to order them grows with their square."""


def may_have_palette(tile: TileSource) -> bool:
    """Return whether a palette is tried on a tile: if it looks drawn and has no importance."""
    return tile.roi is None and looks_drawn(tile.on_host, tile.depth)


def with_palette(
    tile: TileSource,
    found: TileEncoding,
    candidates: Sequence[EncodeParams],
    backend: Backend,
    threads: int | None,
    code_below: CodeBelow,
    progress: Progress | None = None,
) -> TileEncoding:
    """Return a tile with a palette if that costs less, or the tile as it was found.

    Parameters
    ----------
    tile : TileSource
    found : TileEncoding
        The tile coded without a palette.
    candidates : sequence of EncodeParams
        As in ``encode_tiles``.
    backend : Backend
        Codes lossless samples.
    threads : int or None
    code_below : callable
        Codes the layers of a tile whose hidden pixels do not count, and reports its progress.
    progress : callable or None
        See ``encode``.

    Raises
    ------
    Cancelled
        When the callback returns False.
    """
    parts = OpenProgress(progress)
    header = header_of_tile(tile, candidates)
    coded = _CodedTile(tile, header, found, candidates[0], backend, threads, parts)
    if candidates[0].lam == 0 or all(candidate.tools.lossless for candidate in candidates):
        made = coded.with_all_colours()
    else:
        made = coded.with_best_palette(code_below)
    parts.end()
    return found if made is None else min(found, made, key=coded.cost)


@dataclass(frozen=True)
class _CodedTile:
    """A tile that is coded without a palette; see ``with_palette``."""

    source: TileSource
    header: Header
    found: TileEncoding
    params: EncodeParams
    backend: Backend
    threads: int | None
    progress: OpenProgress

    def cost(self, made: TileEncoding) -> tuple[float, int]:
        """Return the rate-distortion cost of a tile, then its bytes."""
        size = len(made.data)
        error = error_of(self.source, made.samples, self.params)
        return error + self.params.lam * 8 * size, size

    def with_all_colours(self) -> TileEncoding | None:
        """Return a tile whose colours are all in a palette, or None if there are too many."""
        colours = colours_of(self.source.on_host)
        # Lossless samples name the levels of a gray plane themselves.
        if colours.shape[2] == 1:
            return None
        height, width = colours.shape[:2]
        rows = strips_of(height, width, LOOKED_AT)
        some = Histogram.of(colours[rows].reshape(-1, colours.shape[2]))
        if len(some.colours) > MOST_LOSSLESS:
            return None
        costs = Costs(0, colours.shape[2], self.source.depth)
        search = self._search(colours, costs, np.zeros((1, 1), np.int64))
        if len(search.histogram.colours) > MOST_LOSSLESS:
            return None
        drawn = np.ones(colours.shape[:2], bool)
        trial = search.best_order(search.histogram.colours, drawn, self.params.effort)
        return self._made(trial, None)

    def with_best_palette(self, code_below: CodeBelow) -> TileEncoding | None:
        """Return a tile with the best palette that is found, or None if none pays."""
        seen = seen_pixels(self.source.on_host)
        source = self.source.on_host if seen is None else filled(self.source.on_host, seen)
        colours = colours_of(source)
        costs = Costs(self.params.lambda_fixed, colours.shape[2], self.source.depth)
        rates = []
        for layer in self.found.layers:
            if layer.name != ALPHA:
                if layer.trace is None or layer.trace.cell_rates is None:
                    return None
                rates.append(layer.trace.cell_rates)
        below = costs(self._errors_below(colours, seen), np.sum(rates, axis=0))
        search = self._search(colours, costs, below)
        chosen = search.find(self.params.effort)
        if chosen is None:
            return None
        palette, drawn = chosen
        trial = search.best_order(palette, drawn, self.params.effort)
        below_it = None
        if trial.palette.transparent:
            hidden = drawn if seen is None else drawn | ~seen
            below_it = code_below(replace(self.source, hidden=hidden), self.progress.part())
        return self._made(trial, below_it)

    def _errors_below(
        self, colours: np.ndarray, seen: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """Return the errors of cells without a palette, sums over the colours."""
        source, samples = self.source, self.found.samples
        luma = self.found.layers[0].tools
        if self.params.tune == EYE and luma.quantisation_matrix:
            scale = colours.shape[2] * 4.0 ** extra_bits(source.depth)
            return np.rint(seen_cells(source, samples, self.params) * scale).astype(np.int64)
        difference = colours.astype(np.int64) - colours_of(samples)
        errors = (difference * difference).sum(axis=2)
        if seen is not None:
            errors[~seen] = 0
        return cell_sums(errors)

    def _search(self, colours: np.ndarray, costs: Costs, below: NDArray[np.int64]) -> PaletteSearch:
        depth = self.source.depth
        return PaletteSearch(
            colours, depth, costs, below, self.backend, self.threads, self.progress
        )

    def _made(self, trial: PaletteTrial, below: TileEncoding | None) -> TileEncoding:
        """Return a tile with a palette, over the layers below it if there are any."""
        form, palette = self.header.form, trial.palette
        coding = coding_of(palette, trial.trace, self.backend.name)
        if below is None:
            layout = Layout.TOGETHER if form is Form.GRAY else Layout.APART
            stream = TileStream(layout, (), 0)
            codings: tuple[LayerCoding, ...] = ()
            if form.has_alpha:
                layer, alpha_coding = self._alpha()
                stream, codings = replace(stream, layers=(layer,)), (alpha_coding,)
            samples = self.source.on_host[..., -1:] if form.has_alpha else None
        else:
            stream, codings, samples = below.stream, below.layers, below.samples
        samples = drawn_over(samples, trial.samples, palette.transparent, self.source.depth)
        crc = layers.samples_crc(samples)
        stream = replace(stream, samples_crc=crc, palette=palette)
        data = layers.write(
            self.header, stream.layout, stream.layers, crc, stream.rotation, palette
        )
        return TileEncoding(
            data, samples, (coding, *codings), self.found.costs, self.found.used, stream
        )

    def _alpha(self) -> tuple[Layer, LayerCoding]:
        """Return the layer of alpha, coded anew if the tile has all planes together."""
        for layer, coding in zip(self.found.stream.layers, self.found.layers, strict=True):
            if layer.name == ALPHA:
                return layer, coding
        tools = form_of_effort(self.params.effort)
        depth = Layout.APART.depth_of(ALPHA, self.source.depth)
        plane = split(self.source.on_host, self.source.depth, Layout.APART)[-1].samples
        payload, _, trace = self.backend.encode_lossless(
            to_planes(plane), depth, tools.form, threads=self.threads
        )
        coding = LayerCoding(
            ALPHA,
            tools,
            len(payload),
            trace=trace.with_filter(0),
            backend=self.backend.name,
            depth=depth,
        )
        return Layer(ALPHA, tools, payload), coding
