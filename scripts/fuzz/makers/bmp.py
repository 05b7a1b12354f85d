"""BMP files: every header, depth and compression, palettes, sizes that disagree."""

import struct

from parts.choices import Choices

_RGB, _RLE8, _RLE4, _FIELDS, _ALPHA_FIELDS = 0, 1, 2, 3, 6
_HEADERS = (12, 40, 52, 56, 64, 108, 124)


def make(choices: Choices) -> bytes:
    """Make a file."""
    height, width = choices.side(), choices.side()
    bits = choices.choice((1, 4, 8, 16, 24, 32))
    compression = _RGB
    if bits in (4, 8) and choices.once_in(3):
        compression = _RLE8 if bits == 8 else _RLE4
    elif bits in (16, 32) and choices.once_in(2):
        compression = choices.choice((_FIELDS, _ALPHA_FIELDS))
    colours = 1 << bits if bits <= 8 else 0
    header = choices.either(choices.choice((40, 40, *_HEADERS)), 16, 41, 240)
    contents = _contents(choices, compression, height, width, bits)
    info = _header(choices, header, height, width, bits, compression, colours, len(contents))
    masks = b""
    if compression in (_FIELDS, _ALPHA_FIELDS) and header == 40:
        masks = struct.pack("<4I", *(choices.number(255 << shift) for shift in (16, 8, 0, 24)))
    palette = choices.broken(choices.content(colours * (3 if header == 12 else 4)))
    start = 14 + len(info) + len(masks) + len(palette)
    size = start + len(contents)
    head = b"BM" + struct.pack("<IHHI", choices.number(size), 0, 0, choices.number(start))
    return choices.broken(head + info + masks + palette) + choices.broken(contents)


def _header(
    choices: Choices,
    size: int,
    height: int,
    width: int,
    bits: int,
    compression: int,
    colours: int,
    contents: int,
) -> bytes:
    stated = struct.pack("<I", choices.number(size))
    planes_bits = choices.number(1, 16), choices.number(bits, 16)
    if size == 12:
        sides = choices.number(width, 16), choices.number(height, 16)
        return stated + struct.pack("<HHHH", *sides, *planes_bits)
    tall = -height if choices.once_in(4) else height
    info = stated + struct.pack(
        "<IIHHIIIIII",
        choices.number(width),
        choices.number(tall % (1 << 32)),
        *planes_bits,
        choices.number(compression),
        choices.number(contents),
        choices.number(2835),
        choices.number(2835),
        choices.number(colours),
        choices.number(0),
    )
    masks = struct.pack("<4I", *(choices.number(255 << shift) for shift in (16, 8, 0, 24)))
    return (info + masks + choices.content(80))[:size]


def _contents(choices: Choices, compression: int, height: int, width: int, bits: int) -> bytes:
    row = -(-width * bits // 32) * 4
    if compression not in (_RLE8, _RLE4):
        return choices.content(row * height)
    runs = []
    for _ in range(height):
        left = width
        while left > 0:
            length = min(left, choices.randint(1, 255))
            if choices.odd():
                runs.append(bytes([0, choices.choice((0, 1, 2, 3, 5, 255)), *choices.randbytes(6)]))
            runs.append(bytes([length, choices.getrandbits(8)]))
            left -= length
        runs.append(b"\0\0")
    return b"".join([*choices.shuffled(runs), b"\0\1"])
