"""Carry-safe integer range coder; ``docs/format/rangecoder.md`` states and proves its invariants.

It knows only intervals (cumulative, frequency, total) and bytes. Source: after G. N. N. Martin,
"Range encoding", 1979.
"""

from mmpcodec.errors import CorruptStream, TruncatedStream

SECTION = "Range coder"
TOP_BITS = 56
TOP = 1 << TOP_BITS
BOTTOM = 1 << (TOP_BITS - 8)
STATE_BYTES = TOP_BITS // 8


class RangeEncoder:
    """Turns intervals into bytes."""

    def __init__(self):
        self.low = 0
        self.range = TOP
        self.payload = bytearray()

    def encode(self, cumulative: int, frequency: int, total: int) -> None:
        """Narrow the range to a symbol's interval.

        Parameters
        ----------
        cumulative, frequency, total : int
            0 <= cumulative, 1 <= frequency, cumulative + frequency <= total < 2**18.
        """
        unit = self.range // total
        self.low += unit * cumulative
        self.range = unit * frequency
        if self.low >= TOP:
            self._carry()
        while self.range < BOTTOM:
            self.payload.append(self.low >> (TOP_BITS - 8))
            self.low = (self.low << 8) & (TOP - 1)
            self.range <<= 8

    def finish(self) -> bytes:
        """The payload: the fewest bytes that name a number within the last interval."""
        last = self.low + self.range - 1
        none_needed = self.low == 0 or last >= TOP
        unit = TOP if none_needed else BOTTOM
        self.low = last // unit * unit
        if self.low >= TOP:
            self._carry()
        if not none_needed:
            self.payload.append(self.low // BOTTOM)
        return bytes(self.payload)

    def _carry(self) -> None:
        self.low -= TOP
        place = len(self.payload) - 1
        while self.payload[place] == 0xFF:
            self.payload[place] = 0
            place -= 1
        self.payload[place] += 1


class RangeDecoder:
    """Turns bytes back into symbols. Bytes beyond the payload are zero.

    Parameters
    ----------
    payload : bytes
    """

    def __init__(self, payload: bytes):
        self.payload = payload
        self.position = 0
        self.range = TOP
        self.offset = 0
        for _ in range(STATE_BYTES):
            self._shift()

    def target(self, total: int) -> int:
        """The cumulative frequency that the next symbol's interval contains."""
        self.unit = self.range // total
        return min(self.offset // self.unit, total - 1)

    def consume(self, cumulative: int, frequency: int) -> None:
        """Leave the interval of the symbol that ``target`` found.

        Raises
        ------
        TruncatedStream
            When the decoder needs more bytes than any encoder leaves unwritten.
        """
        self.offset -= self.unit * cumulative
        self.range = self.unit * frequency
        while self.range < BOTTOM:
            self._shift()
            self.range <<= 8

    def finish(self) -> None:
        """Check that the payload ends where the picture does.

        Raises
        ------
        CorruptStream
            When bytes are left over.
        """
        if self.position < len(self.payload):
            raise CorruptStream(
                SECTION,
                f"payload has {len(self.payload)} bytes, the picture ends after {self.position}",
            )

    def _shift(self) -> None:
        byte = self.payload[self.position] if self.position < len(self.payload) else 0
        self.position += 1
        if self.position > len(self.payload) + STATE_BYTES:
            raise TruncatedStream(
                SECTION, f"payload ends after {len(self.payload)} bytes, before the picture does"
            )
        self.offset = ((self.offset << 8) | byte) & (TOP - 1)
