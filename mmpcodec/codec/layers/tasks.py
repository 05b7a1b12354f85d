"""The layers of a tile, each with the candidates that are tried on it."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mmpcodec.backends.base import Backend, PlaneTask
from mmpcodec.codec import classification
from mmpcodec.codec.colour import can_be_fine, layout_of, split
from mmpcodec.codec.distortion import seen_pixels
from mmpcodec.codec.layers.rotation import chosen_rotation
from mmpcodec.codec.tile_coding import (
    TileSource,
    header_of_tile,
    params_of_layer,
    weight_of_layer,
)
from mmpcodec.codec.weighting.filling import filled
from mmpcodec.codec.weighting.maps import Weighting
from mmpcodec.codec.weighting.masking import eye_weighting
from mmpcodec.depth import BYTE, coded_depth
from mmpcodec.format.container import Header
from mmpcodec.format.layouts import Layout, layer_names, weight_of
from mmpcodec.params import EYE, EncodeParams
from mmpcodec.presets import PRESETS, lossless_tools
from mmpcodec.reference.colour import NO_ROTATION, Rotation, widened
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.arrays import on_device
from mmpcodec.samples import form_of
from mmpcodec.tools import LosslessTools, Tools

LOSSLESS = PRESETS["lossless"]
MOST_SMALL = 1 << 14
"""Largest number of pixels of a picture, not in tiles, on which lossless samples are always
tried."""
ALL_PLANES = -1
"""Number of the layer that holds all planes as lossless samples."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerTask(PlaneTask):
    """A layer to encode with one candidate.

    ``plane`` is an (H, W, C) array if the layer holds all planes. ``candidate`` is None for alpha,
    which all candidates share. ``weight`` is how much a squared error counts in the rate-distortion
    cost, ``lam`` the lambda of the picture; the cost counts errors if the layer is ``compared``
    with others. ``header`` is that of the file, without the sizes of the tiles.
    """

    tile: int
    layout: Layout
    layer: int
    name: str
    candidate: int | None
    backend: Backend
    weight: float
    lam: float
    compared: bool
    header: Header
    weighting: Weighting = field(default_factory=Weighting)
    rotation: Rotation = NO_ROTATION

    @property
    def share(self) -> int:
        """Number of 16x16 fragments, summed over the planes."""
        planes = self.plane.shape[2] if self.plane.ndim == 3 else 1
        return planes * fragments_in(self.plane.shape[:2])


def layer_tasks(
    number: int,
    tile: TileSource,
    candidates: Sequence[EncodeParams],
    chosen: Mapping[Tools, Backend],
    threads: int | None,
) -> list[LayerTask]:
    """Return the tasks of the tile of a number; see ``encode_tiles`` for the other parameters."""
    layers = _Layers(number, tile, candidates, chosen, threads)
    tried = layers.tried()
    together = [
        index
        for index, candidate in enumerate(candidates)
        if candidate.tools.lossless and all(index in each for each in tried)
    ]
    apart = layers.layouts(tried)
    several = any(len(each) > 1 for _, own in apart for each in own)
    layers.common["compared"] = several or len(together) + len(apart) > 1
    return [
        *(task for index in together for task in layers.lossless(index)),
        *(task for layout, own in apart for task in layers.apart(layout, own)),
    ]


def without_error(params: EncodeParams) -> EncodeParams:
    """Return parameters of lossless samples without a maximal error."""
    assert isinstance(params.tools, LosslessTools)
    return replace(params, tools=replace(params.tools, max_error=0))


def has_two_values(samples: np.ndarray) -> bool:
    """Return whether a picture is gray and its samples have two values."""
    if samples.ndim > 2:
        return False
    low, high = samples.min(), samples.max()
    return bool(low < high and ((samples == low) | (samples == high)).all())


def samples_on_host(samples: Any) -> np.ndarray:
    """Return samples in host memory."""
    return samples.get() if on_device(samples) else samples


