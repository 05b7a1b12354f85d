"""Filtering of the borders between decoded tiles.

A decoded tile alone says nothing of its neighbours, so whoever joins tiles calls
``filter_borders``. A region needs the tiles of ``read_area``, of which it joins those parts that
lie in ``joined_area``.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mmpcodec.backends.base import Backend
from mmpcodec.format.container import Header
from mmpcodec.format.layers import TileStream
from mmpcodec.format.layouts import ALPHA
from mmpcodec.format.tiles import Area, Tile, bounds_of, tiles_touching
from mmpcodec.reference.filters.border import REACH
from mmpcodec.samples import Samples

Fixed = bool | NDArray[np.bool_]
"""Which pixels of a tile the border filter leaves: none, all, or those of an (H, W) mask."""


def fixed_of(stream: TileStream, drawn: NDArray[np.bool_] | None) -> Fixed:
    """Return which pixels of a tile keep their samples: those that promise a bound of the error.

    Parameters
    ----------
    stream : TileStream
    drawn : (H, W) bool array or None
        Pixels that a palette with transparent pixels draws.
    """
    if all(layer.tools.lossless for layer in stream.layers if layer.name != ALPHA):
        return True
    return False if drawn is None else drawn


def drawn_mask(header: Header, tile: Tile, stream: TileStream) -> NDArray[np.bool_] | None:
    """Return an array for the pixels of a tile that a palette draws, or None if none is needed."""
    palette = stream.palette
    if not header.border_step or palette is None or not palette.transparent:
        return None
    return np.zeros((tile.height, tile.width), np.bool_)


def read_area(header: Header, area: Area) -> Area:
    """Return the area whose tiles a decoder reads for an area of the picture."""
    if not header.border_step:
        return area
    return area.grown(REACH, Area(0, 0, header.width, header.height))


def joined_area(header: Header, area: Area) -> Area:
    """Return the area that a decoder joins and filters for an area of the picture."""
    if not header.border_step:
        return area
    sides = header.height, header.width, header.tile_size
    # A sample depends on lines across borders within REACH, and these have REACH samples there.
    return area.grown(2 * REACH, bounds_of(list(tiles_touching(read_area(header, area), *sides))))


def filter_borders(
    samples: Samples,
    area: Area,
    header: Header,
    tiles: Iterable[tuple[Tile, Fixed]],
    backend: Backend,
) -> None:
    """Filter the borders between tiles within an area of a picture, in place.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        Joined samples of the area, which is the whole picture or a ``joined_area``.
    area : Area
    header : Header
    tiles : iterable of (Tile, Fixed)
        The tiles that decoded. The borders of others are not filtered.
    backend : Backend
    """
    if not header.border_step:
        return
    parts = [(tile, tile.common(area), own) for tile, own in tiles]
    fixed = None
    if sum(common.pixels for _, common, own in parts if common and own is False) < area.pixels:
        fixed = np.ones(samples.shape[:2], np.bool_)
        for tile, common, own in parts:
            if common is not None:
                cut = own if isinstance(own, bool) else own[common.within(tile).slices]
                fixed[common.within(area).slices] = cut
    backend.border_filter.apply(
        samples,
        header.border_step,
        header.level_depth,
        header.tile_size,
        (area.x, area.y),
        fixed,
        header.first,
    )
