"""Coding of layers in tasks: by a backend, then filters; and the cost of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mmpcodec.backends.cpu import source_planes
from mmpcodec.codec.layers.tasks import LayerTask, samples_on_host
from mmpcodec.codec.weighting.decoding_time import nanoseconds, price_of
from mmpcodec.depth import extra_bits
from mmpcodec.format import layers
from mmpcodec.format.layers import Layer
from mmpcodec.format.layouts import Layout
from mmpcodec.reference.blocks.partition import is_small
from mmpcodec.reference.blocks.steps import steps_of
from mmpcodec.reference.filters.base import price_of as price_of_bytes
from mmpcodec.reference.filters.cross_component import NO_CROSS_COMPONENT
from mmpcodec.reference.filters.fixed import BYTES
from mmpcodec.reference.filters.post import OFF
from mmpcodec.reference.lossless.planes import to_planes
from mmpcodec.reference.lossless.source_colours.colours import can_have_colours
from mmpcodec.runtime.machine import processors
from mmpcodec.runtime.progress import Progress, in_turn
from mmpcodec.runtime.tasks import Task, run_all, side_by_side, threads_of_each
from mmpcodec.tools import BlockTools, Tools
from mmpcodec.trace import Coded, Trace


@dataclass(frozen=True)
class CodedLayer:
    """A layer coded by one candidate: its samples are filtered, its size is that in the file.

    ``cost`` is its rate-distortion cost with the price of its decoding time.
    """

    layer: Layer
    samples: np.ndarray
    trace: Trace
    backend: str
    cost: float
    size: int


CodedLayers = dict[tuple[int, Layout, int], dict[int | None, CodedLayer]]
"""Coded layers by tile, layout and layer, then by candidate, which is None for alpha."""

KnownLossless = dict[tuple[int, int, Tools], tuple[Layer, np.ndarray, Trace]]
"""Layers of lossless samples, decoded, by tile, layer and tools, at any lambda."""


FEW_NEW = 5
"""At most one pixel of five has another colour than the four around it in drawings."""
OF_SEARCH_AND_SAMPLES = 1, 3
"""Shares of the search for source colours, and of the samples, in the progress of a layer."""


def coded_layers(
    tasks: Sequence[LayerTask],
    known: KnownLossless,
    threads: int | None,
    progress: Progress | None,
) -> CodedLayers:
    """Code layers; those that earlier planes predict come after these planes."""
    found: CodedLayers = {}
    rounds: dict[int, list[LayerTask]] = {}
    for task in tasks:
        rounds.setdefault(task.params.tools.cross_component, []).append(task)
    ordered = [rounds[place] for place in sorted(rounds)]
    shares = [sum(task.share for task in own) for own in ordered]
    for own, part in zip(ordered, in_turn(progress, shares), strict=True):
        batches = _batches([replace(task, earlier=_earlier(task, found)) for task in own])
        runs = []
        for batch in batches:
            tools, share = batch[0].params.tools, sum(task.share for task in batch)
            wide = isinstance(tools, BlockTools) and not tools.trees
            run, aside = partial(_code, batch, known), batch[0].backend.releases_gil
            runs.append(Task(run, share, aside=aside, wide=wide))
        for batch, made in zip(batches, run_all(runs, threads, part), strict=True):
            for task, layer in zip(batch, made, strict=True):
                place = task.tile, task.layout, task.layer
                found.setdefault(place, {})[task.candidate] = layer
    return found


def best_of(layers: Mapping[int | None, CodedLayer]) -> int | None:
    """Return the candidate that codes a layer at the least cost."""
    return min(layers, key=lambda index: (layers[index].cost, layers[index].size, index or 0))


def _earlier(task: LayerTask, found: CodedLayers) -> list[np.ndarray]:
    """Return the decoded planes that predict the layer of a task."""
    numbers = range(task.params.tools.cross_component)
    of_layers = [found[task.tile, task.layout, layer] for layer in numbers]
    return [own[best_of(own)].samples for own in of_layers]


def _batches(tasks: Sequence[LayerTask]) -> list[list[LayerTask]]:
    """Return the tasks of each call: all with equal parameters if the backend batches, or one."""
    batches: dict[Any, list[LayerTask]] = {}
    for number, task in enumerate(tasks):
        alike = (task.params, task.depth) if task.backend.batches else number
        batches.setdefault(alike, []).append(task)
    return list(batches.values())


def _code(
    batch: Sequence[LayerTask], known: KnownLossless, threads: int | None, progress: Progress
) -> list[CodedLayer]:
    """Code layers of one depth with equal parameters."""
    if batch[0].params.tools.lossless:
        return [_lossless(task, known, threads, progress) for task in batch]
    coded = batch[0].backend.encode_batch(batch, threads=threads, progress=progress)
    each = threads_of_each(threads, len(batch))
    pairs = list(zip(batch, coded, strict=True))
    return side_by_side(lambda pair: _finished(pair[0], pair[1], each), pairs, threads)


def _planes_to_search(task: LayerTask) -> np.ndarray | None:
    """Return the planes of a layer of lossless samples that may have source colours, or None."""
    (height, width, *count), tools = task.plane.shape, task.params.coded_tools
    if not can_have_colours(sum(count), (height, width), task.depth, tools.max_error):
        return None
    planes = to_planes(task.plane)
    colours = (planes[0].astype(np.int32) << 16) + (planes[1] << 8) + planes[2]
    above, own = colours[:-1], colours[1:, 1:-1]
    around = above[:, :-2], above[:, 1:-1], above[:, 2:], colours[1:, :-2]
    new = np.all([own != other for other in around], axis=0)
    return None if np.count_nonzero(new) * FEW_NEW < new.size else planes


def _lossless(
    task: LayerTask, known: KnownLossless, threads: int | None, progress: Progress
) -> CodedLayer:
    """Code a layer of lossless samples, or take it from the known ones."""
    tools = task.params.tools
    place = task.tile, task.layer, tools
    if place not in known:
        if (planes := _planes_to_search(task)) is not None:
            shares = [part * task.share for part in OF_SEARCH_AND_SAMPLES]
            of_search, progress = in_turn(progress, shares)
            source = source_planes(planes, threads or processors(), of_search)
            task = replace(task, source=source)
        coded = task.backend.encode(task, threads=threads, progress=progress)
        samples = task.plane if tools.without_loss else coded.samples
        known[place] = Layer(task.name, tools, coded.payload), samples, coded.trace.with_filter(0)
    return _costed(task, *known[place], threads)


def _finished(task: LayerTask, coded: Coded, threads: int | None) -> CodedLayer:
    """Filter a coded layer: by fixed filters, post filter and cross-component filter."""
    tools, shown = task.params.coded_tools, coded.samples
    depth, steps = task.depth, steps_of(tools, coded.trace.changes)
    # What is not seen is as good as it is decoded.
    source = task.weighting.shown(shown, samples_on_host(task.plane))
    backend, lambda_fixed = task.backend, task.params.lambda_fixed
    if isinstance(tools, BlockTools):
        bank, scales = backend.fixed_filters, task.params.tools.fixed_filters
        if scales is None:
            # A tile writes no fixed filters if it has those of the tool set.
            sets = task.header.tool_sets
            scales = bank.choose(
                source,
                shown,
                steps,
                depth,
                usual=sets[0].fixed_filters if sets else None,
                price=price_of_bytes(BYTES, lambda_fixed, depth),
                threads=threads,
            )
        shown = bank.apply(shown, scales, steps, depth, threads=threads)
        tools = replace(tools, fixed_filters=scales)
    own, of_planes = OFF, NO_CROSS_COMPONENT
    # The coefficients of a post filter pay in few small tiles, and take long to fit.
    if tools.post_filter and not (task.header.tool_sets and is_small(shown.shape)):
        own, shown = backend.post_filter.fit_and_apply(
            source, shown, lambda_fixed, depth, threads=threads
        )
    if tools.cross_component_filter:
        of_planes, shown = backend.cross_component_filter.fit_and_apply(
            source, shown, task.earlier, lambda_fixed, depth, threads=threads
        )
    layer = Layer(task.name, tools, coded.payload, own, of_planes)
    return _costed(task, layer, shown, coded.trace.with_filter(layer.filter_bits), threads)


def _costed(
    task: LayerTask, layer: Layer, samples: np.ndarray, trace: Trace, threads: int | None
) -> CodedLayer:
    """Return a coded layer with its cost."""
    size, error = len(layers.write_layer(layer, task.header)), 0.0
    if task.compared and not layer.tools.without_loss:
        source = samples_on_host(task.plane)
        error = task.weighting.squared_error(source, samples, task.backend, threads)
        error /= 4.0 ** extra_bits(task.depth)
    time = nanoseconds(layer.tools, len(layer.payload), trace, task.plane.size)
    cost = task.weight * error + task.lam * (8 * size + price_of(time))
    return CodedLayer(layer, samples, trace, task.backend.name, cost, size)
