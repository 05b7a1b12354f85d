"""The choice of tools for each layer of a tile, by rate-distortion cost."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from mmpcodec.backends.base import Backend
from mmpcodec.codec.colour import joined
from mmpcodec.codec.encoding import LayerCoding
from mmpcodec.codec.layers.coding import (
    CodedLayer,
    CodedLayers,
    KnownLossless,
    best_of,
    coded_layers,
)
from mmpcodec.codec.layers.tasks import ALL_PLANES, LOSSLESS, LayerTask, layer_tasks
from mmpcodec.codec.tile_coding import TileEncoding, TileSource, header_of_tile, source_of
from mmpcodec.codec.weighting.tuned_errors import cost_of
from mmpcodec.format import layers
from mmpcodec.format.container import Header
from mmpcodec.format.layers import TileStream
from mmpcodec.format.layouts import Layout, layer_names
from mmpcodec.params import EYE, EncodeParams
from mmpcodec.reference.colour import NO_ROTATION, Rotation
from mmpcodec.runtime.arrays import on_device
from mmpcodec.runtime.progress import Progress
from mmpcodec.runtime.tasks import side_by_side, threads_of_each
from mmpcodec.samples import form_of
from mmpcodec.tools import Tools


def code_layers(
    tiles: Mapping[int, TileSource],
    candidates: Sequence[EncodeParams],
    chosen: Mapping[Tools, Backend],
    known: KnownLossless,
    threads: int | None,
    progress: Progress | None,
) -> dict[int, TileEncoding]:
    """Code each layer of tiles, given by number, with each candidate, and keep the cheapest.

    See ``encode_tiles`` for the other parameters.
    """
    each = threads_of_each(threads, len(tiles))
    # Only the calling thread has the device on which samples lie as its current one.
    at_once = 1 if any(on_device(tile.samples) for tile in tiles.values()) else threads

    def tasks_of(number: int) -> list[LayerTask]:
        return layer_tasks(number, tiles[number], candidates, chosen, each)

    tasks = list(chain(*side_by_side(tasks_of, list(tiles), at_once)))
    coded = coded_layers(tasks, known, threads, progress)
    rotations = {task.tile: task.rotation for task in tasks if task.layout is Layout.FINE_LUMA}

    def cheapest(number: int) -> TileEncoding:
        rotation = rotations.get(number, NO_ROTATION)
        backend = chosen[LOSSLESS]
        return _cheapest(number, tiles[number], candidates, coded, rotation, backend, each)

    return dict(zip(tiles, side_by_side(cheapest, list(tiles), threads), strict=True))


def _cheapest(
    number: int,
    tile: TileSource,
    candidates: Sequence[EncodeParams],
    coded: CodedLayers,
    rotation: Rotation,
    backend: Backend,
    threads: int | None,
) -> TileEncoding:
    """Return the tile of the cheapest candidate for each layer, or of all planes together."""
    form = form_of(tile.on_host)
    found: list[tuple[Layout, list[CodedLayer], set[int]]] = []
    costs = [0.0] * len(candidates)
    layouts = [layout for layout in Layout if (number, layout, 0) in coded]
    if layouts:
        costs = [0.0 if candidate.tools.lossless else math.inf for candidate in candidates]
    for layout in layouts:
        own = [coded[number, layout, layer] for layer in range(len(layer_names(form, layout)))]
        bests = [best_of(each) for each in own]
        best = [each[first] for each, first in zip(own, bests, strict=True)]
        found.append((layout, best, {first for first in bests if first is not None}))
        coloured = own[: form.colours]
        for index in set[int | None].intersection(*map(set, coloured)):
            assert index is not None
            costs[index] = min(costs[index], sum(each[index].cost for each in coloured))
    for candidate, layer in coded.get((number, Layout.TOGETHER, ALL_PLANES), {}).items():
        assert candidate is not None
        costs[candidate] = layer.cost
        found.append((Layout.TOGETHER, [layer], {candidate}))
    header = header_of_tile(tile, candidates)
    made = [
        _tile(header, layout, best, tuple(costs), used, rotation, threads)
        for layout, best, used in found
    ]
    if len(made) == 1:
        return made[0]
    if candidates[0].tune == EYE:
        total = [sum(layer.cost for layer in best) for _, best, _ in found]
    else:
        total = [cost_of(tile, one, candidates[0], backend, threads)[0] for one in made]
    return min(zip(total, made, strict=True), key=lambda pair: (pair[0], len(pair[1].data)))[1]


def _tile(
    header: Header,
    layout: Layout,
    best: Sequence[CodedLayer],
    costs: tuple[float, ...],
    used: Iterable[int],
    rotation: Rotation,
    threads: int | None,
) -> TileEncoding:
    """Return the tile that some coded layers make."""
    own = tuple(one.layer for one in best)
    if layout is Layout.TOGETHER and own[0].tools.lossless:
        samples = best[0].samples
    else:
        planes = [one.samples for one in best]
        samples = joined(planes, header.form, header.depth, layout, rotation, threads=threads)
    crc = layers.samples_crc(samples)
    data = layers.write(header, layout, own, crc, rotation)
    coding = tuple(
        LayerCoding.of(
            one.layer,
            layers.depth_of(one.layer, layout, header.depth),
            one.trace,
            one.backend,
            source=source_of(one.layer, (header.height, header.width), header.depth),
        )
        for one in best
    )
    stream = TileStream(layout, own, crc, rotation)
    return TileEncoding(data, samples, coding, costs, frozenset(used), stream)
