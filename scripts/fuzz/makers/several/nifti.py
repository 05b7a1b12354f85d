"""NIfTI files: headers of both versions whose sizes, types, scales and places disagree."""

import gzip
import struct

from parts.choices import Choices

_TYPES = {2: 1, 4: 2, 8: 4, 16: 4, 64: 8, 128: 3, 256: 1, 512: 2, 768: 4, 1024: 8, 2304: 4}
"""Bytes of a sample, by the code of its type."""
_USUAL = (2, 2, 4, 128, 256, 512)
"""Types whose samples fit whatever they are."""
_ODD_TYPES = (0, 1, 32, 1536, 1792, 2048, 77, -1)
_SCALES = (0.0, 1.0, 2.0, -1.0, 0.1, 1e-30, 1e38, float("nan"), float("inf"))


def make(choices: Choices) -> bytes:
    """Make a file."""
    order = choices.choice("<<>")
    kind = choices.choice(tuple(_TYPES)) if choices.once_in(6) else choices.choice(_USUAL)
    count = choices.choice((2, 2, 3, 3, 4))
    more = [choices.choice((1, 1, 1, 1, 4)), choices.choice((1, 1, 1, 2))]
    sides = [choices.side(), choices.side(), *more][:count]
    dims = [choices.number(count, 8), *(choices.number(side, 14) for side in sides)]
    dims += [1] * (8 - len(dims))
    size = _TYPES[kind]
    for side in sides:
        size *= side
    second = choices.once_in(3)
    form = _second if second else _first
    head = form(choices, order, kind, dims)
    extension = b"\0\0\0\0"
    if choices.once_in(4):
        body = choices.content(8)
        extension = b"\1\0\0\0" + struct.pack(order + "ii", choices.number(16, 31), 6) + body
    data = choices.broken(head) + extension
    data += choices.broken(choices.content(min(size, 1 << 20)))
    if choices.once_in(4):
        data = choices.broken(gzip.compress(data, 1))
    return data


def _scales(choices: Choices) -> tuple[float, float, float, float]:
    """Return slope, intercept, and the largest and the least shown value."""
    slope, shift, most, least = (
        choices.either(right, *_SCALES)
        for right in (choices.choice((0.0, 1.0, 2.0)), 0.0, 0.0, 0.0)
    )
    return slope, shift, most, least


def _affine(choices: Choices) -> list[float]:
    rows = [0.9, 0.0, 0.0, -5.0, 0.0, 0.8, 0.0, 3.0, 0.0, 0.0, 2.5, 7.0]
    return [choices.either(each, *_SCALES) for each in rows]


def _first(choices: Choices, order: str, kind: int, dims: list[int]) -> bytes:
    """Return a header of version 1."""
    slope, shift, most, least = _scales(choices)
    code = choices.either(kind, *_ODD_TYPES)
    pixdim = [1.0, *(choices.either(0.8, *_SCALES) for _ in range(7))]
    head = struct.pack(order + "i", choices.either(348, 0, 540, 1 << 24)) + bytes(36)
    head += struct.pack(order + "8h", *(min(each, 32767) for each in dims)) + bytes(14)
    head += struct.pack(order + "hhh", code, choices.number(8 * _TYPES[kind], 15), 0)
    head += struct.pack(order + "8f", *pixdim)
    place = choices.either(352.0, 0.0, 348.0, 368.0, -1.0, 1e30, float("nan"))
    head += struct.pack(order + "fff", place, slope, shift)
    head += bytes(3) + bytes([choices.choice((0, 2, 10, 255))])
    head += struct.pack(order + "ffff", most, least, 0, 0) + bytes(8)
    head += choices.content(80) + bytes(24)
    head += struct.pack(order + "hh", choices.choice((0, 1, 5)), choices.choice((0, 1, 9)))
    quaternion = [choices.either(0.0, *_SCALES) for _ in range(6)]
    head += struct.pack(order + "6f12f", *quaternion, *_affine(choices)) + bytes(16)
    return head[:344].ljust(344, b"\0") + choices.either(b"n+1\0", b"ni1\0", b"n+2\0", b"\0" * 4)


def _second(choices: Choices, order: str, kind: int, dims: list[int]) -> bytes:
    """Return a header of version 2."""
    slope, shift, most, least = _scales(choices)
    head = struct.pack(order + "i", choices.either(540, 0, 348)) + b"n+2\0\r\n\x1a\n"
    head += struct.pack(order + "hh", choices.either(kind, *_ODD_TYPES), 8 * _TYPES[kind])
    head += struct.pack(order + "8q", *(choices.either(each, -1, 1 << 60) for each in dims))
    head += bytes(24)
    head += struct.pack(order + "8d", 1.0, *(choices.either(0.8, *_SCALES) for _ in range(7)))
    place = choices.either(544, 0, -1, 540, 1 << 62)
    head += struct.pack(order + "qdddddd", place, slope, shift, most, least, 0, 0)
    head += bytes(16) + choices.content(80) + bytes(24)
    head += struct.pack(order + "ii", choices.choice((0, 1, 5)), choices.choice((0, 1, 9)))
    quaternion = [choices.either(0.0, *_SCALES) for _ in range(6)]
    head += struct.pack(order + "6d12d", *quaternion, *_affine(choices))
    return head.ljust(540, b"\0")[:540]