class _Layers:
    """The layers of a tile; see ``layer_tasks`` for the parameters."""

    def __init__(
        self,
        number: int,
        tile: TileSource,
        candidates: Sequence[EncodeParams],
        chosen: Mapping[Tools, Backend],
        threads: int | None,
    ):
        self.tile, self.candidates, self.chosen, self.threads = tile, candidates, chosen, threads
        self.lam, self.form = candidates[0].lam, form_of(tile.on_host)
        header = header_of_tile(tile, candidates)
        self.common: dict[str, Any] = {"tile": number, "lam": self.lam, "header": header}
        seen = seen_pixels(tile.on_host) if self.lam > 0 else None
        if tile.hidden is not None:
            seen = ~tile.hidden if seen is None else seen & ~tile.hidden
        self.samples = tile.samples if seen is None else filled(tile.on_host, seen)
        self.weighting = Weighting(tile.roi, seen)
        if candidates[0].tune == EYE and self.lam > 0:
            shown = samples_on_host(self.samples)
            self.weighting = eye_weighting(tile.roi, shown, tile.depth, seen)
        self._planes: dict[Layout, tuple[list[Any], Rotation]] = {}

    def planes(self, layout: Layout) -> tuple[list[Any], Rotation]:
        """Return the planes of a layout, and the rotation of their colours."""
        if layout not in self._planes:
            rotation, depth = NO_ROTATION, self.tile.depth
            if layout is Layout.FINE_LUMA:
                rotation = chosen_rotation(widened(self.samples, depth), coded_depth(depth))
            planes = split(self.samples, depth, layout, rotation, threads=self.threads)
            self._planes[layout] = planes, rotation
        return self._planes[layout]

    def tried(self) -> Sequence[Collection[int]]:
        """Return the numbers of the candidates that are tried on each layer but alpha.

        The classification takes the planes of the usual layout, widened to 8 bits, so it does not
        see how small samples of fewer bits are without loss: lossless samples are tried on them
        too. They are also tried on small pictures, whose features say little. Gray of two values
        has no other candidate without loss.
        """
        candidates, depth, colours = self.candidates, self.tile.depth, self.form.colours
        exact = {number for number, one in enumerate(candidates) if one.tools.lossless}
        if self.lam == 0 and exact and has_two_values(self.tile.on_host):
            return [exact]
        if not candidates[0].classifies or len(candidates) == 1:
            return [range(len(candidates))] * colours
        planes, _ = self.planes(layout_of(self.samples, self.lam))
        on_host = [samples_on_host(plane) for plane in planes[:colours]]
        found = classification.tried(on_host, coded_depth(depth), self.lam, candidates)
        small = not self.tile.tile_size and math.prod(self.samples.shape[:2]) <= MOST_SMALL
        if depth >= BYTE and not small:
            return found
        return [each | exact for each in found]

    def layouts(self, tried: Sequence[Collection[int]]) -> list[tuple[Layout, list[list[int]]]]:
        """Return the layouts of planes apart to code, with the candidates of each layer of colour.

        If all candidates can code fine planes, these have the fine layout. Otherwise all have the
        usual one, so that a tile can mix them; an encoder that does not classify also tries the
        fine layout with the candidates that can.
        """
        candidates, usual = self.candidates, layout_of(self.samples, self.lam)
        lossy = [index for index, one in enumerate(candidates) if not one.tools.lossless]
        wanted = [[index for index in lossy if index in each] for each in tried]
        if not any(wanted):
            return []
        wanted = [each or lossy for each in wanted]
        if usual is not Layout.LUMA:
            return [(usual, wanted)]
        able = [index for index in lossy if can_be_fine(candidates[index], self.tile.depth)]
        fine = [[index for index in each if index in able] for each in wanted]
        if fine == wanted:
            return [(Layout.FINE_LUMA, fine)]
        both = all(fine) and not candidates[0].classifies
        return [(usual, wanted), *([(Layout.FINE_LUMA, fine)] if both else [])]

    def lossless(self, index: int) -> Iterator[LayerTask]:
        """Yield the tasks of lossless samples by a candidate.

        With a maximal error, alpha is without loss: it is apart, or all planes are without loss.
        """
        tile, params, form = self.tile, self.candidates[index], self.form
        together = params
        if params.tools.max_error and form.has_alpha:
            together = without_error(params)
            for layer, plane in enumerate(split(tile.on_host, tile.depth, Layout.APART)):
                own, weight = together, 1.0
                if layer < form.colours:
                    own, weight = params, weight_of(form, Layout.APART, layer)
                yield self._task(Layout.APART, layer, index, own, plane, weight, compared=True)
        yield self._task(Layout.TOGETHER, ALL_PLANES, index, together, tile.on_host)

    def apart(self, layout: Layout, candidates: Sequence[Sequence[int]]) -> Iterator[LayerTask]:
        """Yield the tasks of planes apart: colours by the candidates of each layer, then alpha."""
        planes, rotation = self.planes(layout)
        shape, tune = self.tile.on_host.shape[:2], self.candidates[0].tune
        for layer, plane in enumerate(planes[: self.form.colours]):
            weight = weight_of_layer(self.form, layout, layer, tune, weighs=True)
            for index in candidates[layer]:
                params = params_of_layer(self.candidates[index], self.form, layout, layer)
                tools = self.weighting.without_idle_changes(params.tools, shape)
                if tools is not params.tools:
                    params = replace(params, tools=tools)
                own = {"weighting": self.weighting, "rotation": rotation}
                task = self._task(layout, layer, index, params, plane, weight, **own)
                fragments = self.weighting.fragments(params.coded_tools, shape)
                yield replace(task, fragments=fragments)
        if self.form.has_alpha:
            first = self.candidates[candidates[0][0]]
            params = replace(first, tools=lossless_tools(first.effort))
            plane = samples_on_host(planes[-1])
            yield self._task(layout, len(planes) - 1, None, params, plane, rotation=rotation)

    def _task(
        self,
        layout: Layout,
        layer: int,
        candidate: int | None,
        params: EncodeParams,
        plane: Any,
        weight: float = 1.0,
        **more: Any,
    ) -> LayerTask:
        depth, name = self.tile.depth, self.form.title
        if layer != ALL_PLANES:
            name = layer_names(self.form, layout)[layer]
            depth = layout.depth_of(name, depth)
        asked = LOSSLESS if candidate is None else self.candidates[candidate].tools
        backend = self.chosen[asked]
        return LayerTask(
            plane if backend.reads_device_arrays else samples_on_host(plane),
            params,
            depth,
            **self.common | more,
            layout=layout,
            layer=layer,
            name=name,
            candidate=candidate,
            backend=backend,
            weight=weight,
        )
