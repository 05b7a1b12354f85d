"""An upper estimate of the memory that decoding takes.

``scripts/bench/codec/worst.py`` compares it with measurements of files made to need the most.
"""

import heapq
from collections.abc import Iterable

from mmpcodec.format.layers import TileStream
from mmpcodec.format.layouts import Layout
from mmpcodec.format.tiles import Tile
from mmpcodec.reference.trees.fragments import FRAGMENT_SIZE, fragments_in
from mmpcodec.tools import Tools, trees_of

SAMPLE_BYTES = 16
"""Bytes for each sample: decoded planes, their traces, and conversion of colours."""
NUMBER_BYTES = 2
"""Bytes for the number that a palette gives a pixel."""
ELEMENT_BYTES = 1600
"""Bytes for an element in the dictionary of each scale: 961 samples, hashes, counts."""
LAYER_BYTES = 8 << 20
"""Bytes for models and tables of a layer that is being decoded."""
LOSSLESS_BYTES = 48 << 20
"""The same for each plane of a layer of lossless samples."""
LOSSLESS_COLUMN_BYTES = 2560
"""Bytes for the sums of the fits of a column of a plane of lossless samples."""
_LEVELS = 256
_MOST_INSERTIONS = 2 * (FRAGMENT_SIZE**2 - 1)  # of a fragment into one dictionary


def memory_to_decode(
    streams: Iterable[tuple[Tile, TileStream]], planes: int, samples: int, at_once: int
) -> int:
    """Return the bytes of memory that decoding takes at most.

    Parameters
    ----------
    streams : iterable of (Tile, TileStream)
    planes : int
        Planes of the picture.
    samples : int
        Samples of all tiles, in whole fragments.
    at_once : int
        Layers and palettes that are decoded at the same time.
    """
    needs, numbers = [], 0
    for tile, stream in streams:
        # With a palette, only gray is together.
        own = planes if stream.layout is Layout.TOGETHER else 1
        needs += [_layer_bytes(part.tools, tile, own) for part in stream.parts]
        numbers += tile.width * tile.height * (stream.palette is not None)
    kept = SAMPLE_BYTES * samples + NUMBER_BYTES * numbers
    return kept + sum(heapq.nlargest(at_once, needs))


def _layer_bytes(tools: Tools, tile: Tile, planes: int) -> int:
    """Return the bytes for models, tables, sums and dictionaries of a layer of some planes."""
    columns = LOSSLESS_COLUMN_BYTES * tile.width
    if tools.lossless:
        return planes * (LOSSLESS_BYTES + columns)
    return LAYER_BYTES + ELEMENT_BYTES * _elements(tools, fragments_in((tile.height, tile.width)))


def _elements(tools: Tools, fragments: int) -> int:
    """Return the most elements of a dictionary after this many fragments."""
    trees = trees_of(tools)
    if trees is None:
        return 0
    return min(trees.dictionary_limit, _LEVELS + _MOST_INSERTIONS * fragments)
