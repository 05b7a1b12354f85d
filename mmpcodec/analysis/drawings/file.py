"""Draw a decoded picture with leaves or blocks of its first layer and palette, tile by tile."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mmpcodec.analysis.drawings.blocks import (
    LEAST_ZOOM,
    draw_blocks,
    least_zoom,
    tint_palette,
)
from mmpcodec.analysis.drawings.levels import as_shown, shown_range
from mmpcodec.analysis.drawings.trees import draw_tree
from mmpcodec.metadata import Metadata
from mmpcodec.samples import Samples, form_of
from mmpcodec.tools import BlockTools

if TYPE_CHECKING:
    from mmpcodec import Inspection
    from mmpcodec.codec.tile_coding import LayerCoding


def shown_in_gray(samples: Samples, depth: int, metadata: Metadata) -> np.ndarray:
    """Convert samples to (H, W) uint8: the mean of the colours, without alpha."""
    if samples.ndim == 3:
        samples = samples[..., : form_of(samples).colours]
    shown = as_shown(samples, *shown_range(samples, depth, metadata))
    return shown if shown.ndim == 2 else np.rint(shown.mean(axis=2)).astype(np.uint8)


def outlined(layers: "Sequence[LayerCoding]") -> "dict[int, LayerCoding]":
    """Return the first layer of each tile, whose leaves or blocks are drawn, by tile."""
    return {layer.tile: layer for layer in reversed(layers) if not layer.entries}


def draw_file(found: "Inspection", zoom: int | None = None) -> NDArray[np.uint8] | None:
    """Draw the outlines of leaves or blocks over a decoded picture, and tint palettes.

    Parameters
    ----------
    found : Inspection
        Inspection of a whole file, with ``decode=True``.
    zoom : int or None
        Enlargement. None takes 3, or more for small pictures with predicted blocks.

    Returns
    -------
    (zoom H + 1, zoom W + 1, 3) uint8 array, or None
        None if the first layers of all tiles hold lossless samples, without leaves or blocks, and
        no tile has a palette.
    """
    header = found.header
    assert found.samples is not None
    gray = shown_in_gray(found.samples, header.depth, header.metadata)
    first = outlined(found.layers)
    palettes = {
        layer.tile: layer.trace.drawn
        for layer in found.layers
        if layer.trace is not None and layer.trace.drawn is not None
    }
    if zoom is None:
        marked = any(isinstance(layer.tools, BlockTools) for layer in first.values())
        zoom = least_zoom(gray.shape) if marked else LEAST_ZOOM
    drawn = np.zeros((zoom * header.height + 1, zoom * header.width + 1, 3), np.uint8)
    outlines = len(palettes)
    for tile in header.tiles:
        own, layer = gray[tile.slices], first.get(tile.number)
        trace = layer.trace if layer is not None else None
        edges = None if trace is None else trace.edges()
        if layer is None or trace is None or edges is None:
            none = np.zeros(own.shape, bool)
            picture = draw_tree(own, (none, none), fragment_size=1 << 24, zoom=zoom)
        elif trace.units is None:
            picture = draw_tree(own, edges, zoom=zoom)
        elif isinstance(layer.tools, BlockTools):
            picture = draw_blocks(own, trace.units, layer.tools.fragment_size, zoom=zoom)
        outlines += edges is not None
        if tile.number in palettes:
            tint_palette(picture, palettes[tile.number], zoom)
        rows, columns = zoom * tile.y, zoom * tile.x
        drawn[rows : rows + picture.shape[0], columns : columns + picture.shape[1]] = picture
    return drawn if outlines else None
