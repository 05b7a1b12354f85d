"""The file of a picture whose tiles are coded one after the other, in any order."""

import time
from collections.abc import Iterable
from tempfile import TemporaryFile
from typing import BinaryIO

from mmpcodec.codec.encoding import Encoding, Statistics
from mmpcodec.codec.tiles.tile_groups import CodedTiles, TileCoder
from mmpcodec.format import container
from mmpcodec.format.container import Header
from mmpcodec.runtime.progress import Progress, report_progress


def write_tiles(
    file: BinaryIO,
    header: Header,
    coder: TileCoder,
    found: Iterable[CodedTiles],
    progress: Progress | None = None,
) -> Encoding:
    """Write the file of a picture whose coded tiles come in any order.

    The tiles wait in a temporary file, because the file begins with their sizes.

    Parameters
    ----------
    file : binary stream
        Need not be seekable.
    header : Header
        Without the sizes of the tiles.
    coder : TileCoder
        Codes the tiles.
    found : iterable of CodedTiles
    progress : callable or None
        Gets the fragments of the tiles that came.
    """
    started, done, total = time.perf_counter(), 0, coder.fragments(header.tiles)
    places: dict[int, tuple[int, int]] = {}
    statistics: dict[int, Statistics] = {}
    with TemporaryFile() as waiting:
        for tiles in found:
            for number, data in zip(tiles.numbers, tiles.data, strict=True):
                places[number] = waiting.tell(), len(data)
                waiting.write(data)
            statistics[tiles.numbers[0]] = tiles.statistics
            done += coder.fragments(header.tiles[number] for number in tiles.numbers)
            report_progress(progress, done, total)
        in_order = [places[tile.number] for tile in header.tiles]
        header = container.with_sizes(header, tuple(size for _, size in in_order))
        file.write(container.write_header(header))
        for start, size in in_order:
            waiting.seek(start)
            file.write(waiting.read(size))
        file.write(header.trailer)
    # Sums in the order of the tiles are equal, whatever the order in which the tiles came.
    measured = Statistics.sum([own for _, own in sorted(statistics.items())])
    seconds = time.perf_counter() - started
    return Encoding(header, coder.params.lam, seconds=seconds, measured=measured)
