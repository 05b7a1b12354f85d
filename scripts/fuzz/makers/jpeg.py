"""JPEG files: small files of Pillow, whose segments are changed, repeated, moved and added."""

import functools
import io
import struct

import numpy as np
from parts import exif
from parts.choices import Choices
from PIL import Image

_MODES = ("L", "L", "RGB", "RGB", "YCbCr", "CMYK")
_FRAMES = (*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), 0xF7)
_SOI, _EOI, _SOS, _DQT, _DHT, _DRI, _COM, _APP = 0xD8, 0xD9, 0xDA, 0xDB, 0xC4, 0xDD, 0xFE, 0xE0

Segment = tuple[int, bytes, bytes]
"""Marker, contents behind the length, and the coded data that follow."""


@functools.cache
def valid(mode: str, height: int, width: int, progressive: bool, subsampling: int) -> bytes:
    """Encode a small picture of noise and a ramp."""
    rows = np.arange(height)[:, None, None] * 3 + np.arange(width)[:, None] * 5
    noise = np.random.default_rng(height).integers(
        0, 40, (height, width, len(mode) if mode != "YCbCr" else 3)
    )
    samples = (rows + noise).astype(np.uint8)
    image = Image.fromarray(
        samples[..., 0] if mode == "L" else samples, mode if mode in ("CMYK", "YCbCr") else None
    )
    stream = io.BytesIO()
    options = {} if mode == "L" else {"subsampling": subsampling}
    image.save(stream, "JPEG", quality=60, progressive=progressive, **options)
    return stream.getvalue()


def any_valid(choices: Choices, height: int, width: int, mode: str | None = None) -> bytes:
    """Return a valid file of this size, for which few sizes are made."""
    mode = mode or choices.choice(_MODES)
    return valid(mode, height, width, choices.once_in(3), choices.choice((0, 1, 2)))


@functools.lru_cache(4096)
def segments(data: bytes) -> tuple[Segment, ...]:
    """Split a valid file into segments."""
    found = []
    place = 2
    while place < len(data):
        marker = data[place + 1]
        if marker == _EOI:
            break
        size = int.from_bytes(data[place + 2 : place + 4], "big")
        contents = data[place + 4 : place + 2 + size]
        place += 2 + size
        end = place
        while marker == _SOS and not (
            data[end] == 0xFF and data[end + 1] != 0 and not 0xD0 <= data[end + 1] <= 0xD7
        ):
            end += 1
        found.append((marker, contents, data[place:end]))
        place = end
    return tuple(found)


def joined(choices: Choices | None, parts: list[Segment]) -> bytes:
    """Join segments to a file; lengths may be broken, and fill bytes precede some markers."""
    found = [b"\xff\xd8"]
    for marker, contents, coded in parts:
        size = len(contents) + 2
        if choices and choices.once_in(4):
            size = choices.number(size, 16)
            marker = choices.either(marker, *_FRAMES, _SOS, _EOI, _SOI, _DQT, _DHT, 0xD0, 0x01)
            found.append(choices.either(b"", b"\xff", b"\xff" * 40, b"\0", b"junk"))
        found.append(bytes([0xFF, marker]) + struct.pack(">H", size % 65536) + contents + coded)
    found.append(b"\xff\xd9" if not choices else choices.either(b"\xff\xd9", b"", b"\xff\xd9" * 2))
    return b"".join(found)


def changed(choices: Choices, data: bytes) -> bytes:
    """Change the segments of a valid file."""
    parts = [_changed(choices, *segment) for segment in segments(data)]
    scans = [part for part in parts if part[0] == _SOS]
    if scans and choices.once_in(8) and choices.odd():
        parts += [choices.choice(scans)] * choices.choice((1, 20, 300))
    for added in (_application, _restarts):
        if choices.once_in(3):
            parts.insert(choices.randint(0, min(2, len(parts))), added(choices))
    return joined(choices, choices.shuffled(parts))


def _changed(choices: Choices, marker: int, contents: bytes, coded: bytes) -> Segment:
    if marker in _FRAMES:
        depth, height, width, count = struct.unpack_from(">BHHB", contents)
        head = struct.pack(
            ">BHHB",
            choices.number(depth, 8),
            choices.number(height, 16),
            choices.number(width, 16),
            choices.number(count, 8),
        )
        contents = head + choices.broken(contents[6:])
    return marker, choices.broken(contents), choices.broken(coded)


def _application(choices: Choices) -> Segment:
    """Make a segment of metadata."""
    numbers = struct.pack(">BHHBB", choices.number(1, 8), choices.number(72, 16), 72, 0, 0)
    count = choices.number(2, 8)
    contents = {
        _APP: b"JFIF\0\1\1" + numbers,
        _APP + 1: choices.choice(
            (
                b"Exif\0\0" + exif.structure(choices)[:65000],
                b"http://ns.adobe.com/xap/1.0/\0" + choices.content(40),
            )
        ),
        _APP + 2: choices.choice(
            (
                b"ICC_PROFILE\0" + bytes([choices.number(1, 8), count]) + choices.content(200),
                b"MPF\0" + exif.structure(choices)[:65000],
            )
        ),
        _APP + 13: b"Photoshop 3.0\x008BIM\x03\xed\0\0"
        + struct.pack(">I", choices.number(16))
        + choices.content(16),
        _APP + 14: b"Adobe\0" + struct.pack(">HHHB", 100, 0, 0, choices.number(1, 8)),
        _COM: choices.content(choices.choice((0, 10, 1000))),
    }
    marker = choices.choice(tuple(contents))
    return marker, choices.broken(contents[marker]), b""


def _restarts(choices: Choices) -> Segment:
    return _DRI, struct.pack(">H", choices.choice((0, 1, 2, 65535))), b""


def with_application(number: int, contents: bytes) -> bytes:
    """Make a small picture with a segment of metadata."""
    parts = list(segments(valid("L", 8, 8, False, 0)))
    return joined(None, [(_APP + number, contents, b""), *parts])


def make(choices: Choices) -> bytes:
    """Make a file."""
    size = choices.choice((1, 8, 17, 40)), choices.choice((1, 8, 17, 64))
    return changed(choices, any_valid(choices, *size))
