"""Integer range coder with carry propagation, over intervals (cumulative, frequency, total).

Source: section "Range coder" of ``docs/format/format.md``; ``docs/format/rangecoder.md`` states
and proves the invariants. After G. N. N. Martin, "Range encoding", 1979.
"""

from mmpcodec.errors import CorruptStream, TruncatedStream

SECTION = "Range coder"
TOP = 1 << 64
"""Bound of low, range and offset. The first range is ``TOP - 1``."""
WORD_BYTES = 4
STATE_BYTES = 8
BOTTOM = 1 << 32
"""Least range before a symbol; below it the coder moves on by a word."""


class RangeEncoder:
    """Encodes symbols, given as intervals, into bytes.

    Attributes
    ----------
    low, range : int
        The current interval is ``low`` to ``low + range - 1``, in units of 2**-64 of the last
        word written.
    payload : bytearray
        Bytes written; a carry may still change them.
    """

    def __init__(self):
        self.low = 0
        self.range = TOP - 1
        self.payload = bytearray()

    def encode(self, cumulative: int, frequency: int, total: int) -> None:
        """Encode a symbol.

        Parameters
        ----------
        cumulative : int
            Sum of the frequencies of the symbols before this one.
        frequency : int
            Frequency of the symbol, at least 1.
        total : int
            Sum of all frequencies, below ``2**18``.
        """
        unit = self.range // total
        self.low += unit * cumulative
        self.range = unit * frequency
        if self.low >= TOP:
            self._carry()
        if self.range < BOTTOM:
            self.payload += (self.low >> 32).to_bytes(WORD_BYTES, "big")
            self.low = (self.low << 32) % TOP
            self.range <<= 32

    def finish(self) -> bytes:
        """Return the payload: the fewest bytes that name a number within the last interval."""
        last = self.low + self.range - 1
        count = 0
        unit = TOP
        while last // unit * unit < self.low:
            count += 1
            unit >>= 8
        self.low = last // unit * unit
        if self.low >= TOP:
            self._carry()
        self.payload += self.low.to_bytes(STATE_BYTES, "big")[:count]
        return bytes(self.payload)

    def _carry(self) -> None:
        self.low -= TOP
        place = len(self.payload) - 1
        while self.payload[place] == 0xFF:
            self.payload[place] = 0
            place -= 1
        self.payload[place] += 1


class RangeDecoder:
    """Decodes symbols from bytes. Bytes beyond the payload are 0.

    A symbol takes two calls: ``target``, with which the model finds the symbol, then ``consume``.

    Parameters
    ----------
    payload : bytes
    """

    def __init__(self, payload: bytes):
        self.payload = payload
        self.position = 0
        self.range = TOP - 1
        self.offset = 0
        self._shift()
        self._shift()

    def target(self, total: int) -> int:
        """Return a number from 0 to total - 1 that lies in the interval of the next symbol.

        Parameters
        ----------
        total : int
            Sum of all frequencies, below ``2**18``.
        """
        self.unit = self.range // total
        return min(self.offset // self.unit, total - 1)

    def consume(self, cumulative: int, frequency: int) -> None:
        """Move past the symbol that ``target`` found.

        Parameters
        ----------
        cumulative, frequency : int
            Interval of the symbol, as in ``RangeEncoder.encode``.

        Raises
        ------
        TruncatedStream
            If more than 8 bytes beyond the end of the payload are read.
        """
        self.offset -= self.unit * cumulative
        self.range = self.unit * frequency
        if self.range < BOTTOM:
            self._shift()
            self.range <<= 32

    def finish(self) -> None:
        """Check that all bytes of the payload were read.

        Raises
        ------
        CorruptStream
            If bytes are left over.
        """
        if self.position < len(self.payload):
            raise CorruptStream(
                SECTION,
                f"payload has {len(self.payload)} bytes, the picture ends after {self.position}",
            )

    def _shift(self) -> None:
        word = self.payload[self.position : self.position + WORD_BYTES].ljust(WORD_BYTES, b"\0")
        self.position += WORD_BYTES
        if self.position > len(self.payload) + STATE_BYTES:
            raise TruncatedStream(
                SECTION, f"payload ends after {len(self.payload)} bytes, before the picture does"
            )
        self.offset = ((self.offset << 32) | int.from_bytes(word, "big")) % TOP
