"""The cpu backend: C++ with threads; the SIMD level is chosen at run time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from mmpcodec.backends.base import Backend, PlaneTask
from mmpcodec.backends.block_efforts import BlockEffort, block_effort
from mmpcodec.backends.tiles import TileFault, TilesTask, TileTraces
from mmpcodec.depth import BYTE
from mmpcodec.format.layers import TileStream
from mmpcodec.reference.blocks.quantisation_matrix import weights
from mmpcodec.reference.blocks.search.seen_errors import SIDE
from mmpcodec.reference.blocks.steps import PlaneSteps
from mmpcodec.reference.blocks.transform import basis
from mmpcodec.reference.entropy.syntax import LOSSLESS_SYNTAX, SYNTAX, TREE_SYNTAX, block_syntax
from mmpcodec.reference.filters.base import InBands
from mmpcodec.reference.filters.border import BorderFilter
from mmpcodec.reference.filters.cross_component import TAPS as PLANE_TAPS
from mmpcodec.reference.filters.cross_component import CrossComponentFilter
from mmpcodec.reference.filters.fixed import ACTIVITIES, SCALES, FixedFilters
from mmpcodec.reference.filters.post import CLASSES, TAPS, PostFilter
from mmpcodec.reference.lossless.planes import from_planes, to_planes
from mmpcodec.runtime.arrays import bands
from mmpcodec.runtime.machine import processors
from mmpcodec.runtime.progress import Progress
from mmpcodec.runtime.tasks import side_by_side
from mmpcodec.tools import BlockTools, LosslessTools, Tools, trees_of
from mmpcodec.trace import Coded, Trace

try:
    import mmpcodec._cpu as _cpu
except ImportError as error:
    _cpu = None
    _REASON: str | None = f"the compiled module does not load ({error})"
else:
    _REASON = None

FILTER_BAND_SAMPLES = 1 << 20
"""Number of samples that a thread filters at once."""
SEEN_BAND_BLOCKS = 1 << 12
"""Number of blocks whose errors a thread computes at once."""
MAX_TREE_THREADS = 4
"""More threads find too little work within one 16x16 fragment."""


def default_threads(tools: Tools) -> int:
    """Return the number of threads for a caller that names none."""
    rows_at_once = trees_of(tools) is None
    return processors() if rows_at_once else min(processors(), MAX_TREE_THREADS)


def source_planes(planes: np.ndarray, threads: int, progress: Progress | None) -> Any:
    """Return the luma and chroma that planes of colour were made from.

    Parameters
    ----------
    planes : (3 or more, H, W) uint16 array, C order
        Green, red and blue of 8 bits, and others.
    threads : int
    progress : callable or None
        Called with passes done and passes in all, about every 30 ms.

    Returns
    -------
    SourcePlanes or None
        None if they were not made from luma and chroma, if the search for it takes too many steps,
        or if C++ is not there.
    """
    return _cpu and _cpu.find_source_planes(planes, threads, progress)


class _OnThreads(InBands):
    """Base of filters that work on bands side by side."""

    def _by_bands(
        self, work: Callable[[int, int], Any], shape: tuple[int, int], threads: int | None
    ) -> list[Any]:
        return side_by_side(lambda rows: work(*rows), bands(shape, FILTER_BAND_SAMPLES), threads)

    def _shown(
        self, kernel: Any, samples: np.ndarray, depth: int, *given: Any, threads: int | None
    ) -> np.ndarray:
        """Return what ``kernel(samples, depth, *given, rows, shown)`` writes, for all rows."""
        shown = np.empty_like(samples)
        self._by_bands(
            lambda *rows: kernel(samples, depth, *given, rows, shown), samples.shape, threads
        )
        return shown


class NativeFixedFilters(_OnThreads, FixedFilters):
    """The fixed filters in C++."""

    def _filtered(
        self,
        samples: np.ndarray,
        scales: Sequence[int],
        steps: PlaneSteps,
        depth: int,
        threads: int | None,
    ) -> np.ndarray:
        own = steps.size, steps.numbers, steps.steps
        return self._shown(_cpu.fixed_filters, samples, depth, own, tuple(scales), threads=threads)

    def _errors(
        self,
        source: np.ndarray,
        samples: np.ndarray,
        steps: PlaneSteps,
        first: int,
        last: int,
        depth: int,
    ) -> np.ndarray:
        errors = np.zeros((len(steps.steps), ACTIVITIES, SCALES), np.int64)
        own = steps.size, steps.numbers, steps.steps
        _cpu.add_bank_errors(source, samples, depth, own, (first, last), errors)
        return errors


class NativePostFilter(_OnThreads, PostFilter):
    """The post filter in C++."""

    def _filtered(
        self, samples: np.ndarray, table: np.ndarray, depth: int, threads: int | None
    ) -> np.ndarray:
        return self._shown(_cpu.post_filter, samples, depth, table, threads=threads)

    def _gram(
        self, source: np.ndarray, samples: np.ndarray, first: int, last: int, depth: int
    ) -> np.ndarray:
        gram = np.zeros((CLASSES, len(TAPS) + 1, len(TAPS) + 1), np.int64)
        _cpu.add_filter_gram(source, samples, depth, (first, last), gram)
        return gram

    def _errors(
        self,
        source: np.ndarray,
        samples: np.ndarray,
        shown: np.ndarray,
        first: int,
        last: int,
        depth: int,
    ) -> np.ndarray:
        errors = np.zeros(CLASSES, np.int64)
        _cpu.add_filter_errors(source, samples, depth, shown, (first, last), errors)
        return errors


class NativeCrossComponentFilter(_OnThreads, CrossComponentFilter):
    """The cross-component filter in C++."""

    def _filtered(
        self,
        samples: np.ndarray,
        planes: Sequence[np.ndarray],
        table: np.ndarray,
        depth: int,
        threads: int | None,
    ) -> np.ndarray:
        return self._shown(
            _cpu.cross_component_filter, samples, depth, planes, table, threads=threads
        )

    def _gram(
        self,
        source: np.ndarray,
        samples: np.ndarray,
        planes: Sequence[np.ndarray],
        first: int,
        last: int,
        depth: int,
    ) -> np.ndarray:
        terms = len(planes) * len(PLANE_TAPS) + 1
        gram = np.zeros((terms, terms), np.int64)
        _cpu.add_planes_gram(source, samples, depth, planes, (first, last), gram)
        return gram


class NativeBorderFilter(BorderFilter):
    """The border filter in C++."""

    def _filter(
        self,
        pixels: np.ndarray,
        colours: int,
        step: int,
        depth: int,
        size: int,
        starts: tuple[int, int],
        fixed: np.ndarray | None,
        first: int,
    ) -> None:
        _cpu.border_filter(pixels, colours, step, depth, size, starts, fixed, first)


class NativeEstimates(Backend):
    """A backend whose errors that are seen, and estimates of rates, come from C++."""

    def seen_errors(
        self, source: np.ndarray, samples: np.ndarray, strength: int, *, threads: int | None = 1
    ) -> np.ndarray:
        blocks = -(-source.shape[0] // SIDE), -(-source.shape[1] // SIDE)
        errors = np.empty(blocks, np.int64)
        planes = np.ascontiguousarray(source), np.ascontiguousarray(samples)
        tables = _seen_tables(strength)
        side_by_side(
            lambda rows: _cpu.seen_errors(*planes, *tables, rows, errors),
            bands(blocks, SEEN_BAND_BLOCKS),
            threads,
        )
        return errors

    def number_rates(self, numbers: np.ndarray, count: int) -> np.ndarray:
        return _cpu.number_rates(np.ascontiguousarray(numbers, np.uint16), count)


@cache
def _seen_tables(strength: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the basis, and the weights of the frequencies, for errors that are seen."""
    return basis(SIDE, False).astype(np.int32), weights(SIDE, SIDE, strength).astype(np.int32)


