"""TIFF files: strips and tiles that overlap, cyclic directories, every compression and depth."""

import struct
from collections.abc import Callable

from parts.choices import Choices
from parts.directories import (
    BYTE,
    LONG,
    LONG8,
    RATIONAL,
    SHORT,
    UNDEFINED,
    Entry,
    Structure,
)

from makers import dicom, jpeg

_NONE, _CCITT, _LZW, _JPEG, _DEFLATE, _PACKBITS, _ZSTD = 1, 4, 5, 7, 8, 32773, 50000
_COMPRESSIONS = (1, 1, 2, 3, 4, 5, 7, 8, 8, 32946, 32773, 50000)
_ODD_COMPRESSIONS = (0, 6, 34712, 33003, 34925, 50001, 34887, 32809, 65000)
_TEXTS = (
    b"ImageJ=1.53\nimages=2\nslices=2\n",
    b"ImageJ=1.53\nimages=100000000\n",
    b"ImageJ=\nimages=x",
    b'{"shape": [2, 40000, 40000]}',
    b'<?xml version="1.0"?><OME xmlns="x"><Image><Pixels SizeX="9"/></Image></OME>',
    b"Aperio Image Library\nx|y = 1",
    b"state.configPath = ''\n",
    b"a description",
)
_VENDOR_TAGS = (33628, 33629, 34118, 34361, 34412, 34682, 37706, 42112, 43314, 50838, 50839, 51023)


def make(choices: Choices) -> bytes:
    """Make a file."""
    tiff = Structure(choices, choices.choice("<>"), big=choices.once_in(6))
    first = tiff.directory(*_page(choices, tiff))
    if choices.once_in(12) and choices.odd():
        entries, _ = _page(choices, tiff)
        first = tiff.directory(entries, first)
    return tiff.finished(first)


