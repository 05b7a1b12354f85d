"""An upper estimate of the time that decoding takes on one thread of a usual processor.

Rates are those of files made to be slow, which ``scripts/bench/codec/worst.py`` measures. A payload
can code many samples in nearly no bits, so most of the time depends on samples and coding.
"""

from collections.abc import Iterable, Sequence

from mmpcodec.depth import BYTE
from mmpcodec.errors import FormatError
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer, TileStream, depth_of
from mmpcodec.format.layouts import Layout
from mmpcodec.format.palette import Palette
from mmpcodec.format.tiles import Tile
from mmpcodec.limits import DecodeLimits
from mmpcodec.reference.entropy.binary import ONE
from mmpcodec.reference.entropy.symbols import SymbolReader
from mmpcodec.reference.entropy.syntax import LOSSLESS_SYNTAX
from mmpcodec.reference.lossless.source_colours.colours import can_have_colours, code_colours
from mmpcodec.reference.lossless.streams import parted
from mmpcodec.reference.lossless.values import code_values
from mmpcodec.tools import BlockTools, LosslessTools

FLAT = 0.01e-6
"""Seconds for a sample that needs no decision of its own."""
LOSSLESS = {1: 0.1e-6, 2: 0.2e-6, 3: 0.8e-6}
"""Seconds for a sample of lossless samples that takes nearly no bits, by form."""
LOSSLESS_BYTE = 4e-6
REPEATING = {1: 0.7e-6, 2: 1.9e-6, 3: 2.3e-6}
REPEATING_FLAT = 0.05e-6
REPEATING_REACH = 1.5e-3
"""Seconds for a sample of pixels that repeat, by form, if no candidate has its colour; for a pixel
that is flat; for the samples that a byte can hold."""
TWO_VALUES = {1: 0.15e-6, 2: 0.3e-6, 3: 0.65e-6}
TWO_VALUES_FLAT = 0.04e-6
TWO_VALUES_REACH = 6e-3
TWO_VALUES_BYTE = 10e-6
"""Seconds for a pixel of a plane of two values that is mixed, by form; for one that is not; for the
mixed pixels that a byte can hold; for a byte of pixels that nothing predicts."""
TREES = 0.3e-6
TREES_FLAT = 0.07e-6
TREES_REACH = 1.5e-3
TREES_BYTE = 3e-6
"""Seconds for a sample of trees in small leaves, and in whole fragments; for the small leaves that
a byte can hold."""
BLOCKS = 0.3e-6
BLOCKS_REACH = 1.6e-3
"""Seconds for a sample of blocks in small blocks of templates, and for those a byte can hold."""
BLOCKS_BYTE = 1e-6
MOST_PEEKED = 256
"""Bytes of a payload that may be flat."""


def seconds_to_decode(
    streams: Iterable[tuple[Tile, TileStream]], depth: int, planes: int, *, peek: bool
) -> float:
    """Return the seconds that decoding takes at most on one thread.

    Parameters
    ----------
    streams : iterable of (Tile, TileStream)
    depth : int
        Bits of a coded level.
    planes : int
        Of the picture.
    peek : bool
        Whether to look into short payloads of lossless samples for planes of one value, which takes
        about a millisecond a plane, and more above 8 bits. Without it, no plane is flat.
    """
    total = 0.0
    for tile, stream in streams:
        own = planes if stream.layout is Layout.TOGETHER else 1
        samples = tile.width * tile.height
        for part in stream.parts:
            if isinstance(part, Palette):
                form = part.tools.lossless_form
                own_rate = max(LOSSLESS[form], TWO_VALUES[form], REPEATING[form])
                total += samples * (own_rate + FLAT)
                continue
            bits = depth_of(part, stream.layout, depth)
            total += _layer_seconds(part, tile, own, bits, peek)
    return total


def opens_by_default(data: bytes) -> bool:
    """Return whether a whole file of one tile is within the default limit of time."""
    view = memoryview(data)
    header = container.read_header(view).of_levels
    start, end = header.tile_offsets[:2]
    streams = [(header.tiles[0], layers.read(view[start:end], start, header))]
    most = DecodeLimits().seconds_for(len(data))
    return seconds_within(streams, header, most) <= most


