"""The choice of tools for each layer of a tile, by rate-distortion cost.

A *candidate* is one set of tools with parameters. Each candidate codes each layer, and the cheapest
is kept.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from mmpcodec.backends.base import Backend
from mmpcodec.codec import classification
from mmpcodec.codec.colour import (
    LayerPlane,
    can_be_fine,
    joined,
    layout_of,
    split,
    widened,
)
from mmpcodec.codec.distortion import distortion, seen_pixels
from mmpcodec.codec.encoding import LayerCoding
from mmpcodec.codec.palettes.cells import looks_drawn
from mmpcodec.codec.palettes.choice import may_have_palette, with_palette
from mmpcodec.codec.tile_coding import (
    TileEncoding,
    TileSource,
    header_of_tile,
    params_of_layer,
    weight_of_layer,
)
from mmpcodec.codec.weighting.filling import filled
from mmpcodec.codec.weighting.maps import Weighting
from mmpcodec.codec.weighting.masking import masked
from mmpcodec.depth import BYTE, coded_depth, extra_bits
from mmpcodec.format import layers
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer, TileStream
from mmpcodec.format.layouts import ALPHA, Layout, layer_names
from mmpcodec.params import EYE, EncodeParams
from mmpcodec.presets import EYE_WEIGHTS, PRESETS, lossless_tools
from mmpcodec.reference.blocks.partition import is_small
from mmpcodec.reference.blocks.steps import steps_of
from mmpcodec.reference.colour_rotation import NO_ROTATION, Rotation, chosen_rotation
from mmpcodec.reference.filters.cross_component import NO_CROSS_COMPONENT
from mmpcodec.reference.filters.post import OFF
from mmpcodec.reference.lossless.planes import from_planes, to_planes
from mmpcodec.reference.lossless.values import used_values
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.arrays import on_device
from mmpcodec.runtime.progress import Progress, in_turn
from mmpcodec.runtime.tasks import SharedProgress, Task, run_all, side_by_side, threads_of_each
from mmpcodec.samples import form_of
from mmpcodec.tools import BlockTools, LosslessTools, Tools
from mmpcodec.trace import Coded, Trace

LOSSLESS = PRESETS["lossless"]
MOST_SMALL = 1 << 14
"""Largest number of pixels of a picture, not in tiles, on which lossless samples are always
tried."""
FEW_VALUES = 2
"""Least average number of distinct values per quantisation step (2 max_error + 1); a plane below it
is also tried without loss."""

_Parts = dict[tuple[int, Layout, int], dict[int | None, "_Part"]]
"""Coded layers by tile, layout and layer, then by candidate, which is None for alpha."""

KnownLossless = dict[tuple[int, int], tuple[Tools, bytes, np.ndarray, Trace, str]]
"""Payload, decoded samples, trace and backend of lossless samples by tile and layer, at any
lambda."""


@dataclass(frozen=True)
class _Part:
    """A layer coded by one candidate."""

    layer: Layer
    samples: np.ndarray
    trace: Trace
    backend: str
    cost: float
    size: int


def encode_tiles(
    tiles: Sequence[TileSource],
    candidates: Sequence[EncodeParams],
    chosen: Mapping[Tools, Backend],
    threads: int | None,
    progress: Progress | None,
    known: KnownLossless | None = None,
    numbers: Sequence[int] | None = None,
) -> list[TileEncoding]:
    """Encode tiles of one or several pictures.

    Parameters
    ----------
    tiles : sequence of TileSource
    candidates : sequence of EncodeParams
        One set of tools each, all with one lambda.
    chosen : mapping of Tools to Backend
        The backend for each set of tools, and for lossless samples, which code alpha.
    threads, progress
        See ``encode``.
    known : KnownLossless or None
        Lossless samples of these tiles from earlier calls; this call adds its own.
    numbers : sequence of int or None
        Numbers of the tiles in ``known``; None counts them from 0.
    """
    known = {} if known is None else known
    numbered = list(zip(numbers or range(len(tiles)), tiles, strict=True))
    jobs = [job for number, tile in numbered for job in _jobs(number, tile, candidates, threads)]
    parts: _Parts = {}
    rounds = _rounds(jobs)
    shares = [sum(job.fragments for job in each) for each in rounds]
    bound = max(candidate.tools.max_error for candidate in candidates)
    if bound:
        again = [_may_shrink_without_loss(tile, bound) for tile in tiles]
    else:
        again = [candidates[0].palette and may_have_palette(tile) for tile in tiles]
    of_tiles = [tile.fragments * tries for tile, tries in zip(tiles, again, strict=True)]
    *of_rounds, of_others = in_turn(progress, [*shares, sum(of_tiles)])
    others = SharedProgress(of_others, of_tiles)
    for own, part in zip(rounds, of_rounds, strict=True):
        _code_all(own, chosen, parts, known, threads, part)
    rotations = {job.tile: job.rotation for job in jobs if job.rotation is not None}
    each = threads_of_each(threads, len(tiles))
    lossy = [candidate for candidate in candidates if not candidate.tools.lossless]

    def cheapest(place: int) -> TileEncoding:
        number, tile = numbered[place]
        found = _cheapest(number, tile, candidates, parts, rotations.get(number, NO_ROTATION), each)
        if not again[place]:
            return found
        advance = others.of(place)
        if bound:
            return without_loss(tile, found, advance)
        return with_palette(tile, found, candidates, chosen[LOSSLESS], each, below, advance)

    def without_loss(tile: TileSource, found: TileEncoding, part: Progress) -> TileEncoding:
        near = next(candidate for candidate in candidates if candidate.tools.max_error)
        lossless = _without_error(near)
        able = {**chosen, lossless.tools: chosen[near.tools]}
        made = encode_tiles([tile], [lossless], able, each, part)[0]
        if len(made.data) > len(found.data):
            return found
        return replace(made, costs=found.costs, used=found.used)

    def below(tile: TileSource, part: Progress) -> TileEncoding:
        without = [replace(candidate, palette=False) for candidate in lossy]
        return encode_tiles([tile], without, chosen, each, part)[0]

    return side_by_side(cheapest, range(len(tiles)), threads)


def _may_shrink_without_loss(tile: TileSource, bound: int) -> bool:
    """Return whether a tile may take fewer bytes without loss than with a maximal error.

    That is so if it looks drawn, or if a plane has few values for its range: only lossless coding
    names the values that occur, and draws palettes.
    """
    step = 2 * bound + 1
    for plane in to_planes(tile.on_host):
        values = np.flatnonzero(used_values(plane, tile.depth))
        if len(values) * step < FEW_VALUES * (int(values[-1] - values[0]) + step):
            return True
    return looks_drawn(tile.on_host, tile.depth)


ALL_ALIKE = Weighting()
"""The importance of pixels that all count alike."""
ALL_PLANES = -1
"""Number of the layer that holds all planes as lossless samples."""


@dataclass(frozen=True)
class _Job:
    """A layer to code by one candidate.

    ``candidate`` is the number of the candidate; None for alpha, which all candidates share. The
    cost is computed only if ``compared``, that is, if there are several candidates; ``weight`` is
    that of an error in it, and ``lam`` lambda of the picture. ``asked`` are
    the tools of the candidate; those of ``params`` have only the earlier planes that there are.
    Colours of pixels that are not seen are filled already. ``header`` is that of the file without
    the sizes of the tiles. ``rotation`` is that of the colours of a fine layout.
    """

    tile: int
    layout: Layout
    layer: int
    name: str
    candidate: int | None
    params: EncodeParams
    samples: Any
    depth: int
    weight: float
    compared: bool
    asked: Tools
    header: Header
    lam: float
    weighting: Weighting = ALL_ALIKE
    rotation: Rotation | None = None

    @property
    def fragments(self) -> int:
        """Number of 16x16 fragments in all planes."""
        planes = self.samples.shape[2] if self.samples.ndim == 3 else 1
        return planes * fragments_in(self.samples.shape[:2])


def _jobs(
    number: int, tile: TileSource, candidates: Sequence[EncodeParams], threads: int | None
) -> Iterator[_Job]:
    """Yield the jobs of a tile: each layer for each candidate."""
    samples, depth, lam = tile.samples, tile.depth, candidates[0].lam
    seen = seen_pixels(tile.on_host) if lam > 0 else None
    if tile.hidden is not None:
        seen = ~tile.hidden if seen is None else seen & ~tile.hidden
    weighting = Weighting(tile.roi, seen)
    if weighting.seen is not None:
        samples = filled(tile.on_host, weighting.seen)
    if candidates[0].tune == EYE:
        found = masked(tile.roi, _on_host(samples), depth)
        weighting = Weighting(found, seen, EYE_WEIGHTS)
    form, compared = form_of(samples), len(candidates) > 1
    header = header_of_tile(tile, candidates)

    @cache
    def rotation_of(layout: Layout) -> Rotation | None:
        if layout is not Layout.FINE_LUMA:
            return None
        return chosen_rotation(widened(samples, depth), coded_depth(depth))

    @cache
    def planes_of(layout: Layout) -> list[LayerPlane]:
        return split(samples, depth, layout, rotation_of(layout) or NO_ROTATION, threads=threads)

    tried = _tried(samples, depth, candidates, planes_of, tiled=tile.tile_size > 0)
    for index, candidate in enumerate(candidates):
        if candidate.tools.lossless and all(index in each for each in tried):
            together = candidate
            if candidate.tools.max_error and form.has_alpha:
                yield from _beside_alpha(number, tile, index, candidate, header)
                together = _without_error(candidate)
            at = number, Layout.TOGETHER, ALL_PLANES, form.title
            of_all = tile.on_host, depth, 1.0, compared
            yield _Job(*at, index, together, *of_all, candidate.tools, header, lam)
    for layout, own in _layouts(samples, depth, tried, candidates):
        planes = zip(layer_names(form, layout), planes_of(layout), strict=True)
        for layer, (name, plane) in enumerate(planes):
            at = number, layout, layer, name
            if name == ALPHA:
                first = candidates[own[0][0]]
                params = replace(first, tools=lossless_tools(first.effort))
                of_alpha = _on_host(plane.samples), plane.depth, plane.weight, False
                yield _Job(*at, None, params, *of_alpha, LOSSLESS, header, lam)
                continue
            weight = weight_of_layer(form, layout, layer, candidates[0].tune, weighs=True)
            of_plane = plane.samples, plane.depth, weight, compared
            for index in own[layer]:
                params = params_of_layer(candidates[index], form, layout, layer)
                asked = candidates[index].tools
                tools = weighting.without_idle_changes(params.tools, tile.on_host.shape[:2])
                if tools is not params.tools:
                    params = replace(params, tools=tools)
                rotation = rotation_of(layout)
                yield _Job(*at, index, params, *of_plane, asked, header, lam, weighting, rotation)


def _beside_alpha(
    number: int, tile: TileSource, index: int, candidate: EncodeParams, header: Header
) -> Iterator[_Job]:
    """Yield the jobs of lossless samples with a maximal error: planes apart, alpha without loss."""
    layout, asked, lam = Layout.APART, candidate.tools, candidate.lam
    names = layer_names(form_of(tile.on_host), layout)
    for layer, plane in enumerate(split(tile.on_host, tile.depth, layout)):
        name = names[layer]
        own = _without_error(candidate) if name == ALPHA else candidate
        of_plane = plane.samples, plane.depth, plane.weight, True
        yield _Job(number, layout, layer, name, index, own, *of_plane, asked, header, lam)


def _without_error(candidate: EncodeParams) -> EncodeParams:
    """Return a candidate of lossless samples without its maximal error."""
    assert isinstance(candidate.tools, LosslessTools)
    return replace(candidate, tools=replace(candidate.tools, max_error=0))


def _layouts(
    samples: Any, depth: int, tried: Sequence[Collection[int]], candidates: Sequence[EncodeParams]
) -> list[tuple[Layout, list[list[int]]]]:
    """Return the layouts of planes apart to code, with the candidates of each layer of colour.

    If all candidates can code fine planes, these have the fine layout. Otherwise all have the usual
    one, so that a tile can mix them; an encoder that does not look first also tries the fine layout
    with the candidates that can.
    """
    lossy = [index for index, candidate in enumerate(candidates) if not candidate.tools.lossless]
    wanted = [[index for index in lossy if index in each] for each in tried]
    if not any(wanted):
        return []
    wanted = [each or lossy for each in wanted]
    lam, classifies = candidates[0].lam, candidates[0].classifies
    usual = layout_of(samples, lam)
    if usual is not Layout.LUMA:
        return [(usual, wanted)]
    able = [index for index in lossy if can_be_fine(candidates[index], depth)]
    fine = [[index for index in each if index in able] for each in wanted]
    if fine == wanted:
        return [(Layout.FINE_LUMA, fine)]
    return [(usual, wanted), *([(Layout.FINE_LUMA, fine)] if all(fine) and not classifies else [])]


def _tried(
    samples: Any,
    depth: int,
    candidates: Sequence[EncodeParams],
    planes_of: Callable[[Layout], list[LayerPlane]],
    *,
    tiled: bool,
) -> Sequence[Collection[int]]:
    """Return the numbers of the candidates that are tried on each layer but alpha.

    The classification takes the planes of the usual layout, widened to 8 bits, so it does not see
    how small samples of fewer bits are without loss: lossless samples are tried on them too. They
    are also tried on small pictures, whose features say little.
    """
    colours, lam = form_of(samples).colours, candidates[0].lam
    if not candidates[0].classifies or len(candidates) == 1:
        return [range(len(candidates))] * colours
    on_host = [_on_host(plane.samples) for plane in planes_of(layout_of(samples, lam))[:colours]]
    lossless = {number for number, each in enumerate(candidates) if each.tools.lossless}
    found = classification.tried(on_host, coded_depth(depth), lam, candidates)
    whole = depth < BYTE or (not tiled and math.prod(samples.shape[:2]) <= MOST_SMALL)
    return [each | lossless for each in found] if whole else found


def _rounds(jobs: Sequence[_Job]) -> list[list[_Job]]:
    """Return the jobs in rounds: those that need earlier planes come after those of the planes."""
    rounds: list[list[_Job]] = [[]]
    for job in jobs:
        needs = job.params.tools.cross_component
        while len(rounds) <= needs:
            rounds.append([])
        rounds[needs].append(job)
    return [each for each in rounds if each]


def _code_all(
    jobs: Sequence[_Job],
    chosen: Mapping[Tools, Backend],
    parts: _Parts,
    known: KnownLossless,
    threads: int | None,
    progress: Progress,
) -> None:
    """Run jobs in tasks, and add what they code to the parts."""
    tasks: list[Task] = []
    batches: list[list[_Job]] = []
    for backend, params, batch in _batches(jobs, chosen):
        earlier = [_earlier(job, parts) for job in batch]
        run = partial(_code, backend, params, batch, earlier, known)
        share = sum(job.fragments for job in batch)
        wide = isinstance(params.tools, BlockTools) and not params.tools.trees
        tasks.append(Task(run, share, aside=backend.releases_gil, wide=wide))
        batches.append(batch)
    for batch, found in zip(batches, run_all(tasks, threads, progress), strict=True):
        for job, part in zip(batch, found, strict=True):
            parts.setdefault((job.tile, job.layout, job.layer), {})[job.candidate] = part


def _earlier(job: _Job, parts: _Parts) -> list[np.ndarray]:
    """Return the decoded planes that predict the layer of a job."""
    numbers = range(job.params.tools.cross_component)
    of_layers = [parts[job.tile, job.layout, layer] for layer in numbers]
    return [own[_best(own)].samples for own in of_layers]


def _best(own: Mapping[int | None, _Part]) -> int | None:
    """Return the candidate that codes a layer at the least cost."""
    return min(own, key=lambda index: (own[index].cost, own[index].size, index or 0))


def _batches(
    jobs: Sequence[_Job], chosen: Mapping[Tools, Backend]
) -> Iterator[tuple[Backend, EncodeParams, list[_Job]]]:
    """Yield the jobs of one call: all of equal parameters where the backend batches, else one."""
    at_once: dict[tuple[EncodeParams, int], list[_Job]] = {}
    for job in jobs:
        backend = chosen[job.asked]
        if backend.batches:
            at_once.setdefault((job.params, job.depth), []).append(job)
        else:
            yield backend, job.params, [job]
    for (params, _), batch in at_once.items():
        yield chosen[batch[0].asked], params, batch


def _code(
    backend: Backend,
    params: EncodeParams,
    batch: Sequence[_Job],
    earlier: Sequence[Sequence[np.ndarray]],
    known: KnownLossless,
    threads: int | None,
    progress: Progress,
) -> list[_Part]:
    """Code layers of one depth with equal parameters; ``earlier`` are the planes of each."""
    if params.tools.lossless:
        return [_lossless_part(job, backend, known, threads, progress) for job in batch]
    stays = backend.reads_device_arrays
    planes = [job.samples if stays else _on_host(job.samples) for job in batch]
    depth = batch[0].depth
    options: dict[str, Any] = {"depth": depth, "threads": threads, "progress": progress}
    fragments = None
    if backend.weighs_fragments:
        fragments = batch[0].weighting.fragments(params.coded_tools, planes[0].shape)
    # A batch has one layer if earlier planes predict it, or if it has a map of fragments.
    if params.tools.cross_component or fragments is not None:
        options["fragments"] = fragments
        coded = [backend.encode(planes[0], params, earlier=earlier[0], **options)]
    else:
        coded = backend.encode_batch(planes, params, **options)
    parts = list(zip(batch, coded, earlier, strict=True))
    each = threads_of_each(threads, len(parts))
    return side_by_side(
        lambda part: _finished(part[0], part[1], part[2], params, backend, each), parts, threads
    )


def _lossless_part(
    job: _Job, backend: Backend, known: KnownLossless, threads: int | None, progress: Progress
) -> _Part:
    if (job.tile, job.layer) not in known:
        known[job.tile, job.layer] = _coded_lossless(job, backend, threads, progress)
    tools, payload, samples, trace, name = known[job.tile, job.layer]
    return _part(job, Layer(job.name, tools, payload), samples, trace.with_filter(0), name)


def _coded_lossless(
    job: _Job, backend: Backend, threads: int | None, progress: Progress
) -> tuple[Tools, bytes, np.ndarray, Trace, str]:
    """Code a layer of lossless samples."""
    tools = job.params.tools
    assert isinstance(tools, LosslessTools)
    payload, decoded, trace = backend.encode_lossless(
        to_planes(job.samples), job.depth, tools.form, threads=threads, progress=progress
    )
    samples = job.samples if tools.without_loss else from_planes(decoded, job.depth)
    return tools, payload, samples, trace, backend.name


def _finished(
    job: _Job,
    coded: Coded,
    earlier: Sequence[np.ndarray],
    params: EncodeParams,
    backend: Backend,
    threads: int | None,
) -> _Part:
    """Filter a coded layer: by fixed filters, post filter and cross-component filter."""
    tools, samples = params.coded_tools, coded.samples
    # The coefficients of a post filter pay in few small tiles, and take long to fit.
    fits = tools.post_filter and not (job.header.tool_sets and is_small(samples.shape))
    depth, steps = job.depth, steps_of(tools, coded.trace.changes)
    # What is not seen is as good as it is decoded.
    source = job.weighting.shown(samples, _on_host(job.samples))
    bank = backend.fixed_filters

    def finished(scales: int, *, only_bank: bool = False) -> _Part:
        shown = bank.apply(samples, scales, steps, depth, threads=threads)
        own, of_planes = OFF, NO_CROSS_COMPONENT
        if fits and not only_bank:
            own, shown = backend.post_filter.fit_and_apply(
                source, shown, params.lambda_fixed, depth, threads=threads
            )
        if tools.cross_component_filter and not only_bank:
            of_planes, shown = backend.cross_component_filter.fit_and_apply(
                source, shown, earlier, params.lambda_fixed, depth, threads=threads
            )
        used = replace(tools, fixed_filters=scales) if isinstance(tools, BlockTools) else tools
        layer = Layer(job.name, used, coded.payload, own, of_planes)
        trace = coded.trace.with_filter(layer.filter_bits)
        return _part(job, layer, shown, trace, backend.name)

    if params.tools.fixed_filters is not None:
        return finished(params.tools.fixed_filters)
    scales = bank.choose(source, samples, steps, depth, threads=threads)
    if not job.header.tool_sets:
        return finished(scales)
    # A tile writes no fixed filters if it has those of the tool set.
    tried = sorted({0, job.header.tool_sets[0].fixed_filters or 0, scales})
    # A post filter takes too long to fit it to each.
    best = min((finished(each, only_bank=True) for each in tried), key=lambda part: part.cost)
    more = fits or (tools.cross_component_filter and len(earlier) > 0)
    return finished(best.layer.tools.fixed_filters or 0) if more else best


def _part(job: _Job, layer: Layer, samples: np.ndarray, trace: Trace, backend: str) -> _Part:
    size = len(layers.write_layer(layer, job.header))
    error = 0.0
    if (job.compared or job.header.tool_sets) and not layer.tools.without_loss:
        error = job.weighting.squared_error(_on_host(job.samples), samples)
        error /= 4.0 ** extra_bits(job.depth)
    cost = job.weight * error + job.lam * 8 * size
    return _Part(layer, samples, trace, backend, cost, size)


def _on_host(samples: Any) -> np.ndarray:
    return samples.get() if on_device(samples) else samples


def _cheapest(
    number: int,
    tile: TileSource,
    candidates: Sequence[EncodeParams],
    parts: _Parts,
    rotation: Rotation,
    threads: int | None,
) -> TileEncoding:
    """Return the tile of the cheapest candidate for each layer, or of all planes together."""
    source, lam = tile.on_host, candidates[0].lam
    form = form_of(source)
    found: list[tuple[Layout, list[_Part], set[int]]] = []
    costs = [0.0] * len(candidates)
    layouts = [layout for layout in Layout if (number, layout, 0) in parts]
    if layouts:
        costs = [0.0 if candidate.tools.lossless else math.inf for candidate in candidates]
    for layout in layouts:
        coded = [parts[number, layout, layer] for layer in range(len(layer_names(form, layout)))]
        bests = [_best(own) for own in coded]
        best = [own[first] for own, first in zip(coded, bests, strict=True)]
        found.append((layout, best, {first for first in bests if first is not None}))
        coloured = coded[: form.colours]
        for index in set[int | None].intersection(*map(set, coloured)):
            assert index is not None
            costs[index] = min(costs[index], sum(own[index].cost for own in coloured))
    for candidate, part in parts.get((number, Layout.TOGETHER, ALL_PLANES), {}).items():
        assert candidate is not None
        costs[candidate] = part.cost
        found.append((Layout.TOGETHER, [part], {candidate}))
    header = header_of_tile(tile, candidates)
    made = [
        _tile(source, header, layout, chosen, tuple(costs), used, rotation, threads)
        for layout, chosen, used in found
    ]
    if len(made) == 1:
        return made[0]
    if candidates[0].tune == EYE:
        seen = [sum(part.cost for part in chosen) for _, chosen, _ in found]
        return min(zip(seen, made, strict=True), key=lambda pair: (pair[0], len(pair[1].data)))[1]
    return min(made, key=lambda one: (_cost(source, tile.depth, one, lam), len(one.data)))


def _cost(source: np.ndarray, depth: int, made: TileEncoding, lam: float) -> float:
    """Return the rate-distortion cost D + lambda R of a tile; D is the mean over the colours."""
    return distortion(source, made.samples, depth) + lam * 8 * len(made.data)


def _tile(
    source: np.ndarray,
    header: Header,
    layout: Layout,
    parts: Sequence[_Part],
    costs: tuple[float, ...],
    used: Iterable[int],
    rotation: Rotation,
    threads: int | None,
) -> TileEncoding:
    if layout is Layout.TOGETHER and parts[0].layer.tools.lossless:
        samples = parts[0].samples
    else:
        planes = [part.samples for part in parts]
        samples = joined(planes, header.form, header.depth, layout, rotation, threads=threads)
    crc = layers.samples_crc(samples)
    data = layers.write(header, layout, [part.layer for part in parts], crc, rotation)
    coded = tuple(
        LayerCoding(
            part.layer.name,
            part.layer.tools,
            len(part.layer.payload),
            part.layer.coefficients,
            part.layer.cross_component_coefficients,
            part.trace,
            backend=part.backend,
            depth=layers.depth_of(part.layer, layout, header.depth),
        )
        for part in parts
    )
    stream = TileStream(layout, tuple(part.layer for part in parts), crc, rotation)
    return TileEncoding(data, samples, coded, costs, frozenset(used), stream)
