"""TIFF structures: directories of entries, as TIFF files and EXIF have them."""

import struct
from typing import NamedTuple

from parts.choices import Choices

BYTE, ASCII, SHORT, LONG, RATIONAL, UNDEFINED, LONG8 = 1, 2, 3, 4, 5, 7, 16
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}
_CODES = {SHORT: "H", LONG: "I", LONG8: "Q"}


class Entry(NamedTuple):
    """An entry of a directory: ``value`` is its bytes, or the name of a place known later."""

    tag: int
    kind: int
    number: int
    value: bytes | str


class Structure:
    """A TIFF structure that grows by values and directories.

    Parameters
    ----------
    choices : Choices
    order : {"<", ">"}
    big : bool
        Whether offsets have 8 bytes, as in BigTIFF.
    """

    def __init__(self, choices: Choices, order: str, big: bool = False):
        self.choices = choices
        self.order = order
        self.big = big
        self.bits = 64 if big else 32
        head = b"II" if order == "<" else b"MM"
        if big:
            head += struct.pack(
                f"{order}HHH", choices.number(43, 16), choices.number(8, 16), choices.number(0, 16)
            )
        else:
            head += struct.pack(f"{order}H", choices.number(42, 16))
        self.data = bytearray(head + bytes(self.bits // 8))
        self.places: dict[str, int] = {"header": 0, "middle": len(head)}

    def add(self, value: bytes) -> int:
        """Append bytes and return their offset."""
        place = len(self.data)
        self.data += value
        return place

    def pointer(self, place: int) -> bytes:
        """Encode an offset, which may be broken or lead to a place in use."""
        if self.places and self.choices.odd():
            place = self.choices.choice(list(self.places.values()))
        return self.exact(self.choices.number(place, self.bits))

    def exact(self, place: int) -> bytes:
        """Encode an offset."""
        return struct.pack(self.order + ("Q" if self.big else "I"), place)

    def numbers(self, tag: int, kind: int, *values: int) -> Entry:
        """Make an entry of numbers, each of which may be broken."""
        bits = 8 * _SIZES[kind]
        found = [self.choices.number(value, bits) for value in values]
        return Entry(
            tag, kind, len(found), struct.pack(self.order + _CODES[kind] * len(found), *found)
        )

    def text(self, tag: int, said: bytes) -> Entry:
        """Make an entry of text."""
        said = self.choices.broken(said) + b"\0"
        return Entry(tag, ASCII, len(said), said)

    def directory(self, entries: list[Entry], following: int | str = 0) -> int:
        """Append a directory, after the values of its entries, and return its offset.

        The value of an entry, or ``following``, may be "self", the offset of this directory.
        """
        choices = self.choices
        entries = choices.shuffled(sorted(entries))
        room = self.bits // 8
        outside = {}
        for number, entry in enumerate(entries):
            if isinstance(entry.value, bytes) and len(entry.value) > room:
                outside[number] = self.add(entry.value)
        start = len(self.data)
        self.places[f"directory {start}"] = start
        head = struct.pack(
            self.order + ("Q" if self.big else "H"),
            choices.number(len(entries), 64 if self.big else 16),
        )
        table = [head]
        for number, (tag, kind, count, value) in enumerate(entries):
            if isinstance(value, str):
                field = self.exact(start)
            elif number in outside:
                field = self.pointer(outside[number])
            else:
                field = value.ljust(room, b"\0")
            tag, kind = choices.number(tag, 16), choices.either(kind, *range(20), 65535)
            table.append(
                struct.pack(
                    self.order + ("HHQ" if self.big else "HHI"),
                    tag,
                    kind,
                    choices.number(count, self.bits),
                )
                + field
            )
        table.append(self.exact(start) if isinstance(following, str) else self.exact(following))
        self.add(b"".join(table))
        return start

    def finished(self, first: int) -> bytes:
        """Return the structure with the offset of its first directory in its header."""
        size = self.bits // 8
        at = 8 if self.big else 4
        self.data[at : at + size] = self.exact(self.choices.number(first, self.bits))
        return (
            self.choices.broken(bytes(self.data)) if self.choices.once_in(8) else bytes(self.data)
        )
