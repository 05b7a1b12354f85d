"""JPEG 2000 files and codestreams of Pillow, whose boxes and segments are changed."""

import functools
import io
import struct

import numpy as np
from parts import boxes
from parts.choices import Choices
from PIL import Image, features

_SIZ, _START_OF_DATA = 0x51, 0x93
_MARKERS = (0x52, 0x53, 0x5C, 0x5D, 0x5E, 0x5F, 0x55, 0x57, 0x58, 0x60, 0x61, 0x64, 0x90, 0x93)


@functools.cache
def codestream(height: int, width: int, planes: int, deep: bool = False) -> bytes:
    """Encode a small picture; nothing where Pillow cannot."""
    if not features.check("jpg_2000"):
        return b""
    shape = (height, width, planes) if planes > 1 else (height, width)
    kind, most = (np.uint16, 65536) if deep else (np.uint8, 256)
    samples = np.random.default_rng(1).integers(0, most, shape).astype(kind)
    stream = io.BytesIO()
    Image.fromarray(samples).save(stream, "JPEG2000", no_jp2=True, irreversible=False)
    return stream.getvalue()


def changed(choices: Choices, data: bytes) -> bytes:
    """Change the segments of a codestream, the sizes most of all."""
    if not choices.odd():
        return data
    parts = [data[:2]]
    place = 2
    while place + 4 <= len(data) and data[place + 1] != _START_OF_DATA:
        marker = data[place + 1]
        size = int.from_bytes(data[place + 2 : place + 4], "big")
        inside = data[place + 4 : place + 2 + size]
        inside = _sizes(choices, inside) if marker == _SIZ else choices.broken(inside)
        marker = choices.either(marker, *_MARKERS)
        size = choices.number(len(inside) + 2, 16) if choices.once_in(4) else len(inside) + 2
        parts.append(bytes([0xFF, marker]) + struct.pack(">H", size % 65536) + inside)
        place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    return b"".join([parts[0], *choices.shuffled(parts[1:]), choices.broken(data[place:])])


def _sizes(choices: Choices, inside: bytes) -> bytes:
    """Change sizes and offsets of the picture and its tiles, and the planes."""
    fields = [choices.number(field) for field in struct.unpack_from(">8I", inside, 2)]
    planes = choices.number(struct.unpack_from(">H", inside, 34)[0], 16)
    return inside[:2] + struct.pack(">8IH", *fields, planes) + choices.broken(inside[36:])


@functools.cache
def _boxed(data: bytes, height: int, width: int, planes: int) -> bytes:
    """Put a codestream into the boxes of JP2."""

    def box(kind: bytes, inside: bytes) -> bytes:
        return struct.pack(">I4s", len(inside) + 8, kind) + inside

    header = box(b"ihdr", struct.pack(">IIHBBBB", height, width, planes, 7, 7, 0, 0))
    colour = box(b"colr", struct.pack(">BBBI", 1, 0, 0, 16 if planes > 2 else 17))
    return b"".join(
        [
            box(b"jP  ", b"\r\n\x87\n"),
            box(b"ftyp", b"jp2 \0\0\0\0jp2 "),
            box(b"jp2h", header + colour),
            box(b"jp2c", data),
        ]
    )


def make(choices: Choices) -> bytes:
    """Make a file."""
    height, width = choices.choice((1, 16, 40)), choices.choice((1, 16, 70))
    deep = choices.once_in(6)
    planes = 1 if deep else choices.choice((1, 3, 4))
    data = codestream(height, width, planes, deep)
    if choices.once_in(3):
        return changed(choices, data)
    boxed = _boxed(data, height, width, planes)
    return boxes.changed(choices, boxed, {b"jp2c": lambda inside: changed(choices, inside)})
