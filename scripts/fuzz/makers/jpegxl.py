"""JPEG XL files of imagecodecs, bare and in boxes, whose bytes are changed."""

import functools
import struct

import numpy as np
from parts import boxes, exif
from parts.choices import Choices


@functools.cache
def _valid(height: int, width: int, planes: int, deep: bool) -> bytes:
    try:
        import imagecodecs
    except ImportError:
        return b"\xff\x0a"
    shape = (height, width, planes) if planes > 1 else (height, width)
    kind, most = (np.uint16, 65536) if deep else (np.uint8, 256)
    samples = np.random.default_rng(1).integers(0, most, shape).astype(kind)
    return bytes(imagecodecs.jpegxl_encode(samples, effort=1, usecontainer=False))


def make(choices: Choices) -> bytes:
    """Make a file."""
    sides = choices.choice((1, 8, 40)), choices.choice((1, 16, 70))
    bare = _valid(*sides, choices.choice((1, 2, 3, 4)), choices.once_in(3))
    if choices.odd():  # the sizes are in the first bytes
        place = choices.randint(2, min(12, len(bare)))
        bare = bare[:place] + choices.randbytes(1) + bare[place + 1 :]
    if choices.once_in(2):
        return choices.broken(bare)

    def box(kind: bytes, inside: bytes) -> bytes:
        return struct.pack(">I4s", len(inside) + 8, kind) + inside

    parts = [box(b"JXL ", b"\r\n\x87\n"), box(b"ftyp", b"jxl \0\0\0\0jxl ")]
    if choices.once_in(2):
        parts.append(box(b"Exif", bytes(4) + exif.structure(choices)))
    if choices.once_in(3):
        half = len(bare) // 2
        parts += [box(b"jxlp", bytes(4) + bare[:half]), box(b"jxlp", b"\x80\0\0\1" + bare[half:])]
    else:
        parts.append(box(b"jxlc", bare))
    return boxes.changed(choices, b"".join(parts))
