"""WebP files: small files of Pillow, whose chunks are changed, repeated and moved, sizes right."""

import functools
import io
import struct
from typing import Any

import numpy as np
from parts import exif
from parts.choices import Choices
from PIL import Image, features


@functools.cache
def _valid(height: int, width: int, planes: int, lossless: bool, frames: int) -> bytes:
    if not features.check("webp"):
        return b""
    random = np.random.default_rng(height)
    first, *more = (
        Image.fromarray(random.integers(0, 256, (height, width, planes), np.uint8))
        for _ in range(frames)
    )
    stream = io.BytesIO()
    options: dict[str, Any] = {"save_all": True, "append_images": more} if more else {}
    first.save(stream, "WEBP", lossless=lossless, quality=50, method=0, **options)
    return stream.getvalue()


def make(choices: Choices) -> bytes:
    """Make a file."""
    sides = choices.choice((1, 16, 33)), choices.choice((1, 16, 60))
    data = _valid(*sides, choices.choice((3, 4)), choices.once_in(2), choices.choice((1, 1, 3)))
    parts = [(kind, contents) for kind, contents in _chunks(data)]
    if choices.once_in(3):
        kind = choices.choice((b"EXIF", b"XMP ", b"ICCP", b"ALPH", b"VP8X"))
        contents = exif.structure(choices) if kind == b"EXIF" else choices.content(10)
        parts.insert(choices.choice((0, len(parts))), (kind, contents))
    body = b"".join(_joined(choices, *part) for part in choices.shuffled(parts))
    return b"RIFF" + struct.pack("<I", choices.number(len(body) + 4)) + b"WEBP" + body


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found = []
    place = 12
    while place + 8 <= len(data):
        kind, size = struct.unpack_from("<4sI", data, place)
        found.append((kind, data[place + 8 : place + 8 + size]))
        place += 8 + size + size % 2
    return found


def _joined(choices: Choices, kind: bytes, contents: bytes) -> bytes:
    if kind in (b"VP8 ", b"VP8L", b"VP8X", b"ANMF") and choices.odd():
        place = choices.randrange(min(16, len(contents)))  # where the sizes are
        contents = contents[:place] + bytes([choices.getrandbits(8)]) + contents[place + 1 :]
    contents = choices.broken(contents)
    kind = choices.either(kind, b"VP8 ", b"VP8L", b"VP8X", b"ANIM", b"ANMF", b"ALPH", b"abcd")
    size = choices.number(len(contents)) if choices.once_in(4) else len(contents)
    return kind + struct.pack("<I", size) + contents + bytes(len(contents) % 2)