class CpuBackend(NativeEstimates):
    """C++ on the processor.

    Parameters
    ----------
    simd : str or None
        SIMD level, one of ``levels()``; None takes the best.
    efforts : mapping of int to BlockEffort, or None
        Limits and shortcuts of the search for predicted blocks: those of backend reference or
        cuda, to compare with it. None takes its own.
    """

    name = "cpu"
    decodes_tiles = True
    releases_gil = True
    fixed_filters = NativeFixedFilters()
    post_filter = NativePostFilter()
    cross_component_filter = NativeCrossComponentFilter()
    border_filter = NativeBorderFilter()

    def __init__(
        self, simd: str | None = None, *, efforts: Mapping[int, BlockEffort] | None = None
    ):
        self.simd = simd
        self.efforts = efforts

    @staticmethod
    def levels() -> list[str]:
        """Return the SIMD levels that this machine supports, best first."""
        return _cpu.simd_levels()

    def unavailable(self) -> str | None:
        return _REASON

    def describe(self) -> str:
        return f"C++, SIMD level {self.simd or self.levels()[0]}, {processors()} threads"

    def new_chain(self, most_width: int, most_rows: int) -> Any:
        return _cpu.LosslessChain(most_width, most_rows)

    def encode(
        self, task: PlaneTask, *, threads: int | None = None, progress: Progress | None = None
    ) -> Coded:
        self.check(task)
        plane, params, fixed = task.plane, task.params, task.params.lambda_fixed
        tools, log2, effort = params.coded_tools, params.rate_model == "log2", params.effort
        threads = threads or default_threads(tools)
        if isinstance(tools, LosslessTools):
            planes = to_planes(plane)
            more = threads, progress, task.chain, task.source
            made = _cpu.encode_lossless(planes, task.depth, tools, *more)
            return _coded_lossless(task.depth, *made)
        how = threads, self.simd or self.levels()[0], progress
        if not isinstance(tools, BlockTools):
            return _coded(*_cpu.encode(plane, tools, fixed, log2, *how))
        limits = self.efforts[effort] if self.efforts else block_effort(effort, plane.size)
        given, weights = task.fragments, None
        if given:
            weights = given.changes, given.lambdas(fixed), given.cells
        earlier = list(task.earlier)
        return _coded_blocks(
            tools,
            *_cpu.encode_blocks(
                plane, task.depth, tools, earlier, fixed, weights, log2, limits, *how
            ),
        )

    def decode(
        self,
        payload: bytes,
        shape: tuple[int, ...],
        tools: Tools,
        *,
        depth: int = BYTE,
        earlier: Sequence[np.ndarray] = (),
        threads: int | None = None,
        progress: Progress | None = None,
        chain: Any = None,
    ) -> Coded:
        self.check_has(tools, depth)
        self.check_earlier(tools, shape, earlier)
        threads = threads or default_threads(tools)
        if isinstance(tools, LosslessTools):
            size = (*shape[2:], 1)[0], *shape[:2]
            more = threads, progress, chain
            found = _cpu.decode_lossless(payload, size, depth, tools, *more)
            return _coded_lossless(depth, payload, *found)
        if isinstance(tools, BlockTools):
            found = _cpu.decode_blocks(
                payload, *shape, depth, tools, list(earlier), threads, progress
            )
            return _coded_blocks(tools, payload, *found)
        return _coded(payload, *_cpu.decode(payload, *shape, tools, threads, progress))

    def decode_tiles(
        self, task: TilesTask, *, threads: int | None = None, progress: Progress | None = None
    ) -> list[TileFault | TileTraces]:
        header, tiles = task.header, task.tiles
        form, levels = header.form, (header.depth, header.level_depth, header.first)
        found = _cpu.decode_tiles(
            (form.colours, form.has_alpha, *levels),
            [tile.stream for tile in tiles],
            [(*tile.first, tile.samples, tile.drawn) for tile in tiles],
            [tile.size for tile in tiles],
            (1 << 8 * header.crc_bytes[1]) - 1,
            task.traced,
            threads or processors(),
            progress,
        )
        return [
            TileFault(*fault) if fault else _traces(tile.stream, records)
            for tile, (fault, records) in zip(tiles, found, strict=True)
        ]

    def block_counts(
        self, payload: bytes, shape: tuple[int, int], tools: Tools, most: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Decode predicted blocks of 8-bit samples, without earlier planes, and count.

        Returns
        -------
        bits : (M, 2) int array
            How often the first bits of each binary model, at most ``most``, were 0 and 1.
        modes : (9, 37) int array
            Frequencies of the modes after the last block.
        """
        return _cpu.block_counts(payload, *shape, tools, [], most)


def _coded_lossless(depth: int, payload, planes, rates, cell_rates) -> Coded:
    return Coded(payload, from_planes(planes, depth), _lossless_trace(rates, cell_rates))


def _coded(payload, samples, *record) -> Coded:
    return Coded(payload, samples, _tree_trace(*record))


def _coded_blocks(tools: Tools, payload, samples, *record) -> Coded:
    return Coded(payload, samples, _block_trace(tools, *record))


def _lossless_trace(rates, cell_rates) -> Trace:
    bits = {name: rate / 4096 for name, rate in zip(LOSSLESS_SYNTAX, rates, strict=True)}
    return Trace(bits, cell_rates=cell_rates)


def _tree_trace(rates, leaf_scales, dictionary_sizes, cell_rates) -> Trace:
    bits, sizes = bits_of(rates, TREE_SYNTAX), np.asarray(dictionary_sizes)
    return Trace(bits, leaf_scales, sizes, cell_rates=cell_rates)


def _block_trace(
    tools: Tools, rates, units, changes, leaf_scales, dictionary_sizes, cell_rates
) -> Trace:
    bits = bits_of(rates, block_syntax(leaf_scales is not None))
    sizes = None if dictionary_sizes is None else np.asarray(dictionary_sizes)
    changes = changes if tools.delta_step else None
    return Trace(bits, leaf_scales, sizes, units, changes, cell_rates=cell_rates)


def _traces(stream: TileStream, records: Sequence[Any]) -> TileTraces:
    """Return the traces of the parts of a tile: two of a palette, one of each layer."""
    palette = () if stream.palette is None else (stream.palette.tools,) * 2
    tools = (*palette, *(layer.tools for layer in stream.layers))
    return [_trace(*each) for each in zip(tools, records, strict=bool(records))]


def _trace(tools: Tools, record: Any) -> Trace:
    rates, units, changes, leaf_scales, sizes, drawn, cell_rates = record
    if isinstance(tools, BlockTools):
        return _block_trace(tools, rates, units, changes, leaf_scales, sizes, cell_rates)
    if not isinstance(tools, LosslessTools):
        return _tree_trace(rates, leaf_scales, sizes, cell_rates)
    found = _lossless_trace(rates, cell_rates)
    return found if drawn is None else replace(found, drawn=drawn.view(bool))


def bits_of(rates: Sequence[int], syntax: Sequence[str]) -> dict[str, float]:
    """Return the bits of some syntax elements from the rates of all, in units of 2**-12 bit."""
    found = dict(zip(SYNTAX, rates, strict=True))
    return {name: found[name] / 4096 for name in syntax}
