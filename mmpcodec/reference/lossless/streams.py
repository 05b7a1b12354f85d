"""The payload of lossless samples: the streams of all planes, with their sizes.

Source: section "Lossless samples" of ``docs/format/format.md``.
"""

from mmpcodec.errors import CorruptStream, TruncatedStream

SECTION = "Lossless samples"
LONGEST = 9
"""Bytes of the longest number."""


def joined(streams: list[bytes]) -> bytes:
    """Return the payload of the streams of all planes."""
    sizes = bytearray()
    for stream in streams[:-1]:
        size = len(stream)
        while size > 0x7F:
            sizes.append(size & 0x7F | 0x80)
            size >>= 7
        sizes.append(size)
    return b"".join((sizes, *streams))


def parted(payload: bytes, count: int) -> list[bytes]:
    """Return the streams of ``count`` planes, the inverse of ``joined``.

    Raises
    ------
    TruncatedStream
        If the payload ends within a number, or before a stream does.
    CorruptStream
        If a number has more bytes than it needs, or more than nine.
    """
    place, sizes, streams = 0, [], []
    for number in range(count - 1):
        size = index = 0
        byte = 0x80
        while byte >= 0x80 and index < LONGEST:
            if place == len(payload):
                raise TruncatedStream(SECTION, f"payload ends within the size of stream {number}")
            byte = payload[place]
            size |= (byte & 0x7F) << 7 * index
            place, index = place + 1, index + 1
        if byte >= 0x80 or (byte == 0 and index > 1):
            raise CorruptStream(
                SECTION, f"size of stream {number} is not a number in shortest form"
            )
        sizes.append(size)
    for number, size in enumerate(sizes):
        if size > len(payload) - place:
            raise TruncatedStream(
                SECTION,
                f"stream {number} has {size} bytes, the payload has {len(payload) - place} left",
            )
        streams.append(payload[place : place + size])
        place += size
    return [*streams, payload[place:]]
