"""Numbers of variable length, and a reader of fields.

Source: section "Container" of ``docs/format/format.md``.
"""

from collections.abc import Sequence

from mmpcodec.errors import CorruptStream, TruncatedStream

MOST = (1 << 62) - 1
"""Largest number."""
LONGEST = 9
"""Number of bytes of the largest number."""
MOST_REMAINDER = 24
"""Most bits of a remainder."""
CRC_BYTES = 4
"""Number of bytes of a CRC."""


def number(value: int) -> bytes:
    """Serialise an integer from 0 to ``MOST``: seven bits in each byte, the lowest first.

    The top bit is 1 in all bytes but the last.
    """
    coded = bytearray()
    while value > 0x7F:
        coded.append(value & 0x7F | 0x80)
        value >>= 7
    coded.append(value)
    return bytes(coded)


def remainders(values: Sequence[int]) -> bytes:
    """Serialise integers from 0 on: a number of bits, then each integer by quotient and remainder.

    With n bits, an integer is as many ones as it holds ``2**n``, a zero, and the rest in n bits.
    The bits fill each byte from the highest one down, and zeros the last byte.
    """
    # The best n is about the logarithm of the mean.
    about = min((sum(values) // len(values)).bit_length(), MOST_REMAINDER)
    n = min(range(max(about - 2, 0), about + 1), key=lambda n: sum(n + (v >> n) for v in values))
    text = "".join(
        "1" * (value >> n) + "0" + format(value & (1 << n) - 1, f"0{n}b") * (n > 0)
        for value in values
    )
    size = -(-len(text) // 8)
    return number(n) + int(text.ljust(8 * size, "0"), 2).to_bytes(size, "big")


class Fields:
    """Reader of successive fields in a part of a file.

    Parameters
    ----------
    data : memoryview
        The part of the file.
    section : str
        Title of the section of the format, for error messages.
    start : int
        Byte offset of the part in the file, for error messages.

    Attributes
    ----------
    place : int
        Number of bytes read.
    """

    def __init__(self, data: memoryview, section: str, start: int = 0):
        self.data = data
        self.section = section
        self.start = start
        self.place = 0

    @property
    def offset(self) -> int:
        """Byte offset in the file of the next field."""
        return self.start + self.place

    def bytes(self, name: str, count: int) -> memoryview:
        """Read ``count`` bytes of the field ``name``.

        Raises
        ------
        TruncatedStream
            If fewer bytes are left.
        """
        left = len(self.data) - self.place
        if count > left:
            raise TruncatedStream(
                self.section,
                f"only {left} of {count} bytes of {name}",
                self.start + len(self.data),
            )
        found = self.data[self.place : self.place + count]
        self.place += count
        return found

    def fixed(self, name: str, count: int) -> int:
        """Read an unsigned big-endian integer of ``count`` bytes.

        Raises
        ------
        TruncatedStream
            If fewer bytes are left.
        """
        return int.from_bytes(self.bytes(name, count), "big")

    def number(self, name: str, low: int = 0, high: int = MOST) -> int:
        """Read a number from ``low`` to ``high``.

        Raises
        ------
        TruncatedStream
            If the part of the file ends within the number.
        CorruptStream
            If the number is out of range, or has more bytes than it needs.
        """
        # Most fields are numbers of one byte; decoding a small picture reads some thirty of them.
        data, place = self.data, self.place
        if place < len(data) and low <= (byte := data[place]) <= high and byte < 0x80:
            self.place = place + 1
            return byte
        first = self.offset
        value = 0
        for index in range(LONGEST):
            if self.place == len(data):
                self.bytes(name, 1)  # raises the error
            byte = data[self.place]
            self.place += 1
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                break
        if byte >= 0x80 or (byte == 0 and index):
            raise CorruptStream(self.section, f"{name} is not a number in shortest form", first)
        if not low <= value <= high:
            allowed = f"{low}" if low == high else f"{low} to {high}"
            raise CorruptStream(self.section, f"{name} is {value}, allowed is {allowed}", first)
        return value

    def remainders(self, name: str, count: int) -> list[int]:
        """Read ``count`` integers, as the function ``remainders`` writes them.

        Raises
        ------
        TruncatedStream
            If the part of the file ends before the last integer.
        CorruptStream
            If the number of bits is out of range, or a bit after the last integer is 1.
        """
        n = self.number(f"bits of {name}", 0, MOST_REMAINDER)
        left = len(self.data) - self.place
        if count * (n + 1) > 8 * left:
            raise TruncatedStream(
                self.section, f"only {left} bytes for {count} {name}", self.start + len(self.data)
            )
        values = []
        bits = held = 0  # bits that are read but not used, and their number
        for _ in range(count):
            quotient = 0
            while True:
                if held == 0:
                    bits, held = self.bytes(name, 1)[0], 8
                held -= 1
                if not bits >> held & 1:
                    break
                quotient += 1
            while held < n:
                bits, held = bits << 8 | self.bytes(name, 1)[0], held + 8
            held -= n
            values.append(quotient << n | bits >> held & (1 << n) - 1)
            bits &= (1 << held) - 1
        if bits:
            raise CorruptStream(self.section, f"bits after {name} are not 0", self.offset - 1)
        return values
