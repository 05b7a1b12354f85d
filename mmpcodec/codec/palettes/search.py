"""The search for the palette of a tile: the pixels that it draws, and its colours."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mmpcodec.backends.base import Backend
from mmpcodec.codec.classification import strips_of
from mmpcodec.codec.palettes.area import cells_drawn
from mmpcodec.codec.palettes.cells import cell_sums, few_colours, pixels_of
from mmpcodec.codec.palettes.colours import Colours, Drawing, Histogram
from mmpcodec.codec.palettes.layer import encode_palette
from mmpcodec.codec.palettes.order import WAYS, beside, order_of
from mmpcodec.codec.weighting.decoding_time import nanoseconds, price_of
from mmpcodec.depth import extra_bits
from mmpcodec.format.palette import Palette
from mmpcodec.presets import lossless_tools
from mmpcodec.reference.entropy.cell_rates import CELL
from mmpcodec.reference.palette import PaletteSamples
from mmpcodec.runtime.progress import OpenProgress
from mmpcodec.tools import LosslessTools
from mmpcodec.trace import Trace

OF_ESTIMATES = 3, 4
"""Coding takes three quarters of the estimated rates in the median."""
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Numbers of colours that are tried."""
USUAL_SIZE, AT_BITS = 7, 21
"""Place of the usual number of colours in ``SIZES``, and the digits of lambda that it suits."""
EDGE_RATE = 64 << 12
"""Rate of an edge, one cell long, of what a palette draws, in 2**-12 bit."""
ERROR_BITS, RATE_BITS = 16, 12
"""Fractions of costs and of rates, in bits."""
MOST_COST = 1 << 42
"""Most that a cell costs, so that sums over a picture fit 64 bits."""
WIDE_EFFORT = 4
"""Effort from which all orders of colours are tried, more strips, and more numbers of colours."""
STEPS, WIDE_STEPS = (0, -1, 1), (0, -1, 1, -2, 2)
"""Steps in ``SIZES`` of a climb below that effort, and from it on. Nearer ones come first, so that
they are taken among equals."""
MOST_WORSE = 2.4
"""How many times the cost without a palette the first one, of cells with few colours, may have.
Decision 87 has measurements."""
WIDE_SHARE, LEAST_GAIN = 3, 32
"""The colours of all pixels are tried if the first ones draw the share 1 / WIDE_SHARE of the cells,
and save the share 1 / LEAST_GAIN of the cost: many drawings cost least if a palette draws all of
them, and CT slices have flat cells around."""
MOST_OF_ONE_CLIMB = 1 << 14
"""Most pixels of a tile for which, below that effort, the number of colours of the first trial is
kept."""
COMPARED, WIDELY_COMPARED = 1 << 18, 1 << 20
"""About how many pixels in strips are coded to compare numbers of colours: below that effort, and
from it on."""
TRIALS_EFFORT = 4
"""Most effort of the trials. The form of effort 6 takes 1 to 4 % fewer bytes and decodes a flat
sample in 8 times the time, so only the last trials have it too."""
LEAST_FORM_EFFORT = 2
"""The least effort whose form of lossless samples codes numbers."""


def form_of_effort(effort: int) -> LosslessTools:
    """Return the tools of lossless samples that code numbers at an effort.

    The fast mode of effort 1 takes a third more bytes on a page, so palettes do not have it.
    """
    return lossless_tools(max(effort, LEAST_FORM_EFFORT))


