"""What a backend gets and gives that decodes whole tiles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mmpcodec.format.container import Header
from mmpcodec.format.layers import TileStream
from mmpcodec.trace import Trace


@dataclass(frozen=True, eq=False)
class TileTask:
    """A tile to decode.

    Parameters
    ----------
    stream : TileStream
    size : (int, int)
        Height and width of the tile.
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        Where a part of the samples goes: a writable view of the picture in which the samples of a
        pixel lie side by side. The other samples of the tile are dropped.
    first : (int, int)
        Row and column of the first pixel of this part in the tile.
    drawn : (H, W) bool array or None
        Receives which pixels of the whole tile its palette draws.
    """

    stream: TileStream
    size: tuple[int, int]
    samples: np.ndarray
    first: tuple[int, int] = (0, 0)
    drawn: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class TilesTask:
    """Tiles of a picture to decode.

    Parameters
    ----------
    header : Header
    tiles : sequence of TileTask
    traced : bool
        Whether to return traces.
    """

    header: Header
    tiles: Sequence[TileTask]
    traced: bool


class TileFault(NamedTuple):
    """The first error of a tile, in the order of its parts.

    Parameters
    ----------
    truncated : bool
        Whether a payload ends too early; otherwise it is corrupt.
    part : {"colours", "numbers", "palette", "layer", "checksum"}
        The part with the error: streams of the palette, a number that no colour has, a layer, or
        the checksum of the samples.
    layer : int
        Number of the layer.
    section, text : str
        As in ``FormatError``; both are empty for the checksum.
    crc : int
        CRC-32 of the decoded samples, for the checksum.
    """

    truncated: bool
    part: str
    layer: int
    section: str
    text: str
    crc: int


TileTraces = list[Trace]
"""Traces of the colours and of the numbers of the palette, if there is one, then of the layers;
empty if no traces were asked for."""
