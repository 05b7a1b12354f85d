"""Files of boxes, as AVIF, HEIC, JPEG 2000 and JPEG XL have them: boxes changed, sizes right."""

import struct
from collections.abc import Callable

from parts.choices import Choices

_CONTAINERS = {
    b"meta": 4, b"iprp": 0, b"ipco": 0, b"jp2h": 0, b"moov": 0, b"trak": 0, b"mdia": 0, b"minf": 0,
    b"stbl": 0,
}  # fmt: skip
"""Boxes that hold boxes, and the bytes before these."""

_CHANGED = 30
"""Boxes of a list that may be changed: hundreds of repeated ones would take most of the time."""

Change = Callable[[bytes], bytes]


def changed(choices: Choices, data: bytes, streams: dict[bytes, Change] | None = None) -> bytes:
    """Change the boxes of a file: their contents, sizes, kinds and order.

    Parameters
    ----------
    choices : Choices
    data : bytes
        Boxes one after the other.
    streams : dict of bytes to callable
        What changes the contents of a kind of box, in place of any damage.
    """
    parts = []
    place = 0
    while place + 8 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, place)
        end = place + size if 8 <= size <= len(data) - place else len(data)
        parts.append((kind, data[place + 8 : end]))
        place = end
    found = choices.shuffled(parts)
    heads = [_changed(choices, *part, streams or {}) for part in found[:_CHANGED]]
    rest = [struct.pack(">I4s", len(same) + 8, kind) + same for kind, same in found[_CHANGED:]]
    return b"".join(heads + rest)


def _changed(choices: Choices, kind: bytes, inside: bytes, streams: dict[bytes, Change]) -> bytes:
    if kind in streams:
        inside = streams[kind](inside)
    elif kind in _CONTAINERS:
        before = _CONTAINERS[kind]
        inside = choices.broken(inside[:before]) + changed(choices, inside[before:], streams)
    elif choices.odd():
        inside = _numbers(choices, inside) if choices.once_in(2) else choices.damage(inside)
    kind = choices.either(kind, b"free", b"mdat", b"meta", b"ispe", b"jp2c", b"colr", b"\0\0\0\0")
    size = len(inside) + 8
    if choices.once_in(20) and choices.odd():
        return struct.pack(">I4sQ", 1, kind, choices.number(size + 8, 64)) + inside
    if choices.once_in(4):
        size = choices.number(size)
    return struct.pack(">I4s", size % (1 << 32), kind) + inside


def _numbers(choices: Choices, inside: bytes) -> bytes:
    """Replace one of the 32-bit or 16-bit numbers of a box."""
    size = choices.choice((2, 4))
    if len(inside) < size:
        return inside
    place = choices.randrange(len(inside) - size + 1)
    right = int.from_bytes(inside[place : place + size], "big")
    wrong = choices.choice((0, 1, right + 1, right * 2, 65535, 1 << 30, choices.getrandbits(32)))
    return inside[:place] + (wrong % (1 << 8 * size)).to_bytes(size, "big") + inside[place + size :]
