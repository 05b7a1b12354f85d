"""The encoding of tiles: by layers, without loss, and with a palette; the cheapest way is kept.

*Encoder only*.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mmpcodec.backends.base import Backend
from mmpcodec.codec.classification import kind_of
from mmpcodec.codec.layers.choice import code_layers
from mmpcodec.codec.layers.coding import KnownLossless
from mmpcodec.codec.layers.tasks import LOSSLESS, without_error
from mmpcodec.codec.palettes.cells import has_few_colours, looks_drawn
from mmpcodec.codec.palettes.choice import (
    chosen_palette,
    may_have_palette,
    tries_palettes,
    with_palette,
)
from mmpcodec.codec.palettes.search import PaletteTrial
from mmpcodec.codec.tile_coding import TileEncoding, TileSource
from mmpcodec.codec.weighting.tuned_errors import cost_of
from mmpcodec.params import EncodeParams
from mmpcodec.presets import lossless_tools
from mmpcodec.reference.lossless.planes import to_planes
from mmpcodec.reference.lossless.values import used_values
from mmpcodec.runtime.progress import Progress, in_turn, report_progress
from mmpcodec.runtime.tasks import SharedProgress, side_by_side, threads_of_each
from mmpcodec.samples import form_of
from mmpcodec.tools import Tools

FEW_VALUES = 2
"""Least average number of distinct values per quantisation step (2 max_error + 1); a plane below it
is also tried without loss."""
FEW_LEVELS, FEW_COLOURS = 16, 256
"""Most colours of a tile, and of one with a palette of colours, that lambda leaves to lossless
coding, too."""
OF_PALETTES, OF_LAYERS_BELOW = 7, 1
"""Shares in the progress of tiles with palettes."""
SMOOTH = 0.1
"""Bits for a sample below which a tile with trees is also tried without: large smooth parts want
larger fragments than trees have, and take little time."""


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
    numbered = dict(zip(numbers or range(len(tiles)), tiles, strict=True))
    exact = _exact(candidates)
    again: Mapping[int, TileSource] = {}
    if exact is not None:
        bound = max(candidate.tools.max_error for candidate in candidates)
        again = _those(numbered, lambda tile: _may_shrink_without_loss(tile, bound), threads)
    tried = numbered if tries_palettes(candidates) else {}
    drawn = _those(tried, may_have_palette, threads)
    if exact is not None:
        again = {**again, **_those(drawn, _has_few_colours, threads)}
    steps = [numbered, again, drawn]
    shares = [sum(tile.fragments for tile in each.values()) for each in steps]
    parts = in_turn(progress, [*shares, 0])  # few tiles are also tried without trees

    known = {} if known is None else known
    found = code_layers(numbered, candidates, chosen, known, threads, next(parts))
    ways = {number: [one] for number, one in found.items()}
    of_exact = next(parts)
    if exact is not None and again:
        backend = chosen[LOSSLESS]
        exactly = code_layers(
            again, [exact], {exact.tools: backend, LOSSLESS: backend}, {}, threads, of_exact
        )
        for number, one in exactly.items():
            ways[number].insert(0, one)
    below = {number: ways[number][0] for number in drawn}
    each = threads_of_each(threads, len(tiles))
    with_palettes = _with_palettes(drawn, below, candidates, chosen, threads, next(parts))
    for number, one in with_palettes.items():
        ways[number].insert(1, one)

    bounded = all(candidate.tools.lossless for candidate in candidates)

    def cheapest(number: int) -> TileEncoding:
        """Return the way of the least cost, or size if errors are bounded, the first of equals."""
        one, *others = ways[number]
        if others and not bounded:
            tile = numbered[number]
            one = min(
                ways[number],
                key=lambda way: cost_of(tile, way, candidates[0], chosen[LOSSLESS], each),
            )
        elif others:
            one = min(ways[number], key=lambda way: len(way.data))
        return replace(one, costs=found[number].costs, used=found[number].used)

    kept = dict(zip(numbered, side_by_side(cheapest, list(numbered), threads), strict=True))
    kept |= _without_trees(numbered, kept, candidates, chosen, known, threads, next(parts))
    return list(kept.values())


def _without_trees(
    tiles: Mapping[int, TileSource],
    found: Mapping[int, TileEncoding],
    candidates: Sequence[EncodeParams],
    chosen: Mapping[Tools, Backend],
    known: KnownLossless,
    threads: int | None,
    progress: Progress,
) -> dict[int, TileEncoding]:
    """Return smooth tiles whose trees cost more than predicted blocks alone, coded by the latter.

    Tiles with an importance are left out, because the comparison counts all errors alike. ``found``
    are the tiles in the best of all other ways. See ``encode_tiles`` for the other parameters.
    """
    kinds = {kind_of(one.tools): index for index, one in enumerate(candidates)}
    photo, mixed = kinds.get("photo"), kinds.get("mixed")
    if photo is None or mixed is None:
        return {}
    smooth = {
        number: tile
        for number, tile in tiles.items()
        if tile.roi is None
        and found[number].stream.palette is None
        and kind_of(found[number].stream.layers[0].tools) == "mixed"
        and math.isinf(found[number].costs[photo])
        and 8 * len(found[number].data) < SMOOTH * tile.on_host.size
    }
    params, backend = candidates[photo], chosen[LOSSLESS]
    backends = {params.tools: chosen[params.tools], LOSSLESS: backend}
    made = code_layers(smooth, [params], backends, known, threads, progress)
    each = threads_of_each(threads, len(tiles))
    better = {}
    for number, one in made.items():
        ways = found[number], one
        costs = [cost_of(tiles[number], way, params, backend, each) for way in ways]
        if costs[1] < costs[0]:
            of_all = list(found[number].costs)
            of_all[mixed], of_all[photo] = (cost for cost, _ in costs)
            better[number] = replace(one, costs=tuple(of_all), used=frozenset([photo]))
    return better


def _those(
    tiles: Mapping[int, TileSource], chosen: Callable[[TileSource], bool], threads: int | None
) -> dict[int, TileSource]:
    """Return the tiles that a function chooses."""
    found = side_by_side(chosen, list(tiles.values()), threads)
    return {number: tile for (number, tile), own in zip(tiles.items(), found, strict=True) if own}


def _exact(candidates: Sequence[EncodeParams]) -> EncodeParams | None:
    """Return the parameters by which tiles may be tried without loss besides.

    None if the candidates lose nothing, and with a preset that is named, which has no palettes.
    """
    params = candidates[0]
    near = next((candidate for candidate in candidates if candidate.tools.max_error), None)
    if near is not None:
        return without_error(near)
    if not tries_palettes(candidates):
        return None
    return replace(params, tools=lossless_tools(params.effort))


def _may_shrink_without_loss(tile: TileSource, bound: int) -> bool:
    """Return whether a tile may cost less without loss than with a maximal error, or with lambda.

    With a maximal error that is so if it looks drawn, or if a plane has few values for its range:
    only lossless coding names the values that occur, and codes whole pixels where they repeat. With
    lambda, whose ``bound`` is 0, it is so if the tile has few colours.
    """
    if not bound:
        return has_few_colours(tile.on_host, FEW_LEVELS)
    step = 2 * bound + 1
    for plane in to_planes(tile.on_host):
        values = np.flatnonzero(used_values(plane, tile.depth))
        if len(values) * step < FEW_VALUES * (int(values[-1] - values[0]) + step):
            return True
    return looks_drawn(tile.on_host, tile.depth)


def _has_few_colours(tile: TileSource) -> bool:
    """Return whether a tile in colour has as few colours as a palette; gray has no more anyway."""
    colours = form_of(tile.on_host).colours
    return colours > 1 and has_few_colours(tile.on_host, FEW_COLOURS)


def _with_palettes(
    tiles: Mapping[int, TileSource],
    found: Mapping[int, TileEncoding],
    candidates: Sequence[EncodeParams],
    chosen: Mapping[Tools, Backend],
    threads: int | None,
    progress: Progress,
) -> dict[int, TileEncoding]:
    """Return tiles with a palette over their layers, where a palette may pay.

    ``found`` are the tiles without one; see ``encode_tiles`` for the other parameters.
    """
    if not tiles:
        return {}
    of_palettes, of_layers = in_turn(progress, [OF_PALETTES, OF_LAYERS_BELOW])
    shared = SharedProgress(of_palettes, [tile.fragments for tile in tiles.values()])
    backend, each = chosen[LOSSLESS], threads_of_each(threads, len(tiles))

    def choose(place: int) -> PaletteTrial | None:
        number, part = list(tiles)[place], shared.of(place)
        return chosen_palette(tiles[number], found[number], candidates, backend, each, part)

    trials = zip(tiles, side_by_side(choose, range(len(tiles)), threads), strict=True)
    palettes = {number: trial for number, trial in trials if trial is not None}
    # What a palette draws does not count in the layers below it.
    shown = {
        number: replace(tiles[number], hidden=trial.trace.drawn)
        for number, trial in palettes.items()
        if trial.palette.transparent
    }
    lossy = [candidate for candidate in candidates if not candidate.tools.lossless]
    below = code_layers(shown, lossy, chosen, {}, threads, of_layers)
    report_progress(of_layers, 1, 1)
    return {
        number: with_palette(
            tiles[number], trial, found[number], below.get(number), candidates, backend, each
        )
        for number, trial in palettes.items()
    }
