"""Limits of an area whose tiles are decoded: its samples, and the memory and work of its tiles."""

from collections.abc import Sequence

from mmpcodec.codec.limits.memory import memory_of_chain, memory_to_decode
from mmpcodec.codec.limits.work import check_memory, check_seconds
from mmpcodec.codec.tiles.chains import Chain
from mmpcodec.errors import LimitExceeded
from mmpcodec.format import container
from mmpcodec.format.container import Header
from mmpcodec.format.layers import TileStream
from mmpcodec.format.tiles import Area, Spans, Tile
from mmpcodec.limits import DecodeLimits
from mmpcodec.reference.trees.fragments import FRAGMENT_SIZE, fragments_in
from mmpcodec.runtime.machine import processors

MOST_CHAIN = 8
"""How many times the limit of samples the rows of a chain may have."""
MOST_DESCRIBED = 1 << 16
"""Most tiles that are described without decoding; each takes about 1 kB and 30 us."""


def check_area(
    what: str, area: Area, planes: int, spans: tuple[Spans, Spans], limits: DecodeLimits
) -> int:
    """Compare the area to decode with the limits, before its tiles are listed.

    Returns
    -------
    int
        Samples in the whole fragments of its tiles.
    """
    down, along = (sum(fragments_in((length, 1)) for _, (_, length) in axis) for axis in spans)
    samples = FRAGMENT_SIZE**2 * down * along * planes
    fault = limits.fault_of_size(
        area.width, area.height, samples, "samples in whole 16x16 fragments"
    )
    if fault:
        raise LimitExceeded(container.SECTION, f"{what} is {area.width}x{area.height}: {fault}")
    return samples


def check_described(spans: tuple[Spans, Spans]) -> None:
    """Check that the tiles to describe, without decoding, are not too many."""
    count = len(spans[0]) * len(spans[1])
    if count > MOST_DESCRIBED:
        text = f"{count} tiles to describe, at most {MOST_DESCRIBED} are; give a smaller region"
        raise LimitExceeded(container.SECTION, text)


def check_work(
    streams: Sequence[tuple[Tile, TileStream]],
    header: Header,
    size: int,
    samples: int,
    limits: DecodeLimits,
    *,
    threads: int | None = None,
    chain: Chain | None = None,
) -> None:
    """Compare what decoding tiles of a file of ``size`` bytes, and a chain, can take with limits.

    ``samples`` are held besides; see ``memory_to_decode``. The time is that of all pages of a
    chain.

    Raises
    ------
    LimitExceeded
        If memory, time or the rows of the chain are above.
    """
    pixels = 0 if chain is None else chain.pixels_with(header.width, header.height)
    if pixels > MOST_CHAIN * limits.max_samples:
        text = f"rows of a chain have {pixels} pixels, the limit is {MOST_CHAIN} times "
        text += f"{limits.max_samples}; max_samples (--max-samples) raises it"
        raise LimitExceeded(container.SECTION, text)
    if limits.max_memory is not None:
        at_once = threads or processors()
        needed = memory_to_decode(streams, header.level_depth, header.planes, samples, at_once)
        if chain is not None:
            needed += memory_of_chain(pixels, [page.tile for page in chain.pages])
        check_memory(needed, limits)
    most = limits.seconds_for(size)
    if chain is not None:
        most = chain.seconds_for(size, limits)
        size += sum(page.header.file_bytes for page in chain.pages)
        streams = [*streams, *((page.tile, page.stream) for page in chain.pages)]
    check_seconds(streams, header, size, most)
