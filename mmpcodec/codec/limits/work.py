"""Whether decoding tiles can take more time or memory than is allowed, before it begins."""

from collections.abc import Sequence

from mmpcodec.codec.limits.seconds import seconds_within
from mmpcodec.errors import LimitExceeded
from mmpcodec.format import container
from mmpcodec.format.container import Header
from mmpcodec.format.layers import TileStream
from mmpcodec.format.tiles import Tile
from mmpcodec.limits import DecodeLimits


def check_seconds(
    streams: Sequence[tuple[Tile, TileStream]], header: Header, size: int, most: float
) -> None:
    """Compare the time that decoding tiles of a file of ``size`` bytes can take with a limit.

    Raises
    ------
    LimitExceeded
        If it is above ``most`` seconds.
    """
    seconds = seconds_within(streams, header, most)
    if seconds > most:
        text = f"decoding can take {seconds:.3g} s, the limit is {most:.3g} s for {size} bytes"
        raise LimitExceeded(container.SECTION, f"{text}; max_seconds (--max-seconds) raises it")


def check_memory(needed: int, limits: DecodeLimits) -> None:
    """Compare the bytes of memory that decoding can take with the limit.

    Raises
    ------
    LimitExceeded
        If they are above.
    """
    if fault := limits.fault("max_memory", needed, "bytes of memory"):
        raise LimitExceeded(container.SECTION, f"decoding can take {fault}")
