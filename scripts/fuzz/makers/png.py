"""PNG files: any chunks in any order with right checksums, all kinds of samples, zlib bombs."""

import struct
import zlib

from parts import exif
from parts.choices import Choices

_MAGIC = b"\x89PNG\r\n\x1a\n"
_PLANES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}

Chunk = tuple[bytes, bytes]


def make(choices: Choices) -> bytes:
    """Make a file."""
    height, width = choices.side(), choices.side()
    kind = choices.choice(tuple(_PLANES))
    depth = choices.choice(_DEPTHS[kind])
    interlaced = choices.once_in(6)
    head = struct.pack(
        ">IIBBBBB",
        choices.number(width),
        choices.number(height),
        choices.number(depth, 8),
        choices.number(kind, 8),
        choices.number(0, 8),
        choices.number(0, 8),
        choices.number(interlaced, 8),
    )
    chunks = [(b"IHDR", head)]
    if kind == 3:
        chunks.append((b"PLTE", choices.content(3 * choices.either(1 << depth, 0, 1, 300))))
    for optional in (_described, _shown, _transparent):
        if choices.once_in(3):
            chunks += optional(choices, kind, depth)
    chunks += _samples(choices, height, width * _PLANES[kind] * depth, depth, interlaced)
    if choices.once_in(8):
        chunks += _described(choices, kind, depth)
    chunks.append((b"IEND", b""))
    return joined(choices, choices.shuffled(chunks))


def _samples(choices: Choices, height: int, bits: int, depth: int, interlaced: bool) -> list[Chunk]:
    """Make the chunks IDAT of rows of ``bits`` bits; the rows of Adam7 are only guessed."""
    size = -(-bits // 8)
    if interlaced:
        raw = choices.content(2 * height * size + 64)
    elif choices.once_in(2):
        raw = b"".join(bytes([choices.randrange(5)]) + choices.content(size) for _ in range(height))
    else:
        raw = bytes(height * (size + 1))
    if choices.odd():
        raw = choices.damage(raw)
    packed = choices.zipped(raw)
    cut = choices.randint(0, len(packed)) if choices.once_in(4) else len(packed)
    parts = [packed[:cut], packed[cut:]] if cut < len(packed) else [packed]
    return [(b"IDAT", part) for part in parts]


def _described(choices: Choices, kind: int, depth: int) -> list[Chunk]:
    """Make chunks of metadata."""
    keyword = choices.either(b"Comment", b"", b"XML:com.adobe.xmp", b"k" * 100, b"\xff\x00")
    text = choices.content(choices.choice((0, 10, 1000)))
    found = [
        (b"tEXt", keyword + b"\0" + text),
        (b"zTXt", keyword + b"\0\0" + choices.zipped(text)),
        (b"iTXt", keyword + b"\0\1\0en\0Comment\0" + choices.zipped(b"text")),
        (b"iTXt", keyword + b"\0\0\0\0\0" + choices.broken(b"text")),
        (b"iCCP", b"profile\0\0" + choices.zipped(text)),
        (b"pHYs", struct.pack(">IIB", choices.number(2835), choices.number(2835), 1)),
        (b"eXIf", exif.structure(choices)),
        (b"tIME", choices.broken(bytes(7))),
        (b"gAMA", choices.broken(struct.pack(">I", 45455))),
        (b"cHRM", choices.broken(bytes(32))),
        (b"sRGB", choices.broken(b"\0")),
        (b"hIST", choices.broken(bytes(8))),
        (b"sPLT", choices.broken(b"name\0\x08" + bytes(6))),
    ]
    return [
        (name, choices.broken(contents))
        for name, contents in choices.sample(found, choices.randint(1, 3))
    ]


def _shown(choices: Choices, kind: int, depth: int) -> list[Chunk]:
    """Make chunks about the depth and about animations."""
    if choices.once_in(4):
        count = choices.number(choices.choice((1, 1, 2)))
        control = struct.pack(">II", count, choices.number(0))
        frame = struct.pack(">IIIIIHHBB", 0, *(choices.number(4) for _ in range(4)), 1, 1, 0, 0)
        data = struct.pack(">I", 1) + choices.zipped(bytes(64))
        return [(b"acTL", control), (b"fcTL", frame), (b"fdAT", data)]
    planes = 3 if kind == 3 else _PLANES[kind]
    return [(b"sBIT", bytes(choices.number(min(depth, 5), 8) for _ in range(planes)))]


def _transparent(choices: Choices, kind: int, depth: int) -> list[Chunk]:
    size = {0: 2, 2: 6}.get(kind, 1 << min(depth, 8))
    return [(b"tRNS", choices.broken(choices.content(size)))]


def joined(choices: Choices | None, chunks: list[Chunk]) -> bytes:
    """Join chunks to a file with right checksums; a checksum, size or kind may be broken."""
    parts = [_MAGIC]
    for kind, contents in chunks:
        if choices and choices.once_in(6):
            contents = choices.broken(contents)
            kind = choices.either(kind, b"IDAT", b"IHDR", b"PLTE", b"tRNS", b"CgBI", b"abcd")
        check = zlib.crc32(contents, zlib.crc32(kind))
        size = len(contents)
        if choices and choices.once_in(20):
            check, size = choices.number(check), choices.number(size)
        parts += [struct.pack(">I", size), kind, contents, struct.pack(">I", check)]
    return b"".join(parts)


def with_exif(data: bytes) -> bytes:
    """Make a picture of one pixel with EXIF."""
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        (b"eXIf", data),
        (b"IDAT", zlib.compress(b"\0\x80")),
        (b"IEND", b""),
    ]
    return joined(None, chunks)
