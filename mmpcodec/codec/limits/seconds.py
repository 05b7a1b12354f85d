"""An upper estimate of the time that decoding takes on one thread of a usual processor.

Rates are those of files made to be slow, which ``scripts/bench/codec/worst.py`` measures. A payload
can code many samples in nearly no bits, so most of the time depends on samples and coding.
"""

from collections.abc import Iterable, Sequence

from mmpcodec.codec.limits.peek import UNKNOWN, Peek
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.jpeg import LEVEL_BYTES, KeptJpeg, most_level_bytes
from mmpcodec.format.layers import Layer, TileStream, depth_of
from mmpcodec.format.layouts import Layout
from mmpcodec.format.palette import Palette
from mmpcodec.format.tiles import Tile
from mmpcodec.limits import DecodeLimits
from mmpcodec.tools import BlockTools, LosslessTools

TILE = 1e-3
"""Seconds for a tile, whatever it contains."""
FLAT = 0.01e-6
"""Seconds for a sample that needs no decision of its own."""
LOSSLESS = {1: (0.07e-6, 0.07e-6), 2: (0.2e-6, 0.26e-6), 3: (0.8e-6, 1.5e-6)}
"""Seconds for a sample of lossless samples that takes nearly no bits, by form: in the first plane,
and in a plane that others predict."""
LOSSLESS_BYTE = 4e-6
LOSSLESS_PLANE = {1: 1.2e-3, 2: 2e-3, 3: 18e-3}
"""Seconds for tables and models of a plane that is not flat, by form."""
FITS = {1: (2e-6, 5e-6, 7.5e-6), 2: (2.2e-6, 13e-6, 21e-6), 3: (4e-6, 18e-6, 27e-6)}
"""Seconds for the weights of a group of strips in a row, by form and number of planes that predict.
All strips of the group take the exact solution, which is the slower one."""
FITTED_COLUMNS = {1: 32, 2: 128, 3: 128}
"""Columns of such a group, by form: it has four strips, and a narrower picture needs as long."""
REPEATING = {1: 0.7e-6, 2: 1.9e-6, 3: 2.3e-6}
REPEATING_FLAT = 0.05e-6
REPEATING_REACH = 1.5e-3
REPEATING_TABLES = {1: 1.5e-3, 2: 2e-3, 3: 6e-3}
"""Seconds for a sample of pixels that repeat, by form, if no candidate has its colour; for a pixel
that is flat; for the samples that a byte can hold; for tables of a tile, by form."""
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

