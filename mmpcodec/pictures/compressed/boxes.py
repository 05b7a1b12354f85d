"""Walk through the boxes of ISO media files, of which JP2, JPEG XL, AVIF and HEIC are made."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

_HEAD = struct.Struct(">I4s")
_LARGE = struct.Struct(">Q")


class MediaBox(NamedTuple):
    """A box: its kind, and the offsets of the first byte of its contents and of its end."""

    kind: bytes
    start: int
    end: int


def boxes(data: bytes, start: int = 0, end: int | None = None) -> Iterator[MediaBox]:
    """Yield the boxes between two offsets, without those inside of them.

    Raises
    ------
    ValueError
        If a box has an impossible size or ends after ``end``.
    """
    end = len(data) if end is None else end
    while start + _HEAD.size <= end:
        size, kind = _HEAD.unpack_from(data, start)
        inside = start + _HEAD.size
        if size == 1 and inside + _LARGE.size <= end:
            (size,) = _LARGE.unpack_from(data, inside)
            inside += _LARGE.size
        stop = end if size == 0 else start + size
        if not inside <= stop <= end:
            raise ValueError(f"box of {size} bytes at byte {start}")
        yield MediaBox(kind, inside, stop)
        start = stop


def contents(data: bytes, *kinds: bytes) -> list[bytes]:
    """Return the contents of all outermost boxes of some kinds, in the order of the file."""
    return [data[box.start : box.end] for box in boxes(data) if box.kind in kinds]
