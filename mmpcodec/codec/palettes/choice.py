"""The choice of a palette for a tile: which pixels it draws, with how many colours.

A tile is first coded without a palette. Its cells of 16x16 pixels then have costs without a
palette; a trial with a palette gives the others. Where the palette is cheaper it draws, and the
layers below are coded again, without the pixels that are drawn. Decision 39 has measurements.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mmpcodec.backends.base import Backend
from mmpcodec.codec.colour import split
from mmpcodec.codec.distortion import distortion, seen_pixels
from mmpcodec.codec.encoding import LayerCoding
from mmpcodec.codec.importance import filled
from mmpcodec.codec.palette_layer import NAME, PaletteSamples, drawn_over, encode_palette
from mmpcodec.codec.palettes.area import cells_drawn
from mmpcodec.codec.palettes.colours import Colours, Drawing, Histogram
from mmpcodec.codec.palettes.order import WAYS, beside, order_of
from mmpcodec.codec.tile_coding import TileEncoding, TileSource, header_of_tile
from mmpcodec.depth import extra_bits, most
from mmpcodec.format import layers
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer, TileStream
from mmpcodec.format.layouts import ALPHA, Layout
from mmpcodec.format.palette import Palette
from mmpcodec.params import EncodeParams
from mmpcodec.reference.exact.planes import to_planes
from mmpcodec.samples import Form, form_of
from mmpcodec.tools import DRAFT, PRESETS, Tools, in_version
from mmpcodec.trace import Trace

CELL = 16
"""Side of a cell in pixels."""
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Numbers of colours that are tried."""
USUAL_SIZE, AT_BITS = 7, 21
"""Place of the usual number of colours in ``SIZES``, and the digits of lambda that it suits."""
FEW_COLOURS = 48
"""Cells with at most so many colours choose those of the first trial."""
EQUAL_SHARE, LEAST_REACH = 2, 8
"""A cell looks drawn if one of so many samples equals the sample before in its row, and the largest
difference of two samples is at least white divided by so many."""
LEAST_CELLS = 64
"""A palette is tried if one of so many cells looks drawn."""
EDGE_RATE = 64 << 12
"""Rate of an edge, one cell long, of what a palette draws, in 2**-12 bit."""
ERROR_BITS, RATE_BITS = 16, 12
"""Fractions of costs and of rates, in bits."""
MOST_COST = 1 << 42
SAMPLE_ROWS, SAMPLED = 64, 1 << 18
"""Rows of a strip, and about how many pixels in strips show whether a picture looks drawn."""
WIDE_EFFORT = 4
"""Effort from which all orders of colours are tried, and more strips."""
COMPARED = {1: 1 << 18, WIDE_EFFORT: 1 << 20}
"""About how many pixels in strips are coded to compare numbers of colours, from an effort on."""
MOST_LOSSLESS = 1024
"""Most colours of a palette without loss; the time to order them grows with their square."""


def looks_drawn(samples: np.ndarray, depth: int) -> bool:
    """Return whether text or flat drawings may fill a part of a tile; photographs rarely look so.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
    depth : int
        Bits per sample.
    """
    part = _colours_of(samples)[_strips(*samples.shape[:2])].astype(np.int32)
    equal = np.ones(part.shape[:2], bool)
    equal[:, 1:] = (part[:, 1:] == part[:, :-1]).all(axis=2)
    counts, sizes = cell_sums(equal), cell_sums(np.ones(equal.shape, bool))
    reach = _by_cells(np.maximum, part) - _by_cells(np.minimum, part)
    drawn = (EQUAL_SHARE * counts >= sizes) & (LEAST_REACH * reach.max(axis=2) >= most(depth))
    return int(drawn.sum()) * LEAST_CELLS >= drawn.size


def _strips(height: int, width: int, pixels: int = SAMPLED) -> NDArray[np.int64]:
    """Return the rows of a picture, or of strips of a large one, evenly spaced."""
    strips, taken = height // SAMPLE_ROWS, max(1, pixels // (SAMPLE_ROWS * width))
    if strips <= taken:
        return np.arange(height)
    first = np.arange(taken) * strips // taken * SAMPLE_ROWS
    return (first[:, None] + np.arange(SAMPLE_ROWS)).reshape(-1)


def cell_sums(values: np.ndarray) -> NDArray[np.int64]:
    """Sum an (H, W) array over cells."""
    return _by_cells(np.add, values.astype(np.int64))


