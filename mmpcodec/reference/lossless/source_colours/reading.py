"""What the colours of a payload of lossless samples were made from, without decoding the samples.

Source: sections "Lossless samples" and "Source colours" of ``docs/format/format.md``.
"""

from mmpcodec.errors import FormatError
from mmpcodec.reference.entropy.symbols import SymbolReader
from mmpcodec.reference.entropy.syntax import LOSSLESS_SYNTAX
from mmpcodec.reference.lossless.source_colours.colours import (
    NO_COLOURS,
    SourceColours,
    can_have_colours,
    code_colours,
)
from mmpcodec.reference.lossless.streams import parted

MOST_BYTES = 16
"""Bytes of the first stream that hold the fields of source colours, which have at most 6 bits."""


def read_colours(
    payload: bytes | memoryview, planes: int, shape: tuple[int, int], depth: int, max_error: int
) -> SourceColours:
    """Return the source colours of a payload; none if it has none or does not decode.

    Parameters
    ----------
    payload : bytes or memoryview
    planes : int
    shape : (int, int)
        Rows and columns of the tile.
    depth : int
        Bits of a sample.
    max_error : int
    """
    if not can_have_colours(planes, shape, depth, max_error):
        return NO_COLOURS
    try:
        stream = parted(bytes(payload), planes)[0][:MOST_BYTES]
        return code_colours(SymbolReader(stream, LOSSLESS_SYNTAX, coarse=True), None)
    except FormatError:
        return NO_COLOURS
