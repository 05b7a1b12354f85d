"""Sizes of compressed frames, found as the libraries that decode them find them; numbers of scans.

A frame inside another file has a size of its own, which its decoder allocates.
"""

import re
import struct
from typing import NamedTuple

_MARKER = re.compile(rb"\xff([^\x00\xff])", re.DOTALL)
_FRAME_HEADERS = frozenset({*range(0xC0, 0xD0), 0xF7} - {0xC4, 0xC8, 0xCC})  # 0xF7: JPEG-LS
_KINDS = {
    0xC3: "lossless JPEG",
    0xF7: "JPEG-LS",
    **dict.fromkeys((0xC5, 0xC6, 0xC7, 0xCD, 0xCE, 0xCF), "hierarchical JPEG"),
    **dict.fromkeys((0xCB,), "lossless JPEG with arithmetic coding"),
}
"""Kinds of JPEG that Pillow does not read, by their frame header."""
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})
_SEGMENT = re.compile(rb"\xff([^\x00\xff\x01\xd0-\xd8])", re.DOTALL)
_SCAN, _END = 0xDA, 0xD9
_GIF_EXTENSION, _GIF_FRAME = 0x21, 0x2C
_WEBP_SIDE = 0x3FFF
_ENDS = {0xD8: "SOI", 0xD9: "EOI", 0xDA: "SOS"}

MAX_SCANS = 256
"""Most scans of a JPEG stream. Progressive streams of the usual encoders have about ten."""
JPEG_START = b"\xff\xd8"
JPEG2000_START = b"\xff\x4f\xff\x51"


class JpegFrame(NamedTuple):
    """The frame header of a JPEG stream: its marker, bits a sample, width and height in pixels."""

    marker: int
    bits: int
    width: int
    height: int

    @property
    def unsupported(self) -> str:
        """What is not supported of the stream, for a message; empty if nothing is."""
        kind = _KINDS.get(self.marker, "")
        if not kind and self.bits != 8:
            kind = f"samples of {self.bits} bits"
        return kind


def jpeg_frame(data: bytes) -> JpegFrame:
    """Read the frame header of a JPEG or JPEG-LS stream.

    Skips fill bytes and foreign bytes before a marker as libjpeg does.

    Raises
    ------
    ValueError
        If no frame header comes before the first scan.
    """
    if not data.startswith(JPEG_START):
        raise ValueError("JPEG does not begin with the marker SOI")
    place = len(JPEG_START)
    while found := _MARKER.search(data, place):
        marker, place = found[1][0], found.end()
        if marker in _WITHOUT_LENGTH:
            continue
        if marker in _ENDS:
            raise ValueError(f"JPEG has the marker {_ENDS[marker]} before its frame header")
        contents = data[place : place + 7]
        if len(contents) < 7:
            break
        size, bits, height, width = struct.unpack(">HBHH", contents)
        if marker in _FRAME_HEADERS:
            return JpegFrame(marker, bits, width, height)
        place += max(size, 2)
    raise ValueError("JPEG ends before its frame header")


def check_jpeg_scans(data: bytes) -> None:
    """Check that a JPEG stream has at most ``MAX_SCANS`` scans.

    A scan of a few bytes costs its decoder a pass over the whole picture.

    Raises
    ------
    ValueError
        If it has more.
    """
    scans, place = 0, len(JPEG_START)
    while found := _SEGMENT.search(data, place):
        marker, place = found[1][0], found.end()
        if marker == _END:
            break
        scans += marker == _SCAN
        if scans > MAX_SCANS:
            raise ValueError(f"JPEG has more than {MAX_SCANS} scans")
        place += max(int.from_bytes(data[place : place + 2], "big"), 2)


def jpeg2000_size(data: bytes) -> tuple[int, int]:
    """Return the width and height of a JPEG 2000 codestream, from its segment SIZ.

    Raises
    ------
    ValueError
        If the stream does not begin with this segment, or is boxed as a JP2 file.
    """
    head = data[8:24]
    if not data.startswith(JPEG2000_START) or len(head) < 16:
        raise ValueError("JPEG 2000 does not begin with the markers SOC and SIZ")
    right, bottom, left, top = struct.unpack(">4I", head)
    return right - left, bottom - top


def packbits_size(data: bytes, most: int) -> int:
    """Return the size of unpacked PackBits data, in bytes; the count stops above ``most``.

    Source: DICOM PS3.5, annex G.3.1.
    """
    place = size = 0
    while place < len(data) and size <= most:
        length = data[place] + 1
        if length < 129:
            size += min(length, len(data) - place - 1)
            place += 1 + length
        else:
            size += 258 - length if length > 129 and place + 1 < len(data) else 0
            place += 2 if length > 129 else 1
    return size


def gif_size(data: bytes) -> tuple[int, int]:
    """Return the width and height of the canvas of a GIF file, which its first frame may enlarge.

    Raises
    ------
    ValueError
        If the file has no frame.
    """
    width, height, flags = struct.unpack_from("<HHB", data.ljust(11, b"\0"), 6)
    place = 13 + (3 << (flags & 7) + 1 if flags & 128 else 0)
    while place < len(data) and data[place] == _GIF_EXTENSION:
        place += 2
        while place < len(data) and data[place]:
            place += 1 + data[place]
        place += 1
    if len(data) < place + 9 or data[place] != _GIF_FRAME:
        raise ValueError("GIF has no frame")
    left, top, columns, rows = struct.unpack_from("<4H", data, place + 1)
    return max(width, left + columns), max(height, top + rows)


def webp_size(data: bytes) -> tuple[int, int]:
    """Return the width and height of a WebP file, from its first chunk.

    Raises
    ------
    ValueError
        If the chunk is none of those that begin a file.
    """
    kind, head = data[12:16], data[20:30].ljust(10, b"\0")
    if kind == b"VP8X":
        width, height = (
            struct.unpack("<I", head[4:7] + b"\0"),
            struct.unpack("<I", head[7:] + b"\0"),
        )
        return width[0] + 1, height[0] + 1
    if kind == b"VP8 ":
        across, down = struct.unpack_from("<HH", head, 6)
        return across & _WEBP_SIDE, down & _WEBP_SIDE
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", head, 1)
        return (bits & _WEBP_SIDE) + 1, (bits >> 14 & _WEBP_SIDE) + 1
    raise ValueError(f"WebP begins with the chunk {kind!r}")
