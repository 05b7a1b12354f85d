"""An upper estimate of the memory that decoding takes.

``scripts/bench/codec/worst.py`` compares it with measurements of files made to need the most.
"""

import heapq
from collections.abc import Iterable, Sequence

from mmpcodec.format.jpeg import KeptJpeg, most_level_bytes
from mmpcodec.format.layers import Layer, TileStream, depth_of
from mmpcodec.format.layouts import Layout
from mmpcodec.format.palette import Palette
from mmpcodec.format.tiles import Tile
from mmpcodec.reference.lossless.two_values.bit_rows import line_bits_of
from mmpcodec.reference.lossless.two_values.places import ENTRIES
from mmpcodec.reference.lossless.two_values.plane import FORMS
from mmpcodec.reference.trees.fragments import FRAGMENT_SIZE, fragments_in
from mmpcodec.tools import LosslessTools, Tools, trees_of

SAMPLE_BYTES = 16
"""Bytes for each sample: decoded planes, their traces, and conversion of colours."""
NUMBER_BYTES = 2
"""Bytes for the number that a palette gives a pixel."""
ELEMENT_BYTES = 1600
"""Bytes for an element in the dictionary of each scale: 961 samples, hashes, counts."""
LAYER_BYTES = 8 << 20
"""Bytes for models and tables of a layer that is being decoded."""
LOSSLESS_BYTES = {1: (4 << 20, 0), 2: (10 << 20, 3 << 19), 3: (22 << 20, 5 << 19)}
"""Bytes for each plane of lossless samples, by form: for tables and hashed models, and for other
models and weights of a group of 16 decisions."""
LOSSLESS_COLUMN_BYTES = {1: 800, 2: 800, 3: 2560}
"""Bytes for the sums of the fits of a column of a plane, by form."""
REPEATING_BYTES = {1: 8 << 20, 2: 15 << 20, 3: 28 << 20}
REPEATING_PIXEL_BYTES, REPEATING_COLUMN_BYTES, REPEATING_BESIDE = 8, 512, 32
"""Bytes for tables of pixels that repeat, by form; for each pixel, and for each column; columns
beside each row that count as well."""
TWO_VALUES_BYTES = 3 << 20
"""Bytes for models of a plane of two values that do not grow with its size."""
MODEL_LINE_BYTES, KEY_LINE_BYTES = 12, 48
"""Bytes for a line of each model of a plane of two values, and of its three keys with one entry."""
TWO_VALUES_COLUMN_BYTES = 256
"""Bytes for a column of a plane of two values: places of its pixels, and lines to enter."""
JPEG_BYTES = {1: 8 << 20, 2: 20 << 20, 3: 32 << 20}
JPEG_FILE_BYTES = 24
"""Bytes for models and tables of a stripe of a kept JPEG file, by form; for a byte of the file:
its bytes, those that are no levels, and their description."""
CHAIN_BYTES = 6
"""Bytes for a pixel of the rows of a chain: in bits and words, and twice while these grow."""
_LEVELS = 256
_MOST_INSERTIONS = 2 * (FRAGMENT_SIZE**2 - 1)  # of a fragment into one dictionary


