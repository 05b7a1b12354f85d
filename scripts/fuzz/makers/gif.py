"""GIF files: screens and frames of other sizes, palettes, extensions, LZW data that disagree."""

import struct

from parts.choices import Choices

_FRAME, _EXTENSION, _END = b"\x2c", b"\x21", b"\x3b"


def make(choices: Choices) -> bytes:
    """Make a file."""
    height, width = choices.side(), choices.side()
    bits = choices.randint(1, 8)
    shared = choices.once_in(2)
    flags = (shared << 7 | 7 << 4 | bits - 1) if shared else 0
    screen = struct.pack(
        "<HHBBB",
        choices.number(width, 16),
        choices.number(height, 16),
        choices.number(flags, 8),
        choices.number(0, 8),
        0,
    )
    parts = []
    for _ in range(choices.choice((1, 1, 1, 2, 3))):
        parts += [_extension(choices) for _ in range(choices.choice((0, 0, 1, 2)))]
        parts.append(_frame(choices, height, width, bits, own=not shared))
    head = choices.either(b"GIF89a", b"GIF87a") + screen
    palette = choices.broken(choices.content(3 << bits)) if shared else b""
    end = choices.either(_END, b"", _END * 2)
    return head + palette + b"".join(choices.shuffled(parts)) + end


def _frame(choices: Choices, height: int, width: int, bits: int, own: bool) -> bytes:
    rows, columns = choices.randint(1, height), choices.randint(1, width)
    places = (choices.randint(0, width - columns), choices.randint(0, height - rows))
    flags = own << 7 | choices.once_in(4) << 6 | bits - 1 if own else choices.once_in(4) << 6
    head = _FRAME + struct.pack(
        "<HHHHB",
        *(choices.number(field, 16) for field in (*places, columns, rows)),
        choices.number(flags, 8),
    )
    palette = choices.broken(choices.content(3 << bits)) if own else b""
    least = max(2, bits)
    count = choices.either(rows * columns, 0, rows * columns * 2, 20_000)
    coded = _lzw(choices, [value % (1 << bits) for value in choices.content(count)], least)
    return head + palette + bytes([choices.number(least, 8)]) + _blocks(choices, coded)


def _lzw(choices: Choices, values: list[int], least: int) -> bytes:
    """Code values by numbers of one size, with a clear code before they would grow."""
    clear, wide = 1 << least, least + 1
    codes = [clear]
    for number, value in enumerate(values):
        if number and number % ((1 << least) - 2) == 0:
            codes.append(clear)
        codes.append(value)
    for _ in range(3):
        if choices.odd():
            codes.insert(choices.randint(0, len(codes)), choices.randrange(1 << wide))
    codes.append(clear + 1)
    bits = "".join(f"{code:0{wide}b}" for code in reversed(codes))
    return int(bits, 2).to_bytes(len(codes) * wide // 8 + 1, "little")


def _blocks(choices: Choices, data: bytes) -> bytes:
    """Cut data into blocks of at most 255 bytes, with a last one of 0."""
    parts = []
    for start in range(0, len(data), 255):
        part = choices.broken(data[start : start + 255])[:255]
        size = choices.number(len(part), 8) if choices.once_in(8) else len(part)
        parts.append(bytes([size]) + part)
    return b"".join([*parts, choices.either(b"\0", b"")])


def _extension(choices: Choices) -> bytes:
    control = struct.pack("<BHB", choices.getrandbits(5), choices.number(10, 16), 0)
    kinds = (
        (0xF9, control),
        (0xFE, b"a comment"),
        (0xFF, b"NETSCAPE2.0"),
        (0xFF, b"XMP DataXMP"),
        (0xFF, b"ICCRGBG1012"),
        (0x01, bytes(12)),
    )
    label, contents = choices.choice(kinds)
    more = _blocks(choices, choices.content(choices.choice((3, 100, 600))))
    head = bytes([len(contents)]) + choices.broken(contents)
    return _EXTENSION + bytes([choices.number(label, 8)]) + head + (more if label == 255 else b"\0")