JPEG_FLAT = {1: 3.2e-9, 2: 6e-9, 3: 20e-9}
JPEG_LEVEL = {1: 0.1e-6, 2: 0.45e-6, 3: 2.2e-6}
JPEG_REACH = {1: 0.1e-3, 2: 0.5e-3, 3: 2e-3}
"""Seconds for a level of a kept JPEG file that takes nearly no bits, by form, which the models of a
stripe reach as well; for one that takes some; for those that a byte of the payload can hold."""
JPEG_CODED_BYTE, JPEG_CODED_REACH = 0.7e-6, 6e-3
JPEG_FILE_BYTE = 0.5e-6
JPEG_SCANNED, JPEG_PASSES = 1.3e-9, 8
"""Seconds for a byte of a kept JPEG file that is coded as such; for those that a byte of the
payload can hold; for any byte of the file, most of it in its samples, whose scans can be many; for
a level of the picture that a scan passes, and how often scans can pass it."""


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
        Whether to look for planes of one or two values, and for pixels that repeat, at the
        beginnings of lossless samples: about 0.3 ms for each plane of 8 bits, and 80 ms for one of
        16 bits. All looks together take at most about 0.3 s; then, and without ``peek``, a plane
        counts as the slowest that it can be.
    """
    total, look = 0.0, Peek() if peek else None
    for tile, stream in streams:
        own = planes if stream.layout is Layout.TOGETHER else 1
        total += TILE
        for part in stream.parts:
            if isinstance(part, KeptJpeg):
                total += _jpeg_seconds(part, tile, planes)
            elif isinstance(part, Palette):
                total += _palette_seconds(part, tile, 3 if planes >= 3 else 1)
            else:
                bits = depth_of(part, stream.layout, depth)
                total += _layer_seconds(part, tile, own, bits, look)
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


def _jpeg_seconds(kept: KeptJpeg, tile: Tile, planes: int) -> float:
    """Return the seconds for the file, and for the samples that are made of it."""
    size, levels = len(kept.payload), most_level_bytes(tile.width, tile.height) // LEVEL_BYTES
    dense = min(levels * JPEG_LEVEL[kept.form], size * JPEG_REACH[kept.form])
    coded = min(kept.most_coded_bytes * JPEG_CODED_BYTE, size * JPEG_CODED_REACH)
    passed = JPEG_PASSES * planes * tile.width * tile.height * JPEG_SCANNED
    return levels * JPEG_FLAT[kept.form] + passed + dense + coded + kept.file_bytes * JPEG_FILE_BYTE


def _palette_seconds(palette: Palette, tile: Tile, colours: int) -> float:
    """Return the seconds for the numbers of a palette, and for its colours, which are a row."""
    form, samples = palette.tools.lossless_form, tile.width * tile.height
    rate = max(LOSSLESS[form][0], TWO_VALUES[form], REPEATING[form])
    tables = (1 + colours) * LOSSLESS_PLANE[form] + 2 * REPEATING_TABLES[form]
    return samples * (rate + FLAT) + _fit_seconds(form, tile, 1) + tables


def _layer_seconds(layer: Layer, tile: Tile, planes: int, depth: int, peek: Peek | None) -> float:
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


def _lossless_seconds(
    layer: Layer, tile: Tile, planes: int, depth: int, peek: Peek | None
) -> float:
    tools, size, samples = layer.tools, len(layer.payload), tile.width * tile.height
    assert isinstance(tools, LosslessTools)
    form, shape = tools.lossless_form, (tile.height, tile.width)
    seen = UNKNOWN if peek is None else peek.at(layer, shape, planes, depth)
    if seen.flat == planes:
        return planes * samples * FLAT + size * LOSSLESS_BYTE
    several = _several_values_seconds(form, tile, planes, seen.flat) + size * LOSSLESS_BYTE
    if not tools.max_error and not seen.natural:
        own = (planes - seen.flat) * REPEATING[form]
        reach = min(samples * own, size * REPEATING_REACH)
        tables = (planes - seen.flat) * LOSSLESS_PLANE[form] + REPEATING_TABLES[form]
        several = max(several, samples * REPEATING_FLAT + reach + tables)
    # Without a look into it, a plane that is alone may have two values or more.
    if planes > 1 or tools.max_error or (seen.values or 0) > 2:
        return several
    reach = min(samples * TWO_VALUES[form], size * TWO_VALUES_REACH)
    two = samples * TWO_VALUES_FLAT + reach + size * TWO_VALUES_BYTE
    return two if seen.values == 2 or depth == 1 else max(two, several)


def _several_values_seconds(form: int, tile: Tile, planes: int, flat: int) -> float:
    """Return the seconds for planes, the first ones of which are flat, without their bytes."""
    samples = tile.width * tile.height
    first, later = LOSSLESS[form]
    rates = flat * FLAT + (planes - flat) * later + (first - later if flat == 0 else 0.0)
    return (
        samples * rates
        + _fit_seconds(form, tile, planes, flat)
        + (planes - flat) * LOSSLESS_PLANE[form]
    )


def _fit_seconds(form: int, tile: Tile, planes: int, flat: int = 0) -> float:
    """Return the seconds for the weights of all strips, which are solved once a row."""
    groups = tile.height * -(-tile.width // FITTED_COLUMNS[form])
    return groups * sum(FITS[form][min(number, 2)] for number in range(flat, planes))