@dataclass(frozen=True)
class Costs:
    """Rate-distortion costs of cells, integers in 2**-16 squared error of 8-bit samples."""

    lambda_fixed: int
    colours: int
    depth: int

    def __call__(self, errors: NDArray[np.int64], rates: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the costs of squared errors, sums over the colours, and rates in 2**-12 bit."""
        cost = (errors << self.shift) // self.colours + (self.lambda_fixed * rates >> RATE_BITS)
        return np.minimum(cost, MOST_COST)

    def of_all(self, errors: NDArray[np.int64], palette: Colours, rate: int) -> int:
        """Return the cost of squared errors of pixels, a palette and a rate; it can exceed 64 bits.

        A colour counts with half of its bits, as coding takes.
        """
        rate += palette.size * self.depth << RATE_BITS - 1
        return ((int(errors.sum()) << self.shift) // self.colours) + (
            self.lambda_fixed * rate >> RATE_BITS
        )

    @property
    def shift(self) -> int:
        """Binary logarithm of the cost of a squared error of one level; 0 with 16 bits."""
        return ERROR_BITS - 2 * extra_bits(self.depth)

    @property
    def edge(self) -> int:
        """Cost of an edge between a cell that is drawn and one that is not."""
        return min(self.lambda_fixed * EDGE_RATE >> RATE_BITS, MOST_COST)


@dataclass(frozen=True)
class PaletteTrial:
    """Pixels coded with a palette."""

    palette: Palette
    trace: Trace
    samples: PaletteSamples


class PaletteSearch:
    """The search for the palette of a tile from its (H, W, C) colours.

    ``below`` are the costs of cells without a palette, an (R, C) int64 array. A palette that is
    ``whole`` draws all pixels or none. The backend codes lossless samples; each trial is a part of
    the progress.
    """

    def __init__(
        self,
        samples: np.ndarray,
        depth: int,
        costs: Costs,
        below: NDArray[np.int64],
        whole: bool,
        backend: Backend,
        threads: int | None,
        progress: OpenProgress,
    ):
        self.whole = whole
        self.samples, self.depth, self.costs, self.below = samples, depth, costs, below
        self.backend, self.threads, self.progress = backend, threads, progress
        # Rates of the first palette that is coded: those of coding, and the estimated ones.
        self.coded_first: tuple[int, int] | None = None

    @cached_property
    def histogram(self) -> Histogram:
        """The different colours of the tile."""
        return Histogram.of(self.samples.reshape(-1, self.samples.shape[2]))

    def coded(
        self, palette: Colours, drawn: NDArray[np.bool_], tools: LosslessTools, way: int = 0
    ) -> PaletteTrial:
        """Code the pixels that are drawn with a palette; the others are transparent."""
        numbers = Drawing(palette, self.histogram).numbers.reshape(drawn.shape)
        order = order_of(palette, beside(numbers, drawn, len(palette)), WAYS[way])
        places = np.empty(len(order), np.uint16)
        places[order] = np.arange(len(order))
        numbers, transparent = places[numbers], not drawn.all()
        numbers[~drawn] = len(palette)
        samples = PaletteSamples(palette[order].astype(np.uint16), numbers)
        coded, trace = encode_palette(
            self.backend,
            *samples,
            transparent,
            self.depth,
            tools,
            self.threads,
            self.progress.part(),
        )
        return PaletteTrial(coded, trace, samples)

    def estimated(
        self, palette: Colours, drawn: NDArray[np.bool_], rows: NDArray[np.int64] | slice
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return estimated rates of cells that a palette draws, and squared errors of pixels."""
        drawing, own = Drawing(palette, self.histogram), drawn[rows]
        numbers = drawing.numbers.reshape(drawn.shape)[rows]
        errors = drawing.errors.reshape(drawn.shape)[rows]
        numbers[~own], errors[~own] = len(palette), 0
        rates = self.backend.number_rates(numbers, len(palette) + 1)
        return rates, errors

    def cells(self, palette: Colours, tools: LosslessTools) -> tuple[NDArray[np.bool_], int]:
        """Return the cells that a palette draws best if it could draw all, and the cost.

        The first palette is coded. Later estimates then take as much as coding takes of the first.
        """
        every = np.ones(self.samples.shape[:2], bool)
        estimated, errors = self.estimated(palette, every, slice(None))
        if self.coded_first is None:
            rates = self.coded(palette, every, tools).trace.cell_rates
            assert rates is not None
            self.coded_first = int(rates.sum()), max(int(estimated.sum()), 1)
        else:
            coded, of_first = self.coded_first
            rates = estimated * coded // of_first
        drawn = self.costs(cell_sums(errors), rates)
        cells = cells_drawn(drawn, self.below, self.costs.edge)
        return cells, int(np.where(cells, drawn, self.below).sum())

    def find(self, effort: int) -> tuple[Colours, NDArray[np.bool_]] | None:
        """Return the colours of the best palette and the pixels that it draws, if any."""
        shape = self.samples.shape[:2]
        tools = self._tools(effort)
        few = few_colours(self.histogram.places.reshape(shape))
        if not few.any():
            return None
        if self.whole:
            few[:] = True
        digits = self.costs.lambda_fixed.bit_length()
        place = min(max(0, USUAL_SIZE - (digits - AT_BITS) // 2), len(SIZES) - 1)
        sized = self._sized(pixels_of(few, shape), place, effort, most=MOST_WORSE)
        if sized is None:
            return None
        palette, place = sized
        if self.whole:
            return palette, pixels_of(few, shape)
        cells, first_cost = self.cells(palette, tools)
        if not cells.any():
            return None
        if np.array_equal(cells, few):
            return palette, pixels_of(cells, shape)
        without = int(self.below.sum())
        pays = LEAST_GAIN * (without - first_cost) >= without
        wide = pays and not cells.all() and WIDE_SHARE * int(cells.sum()) >= cells.size
        areas = [np.ones_like(cells) if wide else cells]
        found = [(first_cost, palette, cells)]
        for area in areas:
            drawn = pixels_of(area, shape)
            if drawn.size <= MOST_OF_ONE_CLIMB and effort < WIDE_EFFORT:
                palette = self.histogram.clusters(drawn.reshape(-1)).palette(SIZES[place])
            else:
                sized = self._sized(drawn, place, effort)
                assert sized is not None
                palette, place = sized
            own, cost = self.cells(palette, tools)
            found.append((cost, palette, own))
            if wide and len(areas) == 1 and (cost >= first_cost or not own.all()):
                areas.append(cells if cost >= first_cost else own)
        _, palette, cells = min(found, key=lambda one: one[0])
        return (palette, pixels_of(cells, shape)) if cells.any() else None

    def _sized(
        self, drawn: NDArray[np.bool_], place: int, effort: int, *, most: float = math.inf
    ) -> tuple[Colours, int] | None:
        """Return the palette of the best number of colours for pixels, and its place in ``SIZES``.

        The search climbs from a place. It is None if the first palette costs more than ``most``
        times what the cells of these pixels cost without one.
        """
        clusters = self.histogram.clusters(drawn.reshape(-1))
        pixels = WIDELY_COMPARED if effort >= WIDE_EFFORT else COMPARED
        height, width = drawn.shape
        rows = strips_of(height, width, pixels)
        palettes: dict[int, Colours] = {}
        found: dict[int, int] = {}

        def cost(place: int) -> int:
            if place not in found:
                palettes[place] = clusters.palette(SIZES[place])
                rates, errors = self.estimated(palettes[place], drawn, rows)
                coded, of_first = self.coded_first or OF_ESTIMATES
                rate = int(rates.sum()) * coded // of_first
                found[place] = self.costs.of_all(errors, palettes[place], rate)
            return found[place]

        count, planes = clusters.colours.shape
        if 0 < count <= SIZES[-1]:
            every = next(i for i, size in enumerate(SIZES) if size >= count)
            place = min(place, every)
            if planes > 1:  # gray has no more levels anyway
                place = min((place, every), key=cost)
        cells = cell_sums(drawn)[rows[::CELL] // CELL] > 0
        if cost(place) > most * int(self.below[rows[::CELL] // CELL][cells].sum()):
            return None
        while True:
            near = (place + step for step in (WIDE_STEPS if effort >= WIDE_EFFORT else STEPS))
            best = min((one for one in near if 0 <= one < len(SIZES)), key=cost)
            if best == place:
                return palettes[place], place
            place = best

    def best_order(self, palette: Colours, drawn: NDArray[np.bool_], effort: int) -> PaletteTrial:
        """Return the coded form of least size, with the price of decoding time, of pixels drawn."""
        ways = range(len(WAYS) if effort >= WIDE_EFFORT else 1)
        forms = [form_of_effort(effort)]
        if forms[0] != self._tools(effort):
            forms.append(self._tools(effort))
        trials = [self.coded(palette, drawn, form, way) for form in forms for way in ways]

        def bits(trial: PaletteTrial) -> int:
            size = len(trial.palette.payload)
            time = nanoseconds(trial.palette.tools, size, trial.trace, drawn.size)
            return 8 * size + price_of(time)

        return min(trials, key=bits)

    def _tools(self, effort: int) -> LosslessTools:
        """Return the tools of the trials at an effort."""
        return form_of_effort(min(effort, TRIALS_EFFORT))
