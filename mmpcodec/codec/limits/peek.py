"""What the beginnings of lossless samples say about the time that decoding them takes.

Source: section "Lossless samples" of ``docs/format/format.md``.
"""

from dataclasses import dataclass

from mmpcodec.errors import FormatError
from mmpcodec.format.layers import Layer
from mmpcodec.reference.entropy.binary import ONE
from mmpcodec.reference.entropy.symbols import SymbolReader
from mmpcodec.reference.entropy.syntax import LOSSLESS_SYNTAX
from mmpcodec.reference.lossless.source_colours.colours import can_have_colours, code_colours
from mmpcodec.reference.lossless.streams import parted
from mmpcodec.reference.lossless.values import code_values

MOST_BITS = 1 << 18
"""Bits of values that are read of a file, as many as four planes of 16 bits can have."""
MOST_KEPT = 256
"""Bytes of a stream whose beginning is read only once, however many tiles have this stream."""


@dataclass(frozen=True)
class Beginning:
    """What the beginnings of the streams of a layer say.

    Parameters
    ----------
    flat : int
        Number of first planes that have one value, which the decoder fills at once.
    values : int or None
        Number of values of the first plane; None if it is unknown.
    natural : bool
        Whether it is certain that no pixel repeats, so that only planes are coded.
    """

    flat: int = 0
    values: int | None = None
    natural: bool = False


UNKNOWN = Beginning()


class Peek:
    """Reads the beginnings of lossless samples of a file, and bounds the bits that it reads.

    A plane whose values are named has a bit for each possible value: 65536 bits take about 80 ms.
    A file can have many tiles in few bytes, so planes count as unknown once ``MOST_BITS`` are read.
    """

    def __init__(self):
        self._left = MOST_BITS
        self._found: dict[tuple[bytes, int, bool], tuple[int, bool] | None] = {}

    def at(self, layer: Layer, shape: tuple[int, int], planes: int, depth: int) -> Beginning:
        """Return what is known of a layer of lossless samples.

        Parameters
        ----------
        layer : Layer
        shape : (int, int)
            Rows and columns of the tile.
        planes : int
            Planes of the layer.
        depth : int
            Bits of a sample.
        """
        if layer.tools.max_error:
            return UNKNOWN  # its planes have all values
        has_colours = can_have_colours(planes, shape, depth, 0)
        try:
            streams = parted(bytes(layer.payload), planes)
        except FormatError:
            return UNKNOWN  # the decoder raises it
        first = self._beginning(streams[0], depth, has_colours)
        if first is None:
            return UNKNOWN
        flat, values = 0, first[0]
        while values == 1:
            flat += 1
            later = self._beginning(streams[flat], depth, False) if flat < planes else None
            values = 0 if later is None else later[0]
        return Beginning(flat, *first)

    def _beginning(self, stream: bytes, depth: int, has_colours: bool) -> tuple[int, bool] | None:
        """Return the number of values, and whether no pixel repeats; None if both are unknown."""
        key = stream, depth, has_colours
        if key in self._found:
            return self._found[key]
        found = self._read(stream, depth, has_colours)
        if len(stream) <= MOST_KEPT:
            self._found[key] = found
        return found

    def _read(self, stream: bytes, depth: int, has_colours: bool) -> tuple[int, bool] | None:
        if self._left < 1 << depth:
            return None
        try:
            reader = SymbolReader(stream, LOSSLESS_SYNTAX, coarse=True)
            converted = has_colours and code_colours(reader, None).kind > 0
            self._left -= 1 << depth
            values = len(code_values(reader, depth, None, 0))
            return values, converted or not reader.bit("map", ONE // 2, None)
        except FormatError:
            return None  # the decoder raises it
