"""Numbers of a file, of any length. Source: section "Container" of ``docs/format/format.md``."""

from mmpcodec.errors import CorruptStream, TruncatedStream

MOST = (1 << 62) - 1
"""Largest number."""
LONGEST = 9
"""Bytes of the largest number."""
CRC_BYTES = 4
"""Bytes of a checksum."""


def number(value: int) -> bytes:
    """A number from 0 on: seven bits a byte, lowest first, the top bit set on all but the last."""
    coded = bytearray()
    while value > 0x7F:
        coded.append(value & 0x7F | 0x80)
        value >>= 7
    coded.append(value)
    return bytes(coded)


class Fields:
    """Reads the fields of a part of a file, one after the other.

    Parameters
    ----------
    data : memoryview
        The part.
    section : str
        Of the format, for errors.
    start : int
        Where the part begins in its file, for errors.
    """

    def __init__(self, data: memoryview, section: str, start: int = 0):
        self.data = data
        self.section = section
        self.start = start
        self.place = 0

    @property
    def offset(self) -> int:
        """Place in the file of what is read next."""
        return self.start + self.place

    def bytes(self, name: str, count: int) -> memoryview:
        """So many bytes.

        Raises
        ------
        TruncatedStream
            When fewer are left.
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
        """An unsigned big-endian integer of so many bytes."""
        return int.from_bytes(self.bytes(name, count), "big")

    def number(self, name: str, low: int = 0, high: int = MOST) -> int:
        """A number within a range.

        Raises
        ------
        TruncatedStream
            When the part ends within it.
        CorruptStream
            When it is out of range, or not in its shortest form.
        """
        first = self.offset
        value = 0
        for index in range(LONGEST):
            byte = self.bytes(name, 1)[0]
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                break
        if byte >= 0x80 or (byte == 0 and index):
            raise CorruptStream(self.section, f"{name} is not a number in shortest form", first)
        if not low <= value <= high:
            allowed = f"{low}" if low == high else f"{low} to {high}"
            raise CorruptStream(self.section, f"{name} is {value}, allowed is {allowed}", first)
        return value