def _by_cells(reduce: np.ufunc, values: np.ndarray) -> np.ndarray:
    """Reduce an array to one value for each cell."""
    rows = reduce.reduceat(values, np.arange(0, values.shape[0], CELL), axis=0)
    return reduce.reduceat(rows, np.arange(0, values.shape[1], CELL), axis=1)


def pixels_of(cells: NDArray[np.bool_], shape: Sequence[int]) -> NDArray[np.bool_]:
    """Return the pixels of cells."""
    return cells.repeat(CELL, 0).repeat(CELL, 1)[: shape[0], : shape[1]]


def few_colours(places: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return the cells with few colours, from the number of the colour of each pixel."""
    height, width = places.shape
    whole = np.pad(places, ((0, -height % CELL), (0, -width % CELL)), mode="edge")
    rows, columns = (side // CELL for side in whole.shape)
    cells = np.sort(
        whole.reshape(rows, CELL, columns, CELL).swapaxes(1, 2).reshape(rows, columns, -1), axis=2
    )
    return np.count_nonzero(cells[..., 1:] != cells[..., :-1], axis=2) < FEW_COLOURS


def form_of_effort(effort: int) -> Tools:
    """Return the tools of exact samples 2 that code numbers at an effort."""
    return in_version(PRESETS["exact"], DRAFT, effort)


@dataclass(frozen=True)
class _Costs:
    """Rate-distortion costs of cells, integers in 2**-16 squared error of 8-bit samples."""

    lambda_fixed: int
    colours: int
    depth: int

    def __call__(self, errors: NDArray[np.int64], rates: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the costs of squared errors, sums over the colours, and rates in 2**-12 bit."""
        cost = (errors << self.shift) // self.colours + (self.lambda_fixed * rates >> RATE_BITS)
        return np.minimum(cost, MOST_COST)

    def of_all(self, trial: "_Trial") -> int:
        """Return the cost of a trial; it can exceed 64 bits."""
        error = (int(trial.errors.sum()) << self.shift) // self.colours
        return error + self.lambda_fixed * 8 * len(trial.palette.payload)

    @property
    def shift(self) -> int:
        """Binary logarithm of the cost of a squared error of one level; 0 with 16 bits."""
        return ERROR_BITS - 2 * extra_bits(self.depth)

    @property
    def edge(self) -> int:
        return min(self.lambda_fixed * EDGE_RATE >> RATE_BITS, MOST_COST)


@dataclass(frozen=True)
class _Trial:
    """Pixels coded with a palette: the coded form, and squared errors of pixels."""

    palette: Palette
    trace: Trace
    samples: PaletteSamples
    errors: NDArray[np.int64]


class _Search:
    """The search for the palette of a tile.

    Parameters
    ----------
    samples : (H, W, C) array
        Colours of the tile.
    depth : int
    costs : _Costs
    below : (R, C) int64 array
        Cost of each cell without a palette.
    backend : Backend
        Codes exact samples.
    threads : int or None
    """

    def __init__(
        self,
        samples: np.ndarray,
        depth: int,
        costs: _Costs,
        below: NDArray[np.int64],
        backend: Backend,
        threads: int | None,
    ):
        self.samples, self.depth, self.costs, self.below = samples, depth, costs, below
        self.backend, self.threads = backend, threads

    @cached_property
    def histogram(self) -> Histogram:
        """The different colours of the tile."""
        return Histogram.of(self.samples.reshape(-1, self.samples.shape[2]))

    def coded(
        self,
        palette: Colours,
        drawn: NDArray[np.bool_] | None,
        tools: Tools,
        way: int = 0,
        rows: NDArray[np.int64] | None = None,
    ) -> _Trial:
        """Code pixels with a palette; those that are not drawn are clear. None draws all."""
        shape = self.samples.shape[:2]
        drawing = Drawing(palette, self.histogram)
        numbers, errors = (each.reshape(shape) for each in (drawing.numbers, drawing.errors))
        all_drawn = np.ones(shape, bool) if drawn is None else drawn
        order = order_of(palette, beside(numbers, all_drawn, len(palette)), WAYS[way])
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        clear = not all_drawn.all()
        numbers = np.where(all_drawn, places[numbers], len(palette))
        errors = np.where(all_drawn, errors, 0)
        if rows is not None:
            numbers, errors = numbers[rows], errors[rows]
        samples = PaletteSamples(palette[order].astype(np.uint16), numbers.astype(np.uint16))
        coded, trace = encode_palette(
            self.backend,
            *samples,
            clear,
            self.depth,
            tools,
            self.threads,
            None,
        )
        return _Trial(coded, trace, samples, errors)

    def cells(self, trial: _Trial) -> NDArray[np.bool_]:
        """Return the cells that a palette draws best, from a trial that draws all."""
        assert trial.trace.cell_rates is not None
        drawn = self.costs(cell_sums(trial.errors), trial.trace.cell_rates)
        return cells_drawn(drawn, self.below, self.costs.edge)

    def find(self, effort: int) -> tuple[Colours, NDArray[np.bool_]] | None:
        """Return the colours of the best palette and the pixels that it draws, if any."""
        shape = self.samples.shape[:2]
        tools = form_of_effort(effort)
        few = few_colours(self.histogram.places.reshape(shape))
        if not few.any():
            return None
        digits = self.costs.lambda_fixed.bit_length()
        place = min(max(0, USUAL_SIZE - (digits - AT_BITS) // 2), len(SIZES) - 1)
        palette, place = self._sized(pixels_of(few, shape), place, effort)
        cells = self.cells(self.coded(palette, None, tools))
        if not cells.any():
            return None
        palette, _ = self._sized(pixels_of(cells, shape), place, effort)
        cells = self.cells(self.coded(palette, None, tools))
        return (palette, pixels_of(cells, shape)) if cells.any() else None

    def _sized(self, drawn: NDArray[np.bool_], place: int, effort: int) -> tuple[Colours, int]:
        """Return the palette of the best number of colours for pixels, and its place in ``SIZES``.

        The search climbs from a place.
        """
        clusters = self.histogram.clusters(drawn.reshape(-1))
        tools = form_of_effort(effort)
        pixels = COMPARED[max(least for least in COMPARED if least <= effort)]
        height, width = drawn.shape
        rows = _strips(height, width, pixels)
        palettes: dict[int, Colours] = {}
        found: dict[int, int] = {}

        def cost(place: int) -> int:
            if place not in found:
                palettes[place] = clusters.palette(SIZES[place])
                trial = self.coded(palettes[place], drawn, tools, rows=rows)
                found[place] = self.costs.of_all(trial)
            return found[place]

        while True:
            # Nearer ones first, so that they are taken among equals.
            near = (place + step for step in (0, -1, 1, -2, 2))
            best = min((one for one in near if 0 <= one < len(SIZES)), key=cost)
            if best == place:
                return palettes[place], place
            place = best

    def best_order(self, palette: Colours, drawn: NDArray[np.bool_], effort: int) -> _Trial:
        """Return the smallest coded form of pixels that a palette draws."""
        ways = range(len(WAYS) if effort >= WIDE_EFFORT else 1)
        trials = [self.coded(palette, drawn, form_of_effort(effort), way) for way in ways]
        return min(trials, key=lambda trial: len(trial.palette.payload))


def with_palette(
    tile: TileSource,
    found: TileEncoding,
    candidates: Sequence[EncodeParams],
    backend: Backend,
    threads: int | None,
    code_below: Callable[[TileSource], TileEncoding],
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
        Codes exact samples.
    threads : int or None
    code_below : callable
        Codes the layers of a tile whose hidden pixels do not count.
    """
    if tile.importance is not None or not looks_drawn(tile.on_host, tile.depth):
        return found
    params, header = candidates[0], header_of_tile(tile, candidates)
    if params.lam == 0 or all(candidate.tools.exact for candidate in candidates):
        made = _lossless(tile, header, found, params, backend, threads)
    else:
        made = _lossy(tile, header, found, params, backend, threads, code_below)
    if made is None:
        return found
    return min(found, made, key=lambda one: (_cost(tile, one, params), len(one.data)))


def _cost(tile: TileSource, made: TileEncoding, params: EncodeParams) -> float:
    error = distortion(tile.on_host, made.samples, tile.depth, params.version)
    return error + params.lam * 8 * len(made.data)


def _colours_of(samples: np.ndarray) -> np.ndarray:
    """Return the (H, W, C) colours of samples, without alpha."""
    return samples[..., None] if samples.ndim == 2 else samples[..., : form_of(samples).colours]


def _lossless(
    tile: TileSource,
    header: Header,
    found: TileEncoding,
    params: EncodeParams,
    backend: Backend,
    threads: int | None,
) -> TileEncoding | None:
    """Return a tile whose colours are all in a palette, or None if there are too many."""
    colours = _colours_of(tile.on_host)
    # Exact samples name the levels of a gray plane themselves.
    if colours.shape[2] == 1:
        return None
    rows = _strips(*colours.shape[:2])
    some = Histogram.of(colours[rows].reshape(-1, colours.shape[2]))
    if len(some.colours) > MOST_LOSSLESS:
        return None
    costs = _Costs(0, colours.shape[2], tile.depth)
    search = _Search(colours, tile.depth, costs, np.zeros((1, 1), np.int64), backend, threads)
    if len(search.histogram.colours) > MOST_LOSSLESS:
        return None
    drawn = np.ones(colours.shape[:2], bool)
    trial = search.best_order(search.histogram.colours, drawn, params.effort)
    return _made(tile, header, found, params, trial, None, backend, threads)


def _lossy(
    tile: TileSource,
    header: Header,
    found: TileEncoding,
    params: EncodeParams,
    backend: Backend,
    threads: int | None,
    code_below: Callable[[TileSource], TileEncoding],
) -> TileEncoding | None:
    """Return a tile with the best palette that is found, or None if none pays."""
    seen = seen_pixels(tile.on_host, params.version)
    source = tile.on_host if seen is None else filled(tile.on_host, seen)
    colours = _colours_of(source)
    costs = _Costs(params.lambda_fixed, colours.shape[2], tile.depth)
    rates = []
    for layer in found.layers:
        if layer.name != ALPHA:
            if layer.trace is None or layer.trace.cell_rates is None:
                return None
            rates.append(layer.trace.cell_rates)
    difference = colours.astype(np.int64) - _colours_of(found.samples)
    errors = (difference * difference).sum(axis=2)
    if seen is not None:
        errors[~seen] = 0
    below = costs(cell_sums(errors), np.sum(rates, axis=0))
    search = _Search(colours, tile.depth, costs, below, backend, threads)
    chosen = search.find(params.effort)
    if chosen is None:
        return None
    palette, drawn = chosen
    trial = search.best_order(palette, drawn, params.effort)
    below_it = None
    if trial.palette.clear:
        hidden = drawn if seen is None else drawn | ~seen
        below_it = code_below(replace(tile, hidden=hidden))
    return _made(tile, header, found, params, trial, below_it, backend, threads)


def _made(
    tile: TileSource,
    header: Header,
    found: TileEncoding,
    params: EncodeParams,
    trial: _Trial,
    below: TileEncoding | None,
    backend: Backend,
    threads: int | None,
) -> TileEncoding:
    """Return a tile with a palette, over the layers below it if there are any."""
    form = header.form
    palette = trial.palette
    coding = LayerCoding(
        NAME,
        palette.tools,
        len(palette.payload),
        trace=trial.trace,
        backend=backend.name,
        depth=palette.depth,
        entries=palette.entries,
        clear=palette.clear,
    )
    if below is None:
        layout = Layout.TOGETHER if form is Form.GRAY else Layout.APART
        stream = TileStream(layout, (), 0)
        codings: tuple[LayerCoding, ...] = ()
        if form.has_alpha:
            layer, alpha_coding = _alpha(tile, found, params, backend, threads)
            stream, codings = replace(stream, layers=(layer,)), (alpha_coding,)
        samples = tile.on_host[..., -1:] if form.has_alpha else None
    else:
        stream, codings, samples = below.stream, below.layers, below.samples
    samples = drawn_over(samples, trial.samples, palette.clear, tile.depth)
    crc = layers.samples_crc(samples)
    stream = replace(stream, samples_crc=crc, palette=palette)
    data = layers.write(header, stream.layout, stream.layers, crc, stream.turn, palette)
    return TileEncoding(data, samples, (coding, *codings), found.costs, found.used, stream)


def _alpha(
    tile: TileSource,
    found: TileEncoding,
    params: EncodeParams,
    backend: Backend,
    threads: int | None,
) -> tuple[Layer, LayerCoding]:
    """Return the layer of alpha, coded anew if the tile has all planes together."""
    for layer, coding in zip(found.stream.layers, found.layers, strict=True):
        if layer.name == ALPHA:
            return layer, coding
    tools, depth = form_of_effort(params.effort), Layout.APART.depth_of(ALPHA, tile.depth)
    plane = split(tile.on_host, tile.depth, Layout.APART)[-1].samples
    payload, _, trace = backend.encode_exact(to_planes(plane), depth, tools, threads=threads)
    coding = LayerCoding(
        ALPHA, tools, len(payload), trace=trace.with_filter(0), backend=backend.name, depth=depth
    )
    return Layer(ALPHA, tools, payload), coding