def seconds_within(
    streams: Sequence[tuple[Tile, TileStream]], header: Header, most: float
) -> float:
    """Return ``seconds_to_decode``; it looks into payloads only if it is above ``most`` without."""
    seconds = seconds_to_decode(streams, header.level_depth, header.planes, peek=False)
    if seconds <= most:
        return seconds
    return seconds_to_decode(streams, header.level_depth, header.planes, peek=True)


def _layer_seconds(layer: Layer, tile: Tile, planes: int, depth: int, peek: bool) -> float:
    tools, size = layer.tools, len(layer.payload)
    if isinstance(tools, LosslessTools):
        return _lossless_seconds(layer, tile, planes, depth, peek)
    samples = tile.width * tile.height
    if not isinstance(tools, BlockTools):
        small = min(planes * samples * (TREES - TREES_FLAT), size * TREES_REACH)
        return planes * samples * TREES_FLAT + small + size * TREES_BYTE
    trees = TREES if tools.trees else 0.0
    small = min(planes * samples * (BLOCKS + trees), size * BLOCKS_REACH)
    return planes * samples * FLAT + small + size * BLOCKS_BYTE


def _lossless_seconds(layer: Layer, tile: Tile, planes: int, depth: int, peek: bool) -> float:
    tools, size, samples = layer.tools, len(layer.payload), tile.width * tile.height
    assert isinstance(tools, LosslessTools)
    short = size <= MOST_PEEKED
    # Without a look into it, a plane that is alone may have two values or more.
    alone = planes == 1 and not tools.max_error
    known = peek and alone and (short or depth <= BYTE)
    values = _values_of(layer, depth) if known else None
    flat = int(values == 1)
    if peek and short and not known:
        flat = _flat_planes(layer, tile, planes, depth)
    rates = flat * FLAT + (planes - flat) * LOSSLESS[tools.lossless_form]
    several = samples * rates + size * LOSSLESS_BYTE
    if not tools.max_error and not (peek and _is_natural(layer, tile, planes, depth)):
        own = (planes - flat) * REPEATING[tools.lossless_form]
        repeating = samples * REPEATING_FLAT + min(samples * own, size * REPEATING_REACH)
        several = max(several, repeating)
    if not alone or flat or (values or 0) > 2:
        return several
    reach = min(samples * TWO_VALUES[tools.lossless_form], size * TWO_VALUES_REACH)
    two = samples * TWO_VALUES_FLAT + reach + size * TWO_VALUES_BYTE
    return two if values == 2 or depth == 1 else max(two, several)


def _values_of(layer: Layer, depth: int) -> int | None:
    """Return how many values a plane that is alone has; None if the decoder will raise an error."""
    try:
        reader = SymbolReader(bytes(layer.payload), LOSSLESS_SYNTAX, coarse=True)
        return len(code_values(reader, depth, None, 0))
    except FormatError:
        return None


def _is_natural(layer: Layer, tile: Tile, planes: int, depth: int) -> bool:
    """Return whether no pixel repeats, so that only planes are coded."""
    try:
        stream = parted(bytes(layer.payload), planes)[0]
        reader = SymbolReader(stream, LOSSLESS_SYNTAX, coarse=True)
        if _has_colours(layer, tile, planes, depth) and code_colours(reader, None).kind:
            return True
        code_values(reader, depth, None, 0)
        return not reader.bit("map", ONE // 2, None)
    except FormatError:
        return False


def _has_colours(layer: Layer, tile: Tile, planes: int, depth: int) -> bool:
    """Return whether the first stream begins with the fields of source colours."""
    return can_have_colours(planes, (tile.height, tile.width), depth, layer.tools.max_error)


def _flat_planes(layer: Layer, tile: Tile, planes: int, depth: int) -> int:
    """Return the number of first planes that have one value, which the decoder fills at once."""
    flat, has_colours = 0, _has_colours(layer, tile, planes, depth)
    try:
        for stream in parted(bytes(layer.payload), planes):
            reader = SymbolReader(stream, LOSSLESS_SYNTAX, coarse=True)
            if has_colours and not flat:
                code_colours(reader, None)
            if layer.tools.max_error or len(code_values(reader, depth, None, 0)) > 1:
                break
            flat += 1
    except FormatError:
        pass  # the decoder raises it
    return flat