class _Picture:
    """The valid choices of a page."""

    def __init__(self, choices: Choices):
        self.compression = choices.choice(_COMPRESSIONS)
        self.height, self.width = choices.side(), choices.side()
        self.tiled = choices.once_in(3)
        self.photometric = choices.choice((0, 1, 1, 2, 2, 3, 5))
        self.bits = choices.choice((1, 2, 4, 8, 8, 8, 8, 12, 16, 16, choices.randint(1, 16)))
        self.planes = {2: 3, 5: 4}.get(self.photometric, 1)
        self.extra = self.photometric not in (3, 5) and choices.once_in(4)
        if self.compression in (2, 3, 4):
            self.bits, self.planes, self.extra = 1, 1, False
            self.photometric = min(self.photometric, 1)
        if self.compression == _JPEG:
            self.bits, self.extra = 8, False
            self.photometric = choices.choice((1, 2, 6))
            self.planes = 1 if self.photometric == 1 else 3
        self.planes += self.extra
        self.planar = self.planes > 1 and self.compression != _JPEG and choices.once_in(3)
        self.predictor = (
            2
            if self.compression in (_LZW, _DEFLATE) and self.bits in (8, 16) and choices.once_in(3)
            else 1
        )
        rows = choices.randint(1, self.height) if choices.once_in(2) else self.height
        self.segment = (16, 16) if self.tiled else (rows, self.width)

    def segments(self) -> int:
        """Return the number of strips or tiles."""
        rows, columns = self.segment
        count = -(-self.height // rows) * -(-self.width // columns)
        return count * (self.planes if self.planar else 1)

    def segment_bytes(self) -> int:
        """Return the size of a strip or tile before compression."""
        rows, columns = self.segment
        return rows * -(-columns * self.bits * (1 if self.planar else self.planes) // 8)


def _page(choices: Choices, tiff: Structure) -> tuple[list[Entry], int | str]:
    """Make the entries of a page, whose samples are added, and the next directory."""
    made = _Picture(choices)
    places, sizes = _placed(choices, tiff, made)
    offsets = LONG8 if tiff.big else LONG
    at, lengths = (324, 325) if made.tiled else (273, 279)
    entries = [
        tiff.numbers(256, LONG, made.width),
        tiff.numbers(257, LONG, made.height),
        tiff.numbers(258, SHORT, *[made.bits] * made.planes),
        tiff.numbers(259, SHORT, choices.either(made.compression, *_ODD_COMPRESSIONS)),
        tiff.numbers(262, SHORT, choices.either(made.photometric, 4, 5, 6, 8, 32803)),
        tiff.numbers(277, SHORT, made.planes),
        tiff.numbers(at, offsets, *places),
        tiff.numbers(lengths, offsets, *sizes),
    ]
    if made.tiled:
        entries += [tiff.numbers(322, LONG, 16), tiff.numbers(323, LONG, 16)]
    else:
        entries.append(tiff.numbers(278, LONG, made.segment[0]))
    if made.planar or choices.odd():
        entries.append(tiff.numbers(284, SHORT, 2 if made.planar else 1))
    if made.extra:
        entries.append(tiff.numbers(338, SHORT, choices.choice((0, 1, 2))))
    if made.predictor != 1:
        entries.append(tiff.numbers(317, SHORT, choices.either(made.predictor, 3, 34892)))
    if made.photometric == 3 or choices.odd():
        levels = choices.content(6 << min(made.bits, 9))
        entries.append(Entry(320, SHORT, len(levels) // 2, choices.broken(levels)))
    if choices.once_in(10):
        entries.append(tiff.numbers(266, SHORT, choices.choice((1, 2))))
    entries += _described(choices, tiff, made)
    following: int | str = 0
    if choices.once_in(4) and choices.odd():
        circle = _circle(choices, tiff)
        targets: tuple[int | str, ...] = (
            "self",
            circle,
            *tiff.places.values(),
            1 << 20,
            (1 << 32) - 1,
        )
        following = choices.choice(targets)
    return entries, following


def _circle(choices: Choices, tiff: Structure) -> int:
    """Add empty directories, each of which leads to the next and the last to the first."""
    count = choices.choice((1, 2, 30, 99, 100, 101, 150))
    size = (8 if tiff.big else 2) + tiff.bits // 8
    start = len(tiff.data)
    for number in range(count):
        tags = bytes(8 if tiff.big else 2)
        tiff.add(tags + tiff.exact(start + (number + 1) % count * size))
    return start


def _placed(choices: Choices, tiff: Structure, made: _Picture) -> tuple[list[int], list[int]]:
    """Add the strips or tiles, and return their offsets and sizes; some overlap."""
    places: list[int] = []
    sizes: list[int] = []
    segment = b""
    shared = choices.once_in(3)
    for number in range(min(made.segments(), 200)):
        if number == 0 or not shared:
            segment = _packed(choices, made)
            place = tiff.add(segment)
        if choices.odd():
            places.append(choices.choice((place + 1, place - 1, 0, *places[:3])))
        else:
            places.append(place)
        sizes.append(len(segment))
    missing = made.segments() - len(places)
    if missing > 0:
        places += places[-1:] * missing
        sizes += sizes[-1:] * missing
    return places, sizes


def _packed(choices: Choices, made: _Picture) -> bytes:
    """Compress a strip or tile."""
    if made.compression == _JPEG:
        rows, columns = (min(side, 64) for side in made.segment)
        mode = "L" if made.planes == 1 else "RGB"
        data = jpeg.valid(mode, rows, columns, False, 0)
        return jpeg.changed(choices, data) if choices.odd() else data
    size = made.segment_bytes()
    if choices.odd():
        size = choices.choice((0, 1, size - 1, size + 1, size * 2, size * 100))
    raw = choices.content(max(0, size))
    packed = _PACKERS.get(made.compression, lambda choices, raw: raw)(choices, raw)
    return choices.broken(packed)


def _lzw(choices: Choices, raw: bytes) -> bytes:
    """Compress bytes by codes of 9 bits, with a clear code before the codes would grow."""
    codes = [256]
    for number, byte in enumerate(raw):
        if number and number % 200 == 0:
            codes.append(256)
        codes.append(choices.either(byte, choices.randrange(512)))
    codes.append(257)
    bits = "".join(f"{code:09b}" for code in codes)
    return int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")


_PACKERS: dict[int, Callable[[Choices, bytes], bytes]] = {
    _LZW: _lzw,
    _DEFLATE: lambda choices, raw: choices.zipped(raw),
    32946: lambda choices, raw: choices.zipped(raw),
    _PACKBITS: lambda choices, raw: dicom.packbits(raw),
    # Zstandard: a frame of one raw block.
    _ZSTD: lambda choices, raw: (
        b"\x28\xb5\x2f\xfd\xa0"
        + struct.pack("<I", choices.number(len(raw)))
        + struct.pack("<I", choices.number(len(raw) % (1 << 17) << 3 | 1, 24))[:3]
        + raw
    ),
    2: lambda choices, raw: choices.content(len(raw) // 2 + 1),
    3: lambda choices, raw: choices.content(len(raw) // 2 + 1),
    _CCITT: lambda choices, raw: choices.content(len(raw) // 2 + 1),
}


def _described(choices: Choices, tiff: Structure, made: _Picture) -> list[Entry]:
    """Make entries of metadata, and of tags that are not needed."""
    found = []
    if choices.once_in(4):
        found.append(tiff.text(choices.choice((269, 270, 305, 270)), choices.choice(_TEXTS)))
    if choices.once_in(6):
        values = struct.pack(f"{tiff.order}II", choices.number(72), choices.number(1))
        found += [Entry(tag, RATIONAL, 1, values) for tag in (282, 283)]
        found.append(tiff.numbers(296, SHORT, choices.choice((1, 2, 3))))
    if choices.once_in(6):
        found.append(Entry(choices.choice((34675, 700)), UNDEFINED, 50, choices.content(50)))
    if choices.once_in(6):
        found.append(tiff.numbers(281, SHORT, *[choices.either(4095, 255, 0)] * made.planes))
    if choices.once_in(6):
        below = tiff.directory([tiff.numbers(36867, SHORT, 1), tiff.text(36868, b"a" * 20)])
        target: bytes | str = "self" if choices.odd() else tiff.pointer(below)
        found.append(Entry(choices.choice((34665, 34853, 40965, 330)), LONG, 1, target))
    if choices.once_in(8):
        found.append(tiff.numbers(339, SHORT, choices.choice((1, 2, 3, 4, 5, 6))))
    if choices.once_in(8) and choices.odd():
        kind = choices.choice((BYTE, UNDEFINED))
        contents = choices.content(choices.choice((4, 60, 600)))
        found.append(Entry(choices.choice(_VENDOR_TAGS), kind, len(contents), contents))
    if choices.odd():
        tags = (254, 255, 32995, 32996, 32997, 32998, 347, 530, 531, 33550, 65420)
        found.append(tiff.numbers(choices.choice(tags), LONG, choices.number(1)))
    return found