def memory_to_decode(
    streams: Iterable[tuple[Tile, TileStream]], depth: int, planes: int, samples: int, at_once: int
) -> int:
    """Return the bytes of memory that decoding takes at most.

    Parameters
    ----------
    streams : iterable of (Tile, TileStream)
    depth : int
        Bits of a coded level.
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
        for part in stream.parts:
            if isinstance(part, KeptJpeg):
                needs.append(_jpeg_bytes(part, tile, at_once))
            elif isinstance(part, Palette):
                needs.append(_palette_bytes(part, tile, depth, planes))
            else:
                needs.append(_layer_bytes(part, tile, own, depth_of(part, stream.layout, depth)))
        numbers += tile.width * tile.height * (stream.palette is not None)
    kept = SAMPLE_BYTES * samples + NUMBER_BYTES * numbers
    return kept + sum(heapq.nlargest(at_once, needs))


def memory_of_chain(pixels: int, tiles: Sequence[Tile]) -> int:
    """Return the bytes of memory that decoding a chain takes besides its last page.

    Parameters
    ----------
    pixels : int
        Of the rows of all pages, as wide as the widest one.
    tiles : sequence of Tile
        Of the pages before the last one.
    """
    return CHAIN_BYTES * pixels + SAMPLE_BYTES * max(tile.width * tile.height for tile in tiles)


def _layer_bytes(layer: Layer, tile: Tile, planes: int, depth: int) -> int:
    """Return the bytes for models, tables, sums and dictionaries of a layer of some planes."""
    tools = layer.tools
    if isinstance(tools, LosslessTools):
        return _lossless_bytes(tools, (planes, tile.height, tile.width), depth)
    return LAYER_BYTES + ELEMENT_BYTES * _elements(tools, fragments_in((tile.height, tile.width)))


def _jpeg_bytes(kept: KeptJpeg, tile: Tile, at_once: int) -> int:
    """Return the bytes for levels, stripes and bytes of a kept JPEG file."""
    levels = most_level_bytes(tile.width, tile.height)
    return levels + JPEG_FILE_BYTES * kept.file_bytes + at_once * JPEG_BYTES[kept.form]


def _palette_bytes(palette: Palette, tile: Tile, depth: int, planes: int) -> int:
    """Return the bytes for the stream of the colours or of the numbers, whichever needs more."""
    colours = 3 if planes >= 3 else 1
    tools = palette.tools
    return max(
        _lossless_bytes(tools, (colours, 1, palette.entries), depth),
        _lossless_bytes(tools, (1, tile.height, tile.width), palette.depth),
    )


def _lossless_bytes(tools: LosslessTools, shape: tuple[int, int, int], depth: int) -> int:
    """Return the bytes for planes of lossless samples, of whichever kind needs the most."""
    return max(
        _several_values_bytes(tools, shape, depth),
        _repeating_bytes(tools, *shape[1:]),
        _two_values_bytes(tools, *shape[1:]),
    )


def _several_values_bytes(tools: LosslessTools, shape: tuple[int, int, int], depth: int) -> int:
    """Return the bytes for models, tables and sums of planes of several values."""
    planes, _, width = shape
    fixed, group = LOSSLESS_BYTES[tools.lossless_form]
    columns = LOSSLESS_COLUMN_BYTES[tools.lossless_form] * width
    return planes * (fixed + group * _most_groups(tools.max_error, depth) + columns)


def _repeating_bytes(tools: LosslessTools, height: int, width: int) -> int:
    """Return the bytes for pixels that repeat; models and tables of planes come after them."""
    if tools.max_error:
        return 0
    columns = REPEATING_COLUMN_BYTES * width
    pixels = REPEATING_PIXEL_BYTES * (width + REPEATING_BESIDE) * height
    return REPEATING_BYTES[tools.lossless_form] + columns + pixels


def _two_values_bytes(tools: LosslessTools, height: int, width: int) -> int:
    """Return the bytes for models and places of a plane of two values."""
    own = FORMS[tools.lossless_form]
    models = len(own.templates) + (8 if own.places > 1 else 4)
    lines = 1 << line_bits_of(height, width)
    tables = lines * (models * MODEL_LINE_BYTES + ENTRIES[own.places] * KEY_LINE_BYTES)
    return TWO_VALUES_BYTES + tables + TWO_VALUES_COLUMN_BYTES * width


def _most_groups(max_error: int, depth: int) -> int:
    """Return the most groups of 16 decisions that the distances of samples of a depth need."""
    largest = ((1 << depth) - 1 + max_error) // (2 * max_error + 1)
    return (largest.bit_length() + 4) // 2


def _elements(tools: Tools, fragments: int) -> int:
    """Return the most elements of a dictionary after this many fragments."""
    trees = trees_of(tools)
    if trees is None:
        return 0
    return min(trees.dictionary_limit, _LEVELS + _MOST_INSERTIONS * fragments)
